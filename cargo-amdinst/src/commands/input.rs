//! The file a command works on, and which of its code objects.

use std::fs;
use std::path::PathBuf;

use amdinst_core::object::{CodeObject, container};

use super::output::count;
use crate::cli::FileArgs;
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};

/// A file's code objects, after `--target-cpu`.
#[derive(Debug)]
pub struct Input {
    /// Its path, as given.
    pub path: PathBuf,
    /// Those that this version reads, in the order of the file.
    pub objects: Vec<Found>,
    /// The others.
    pub skipped: Vec<Skipped>,
}

/// One code object of a file.
#[derive(Debug)]
pub struct Found {
    /// Its target, as the container names it.
    pub target: String,
    /// Where it stands in the file.
    pub offset: u64,
    /// It stands inside another file.
    pub embedded: bool,
    /// The code object.
    pub object: CodeObject,
}

/// A code object that this version cannot read.
#[derive(Debug)]
pub struct Skipped {
    /// Its target, as the container names it.
    pub target: String,
    /// Why.
    pub reason: String,
}

impl Input {
    /// Reads a file and every code object in it that `--target-cpu` lets through.
    ///
    /// # Errors
    /// When the file cannot be read, and when not one code object in it can.
    pub fn read(args: &FileArgs) -> CommandResult<Self> {
        let path = &args.file;
        let bytes =
            fs::read(path).or_exit_with(Exit::BadInput, || format!("cannot read {}", path.display()))?;
        Self::parse(args, &bytes)
    }

    /// As [`Self::read`], from the file's bytes.
    ///
    /// # Errors
    /// When not one code object can be read.
    pub fn parse(args: &FileArgs, bytes: &[u8]) -> CommandResult<Self> {
        let path = &args.file;
        // One line: which file, and what is wrong with it.
        let in_file = |error: &dyn std::fmt::Display| {
            Failure::msg(Exit::BadInput, format_args!("{}: {error}", path.display()))
        };
        let embedded = container::open(bytes).map_err(|error| in_file(&error))?;
        let mut input = Self { path: path.clone(), objects: Vec::new(), skipped: Vec::new() };
        let targets: Vec<_> = embedded.iter().map(|one| one.target.clone()).collect();
        for one in embedded {
            if args.target_cpu.as_deref().is_some_and(|wanted| !is_target(&one.target, wanted)) {
                continue;
            }
            let whole = one.origin == container::Origin::CodeObject;
            match CodeObject::parse(one.bytes.into_owned()) {
                Ok(object) => input.objects.push(Found {
                    target: object.target.to_string(),
                    offset: one.range.start as u64,
                    embedded: !whole,
                    object,
                }),
                // The file is that one code object, so its error is the answer.
                Err(error) if whole => return Err(in_file(&error)),
                Err(error) => input.skipped.push(Skipped { target: one.target, reason: error.to_string() }),
            }
        }
        if !input.objects.is_empty() {
            return Ok(input);
        }
        Err(match (&args.target_cpu, input.skipped.first()) {
            (_, Some(skipped)) => Failure::msg(
                Exit::BadInput,
                format_args!(
                    "{}: no code object can be read; {}: {}",
                    path.display(),
                    skipped.target,
                    skipped.reason
                ),
            ),
            (Some(wanted), None) => Failure::msg(
                Exit::Usage,
                format_args!("{} holds no code object for {wanted}", path.display()),
            )
            .note(format!("it holds {}", list(&targets))),
            (None, None) => {
                Failure::msg(Exit::BadInput, format_args!("{} holds no code object", path.display()))
            }
        })
    }

    /// The one code object to work on: the only one, or the only one that has this kernel.
    ///
    /// # Errors
    /// When there are several to choose from, or none has the kernel.
    pub fn one(&self, kernel: Option<&str>) -> CommandResult<&Found> {
        let has = |found: &&Found| kernel.is_none_or(|name| found.object.kernel(name).is_some());
        let fitting: Vec<_> = self.objects.iter().filter(has).collect();
        match (&fitting[..], kernel) {
            ([found], _) => Ok(found),
            ([], Some(name)) => Err(self.no_kernel(name)),
            _ => {
                let targets: Vec<_> = fitting.iter().map(|found| found.target.clone()).collect();
                let of = kernel.map_or(String::new(), |name| format!(" with a kernel `{name}`"));
                Err(Failure::msg(
                    Exit::Usage,
                    format_args!(
                        "{} holds {}{of}: {}",
                        self.path.display(),
                        count(fitting.len(), "code object"),
                        list(&targets)
                    ),
                )
                .help("name one with --target-cpu, or a kernel with --kernel"))
            }
        }
    }

    /// The failure for a kernel that no code object has.
    pub fn no_kernel(&self, name: &str) -> Failure {
        let mut known: Vec<_> = self
            .objects
            .iter()
            .flat_map(|found| &found.object.kernels)
            .map(|kernel| kernel.name.clone())
            .collect();
        known.sort();
        known.dedup();
        let failure =
            Failure::msg(Exit::Usage, format_args!("{} has no kernel `{name}`", self.path.display()));
        if known.is_empty() {
            failure.note("it has no kernel at all")
        } else {
            failure.note(format!("it has {}", list(&known)))
        }
    }
}

/// Whether a target (`amdgcn-amd-amdhsa--gfx90a:xnack-`, `gfx90a:sramecc+:xnack-`) is meant by what the user wrote: a
/// processor stands for all its feature states, a target with features for exactly those.
fn is_target(target: &str, wanted: &str) -> bool {
    let target = target.rsplit("--").next().unwrap_or(target);
    let mut features = target.split(':');
    let processor = features.next();
    let mut wanted_features = wanted.split(':');
    let wanted_processor = wanted_features.next();
    let features: Vec<_> = features.collect();
    processor == wanted_processor && wanted_features.all(|feature| features.contains(&feature))
}

/// Distinct names in order, the first ten of them.
fn list(names: &[String]) -> String {
    let mut distinct: Vec<&str> = Vec::new();
    for name in names {
        if !distinct.contains(&name.as_str()) {
            distinct.push(name);
        }
    }
    let more = distinct.len().saturating_sub(10);
    distinct.truncate(10);
    let text = distinct.join(", ");
    if more > 0 { format!("{text} and {more} more") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets() {
        assert!(is_target("amdgcn-amd-amdhsa--gfx90a:xnack-", "gfx90a"));
        assert!(is_target("gfx90a:sramecc+:xnack-", "gfx90a:xnack-"));
        assert!(!is_target("gfx90a:xnack-", "gfx90a:xnack+"));
        assert!(!is_target("gfx90a", "gfx90"));
        assert!(!is_target("gfx906", "gfx90a"));
    }

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<_> = (0..12).map(|number| format!("k{number}")).collect();
        assert!(list(&names).ends_with("k9 and 2 more"));
        assert_eq!(list(&["a".to_owned(), "a".to_owned()]), "a");
    }
}
