//! The file a command works on, and which of its code objects.

use std::fmt::Display;
use std::ops::ControlFlow;
use std::path::Path;

use amdgpu_isa::Arch;
use amdgpu_object::CodeObject;
use amdgpu_object::container::{self, Code, ContainerError, Embedded, Origin};
use amdinst_core::names;
use amdinst_text::{count, listed};
use rayon::prelude::*;

pub use super::files::File;
use crate::build;
use crate::cli::{FileArgs, InputArgs, PackageArgs};
use crate::context::Context;
use crate::exit::{CommandResult, Exit, Failure};
use crate::instrumenting::kernel_of;

impl InputArgs {
    /// The file with the code objects: the one given, or that of the package, which is built first.
    ///
    /// # Errors
    /// A package that is not there or cannot be built, or has code objects for several processors to choose
    /// from.
    pub fn resolve(&self, context: &mut Context) -> CommandResult<FileArgs> {
        let target_cpu = self.target_cpu.clone();
        let file = match (&self.file, &self.package) {
            (Some(file), _) => file.clone(),
            (None, package) => {
                let args = PackageArgs {
                    package: package.iter().cloned().collect(),
                    manifest_path: self.manifest_path.clone(),
                    // Features of a target are LLVM's to choose.
                    target_cpu: target_cpu
                        .iter()
                        .map(|cpu| cpu.split(':').next().unwrap_or(cpu).to_owned())
                        .collect(),
                    profile: self.profile.clone(),
                    features: self.features.clone(),
                    ..PackageArgs::default()
                };
                let file = build::original(context, &args)?;
                let here = std::env::current_dir().ok();
                let short = here.and_then(|here| file.strip_prefix(here).ok().map(Path::to_owned));
                short.unwrap_or(file)
            }
        };
        Ok(FileArgs { file, target_cpu, object: self.object })
    }
}

/// A file's code objects, after `--target-cpu`. They are read one at a time, for together they may not fit
/// into memory.
#[derive(Debug)]
pub struct Input<'a> {
    /// Its path, as given.
    path: &'a Path,
    file: &'a File,
    embedded: Vec<Embedded<'a>>,
    need: Need,
}

/// What is to be done with code objects beside reading them. Those of processors for which it is not done are
/// taken for ones that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    Nothing,
    /// The emulator executes them.
    Execution,
    /// They are instrumented.
    Instrumentation,
}

impl Need {
    /// Why it is not done for a processor; `None` if it is.
    fn unmet(self, arch: Arch) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::Execution => arch.to_execute().err().map(|error| error.to_string()),
            Self::Instrumentation => arch.to_instrument().err().map(|error| error.to_string()),
        }
    }
}

/// One code object of a file.
#[derive(Debug)]
pub struct Found {
    /// Its target, as the container names it.
    pub target: String,
    /// Where it stands in the file.
    pub offset: u64,
    /// Its place among the code objects of the file, from 0.
    pub index: usize,
    /// The code object stands inside another file.
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
    /// It is whole, and for a processor whose code is read alone.
    pub is_only_read: bool,
}

/// Code objects that cannot be read, by target and reason: each pair once, with the number of code objects.
pub fn counted<'a>(all: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<(String, &'a str)> {
    let mut kinds: Vec<((&str, &str), usize)> = Vec::new();
    for one in all {
        match kinds.iter_mut().find(|(kind, _)| *kind == one) {
            Some((_, number)) => *number += 1,
            None => kinds.push((one, 1)),
        }
    }
    let named = |((target, reason), number): ((&str, &'a str), usize)| match number {
        1 => (target.to_owned(), reason),
        _ => (format!("{number} of {target}"), reason),
    };
    kinds.into_iter().map(named).collect()
}

impl<'a> Input<'a> {
    /// Finds every code object that `--target-cpu` lets through in a file.
    ///
    /// # Errors
    /// When there is none.
    pub fn new(args: &'a FileArgs, file: &'a File) -> CommandResult<Self> {
        let path = args.file.as_path();
        let mut embedded = container::open_within(file.bytes(), unpacked_limit()?).map_err(|error| {
            let failure = in_file(path, &error);
            match error {
                ContainerError::Packed { .. } => {
                    failure.help(format!("if it is to unpack to more, set {UNPACKED}=BYTES"))
                }
                _ => failure,
            }
        })?;
        let targets: Vec<_> = embedded.iter().map(|one| one.target.clone()).collect();
        if let Some(number) = args.object {
            embedded.retain(|one| one.index == number);
            if embedded.is_empty() {
                let message = format!("{} holds no code object {number}", path.display());
                let note = format!("it holds {}, from 0 on", count(targets.len(), "code object"));
                return Err(Failure::msg(Exit::Usage, message).note(note));
            }
        }
        let target_cpu = args.target_cpu.as_deref();
        if let Some(wanted) = target_cpu {
            // As the runtime does: code for the processor itself before code for a generic one that it
            // belongs to.
            let fits = |wanted: &str| embedded.iter().any(|one| is_target(&one.target, wanted));
            let generic = generic(wanted).filter(|generic| !fits(wanted) && fits(generic));
            let wanted = generic.as_deref().unwrap_or(wanted);
            embedded.retain(|one| is_target(&one.target, wanted));
        }
        match target_cpu {
            Some(wanted) if embedded.is_empty() => {
                let message = format!("{} holds no code object for {wanted}", path.display());
                Err(Failure::msg(Exit::Usage, message).note(format!("it holds {}", listed(&targets, LISTED))))
            }
            _ => Ok(Self { path, file, embedded, need: Need::Nothing }),
        }
    }

    /// Warns of names in an archive that are made to mislead.
    #[must_use]
    pub fn tell_odd_names(self, context: &Context) -> Self {
        let odd = container::odd_names(self.file.bytes());
        if let Some(first) = odd.first() {
            let more = match odd.len() - 1 {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            context.shell.warn(format_args!(
                "{}: its member `{first}`{more} has a name that is made to mislead, or leads out of the directory where it is unpacked: \
                 nothing is written by that name here; do not unpack the archive with a tool that believes it",
                self.path.display()
            ));
        }
        self
    }

    /// Takes the code objects of processors whose code is not executed for ones that cannot be read.
    #[must_use]
    pub fn to_execute(self) -> Self {
        Self { need: Need::Execution, ..self }
    }

    /// Takes the code objects of processors whose code is not instrumented for ones that cannot be read.
    #[must_use]
    pub fn to_instrument(self) -> Self {
        Self { need: Need::Instrumentation, ..self }
    }

    /// How many code objects there are, those that cannot be read included; never 0.
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.embedded.len()
    }

    /// Reads one code object after the other and shows each to `visit`, until that has seen enough. Returns
    /// those that cannot be read.
    ///
    /// # Errors
    /// What `visit` gives, and an error of its own when not one code object can be read.
    pub fn for_each(
        &self,
        mut visit: impl FnMut(Found) -> CommandResult<ControlFlow<()>>,
    ) -> CommandResult<Vec<Skipped>> {
        let mut skipped = Vec::new();
        for one in &self.embedded {
            match self.read(one)? {
                Ok(found) => {
                    if visit(found)?.is_break() {
                        return Ok(skipped);
                    }
                }
                Err(unreadable) => skipped.push(unreadable),
            }
        }
        self.all_but(skipped)
    }

    /// Reads code objects, as many at a time as there are cores, and shows each to `visit`. Returns what that
    /// gave, in the order of the file, and those that cannot be read.
    ///
    /// # Errors
    /// The first in the file of those of `visit`, and when not one code object can be read.
    pub fn map<T: Send>(
        &self,
        visit: impl Fn(Found) -> CommandResult<T> + Sync,
    ) -> CommandResult<(Vec<T>, Vec<Skipped>)> {
        let results: Vec<CommandResult<Result<T, Skipped>>> = self
            .embedded
            .par_iter()
            .with_max_len(1)
            .map(|one| match self.read(one)? {
                Ok(found) => visit(found).map(Ok),
                Err(skipped) => Ok(Err(skipped)),
            })
            .collect();
        let (mut made, mut skipped) = (Vec::new(), Vec::new());
        for result in results {
            match result? {
                Ok(one) => made.push(one),
                Err(one) => skipped.push(one),
            }
        }
        Ok((made, self.all_but(skipped)?))
    }

    fn read(&self, one: &Embedded<'_>) -> CommandResult<Result<Found, Skipped>> {
        let is_whole = one.origin == Origin::CodeObject;
        let bytes = match &one.bytes {
            Code::Unpacked(bytes) => Some(bytes.clone()),
            Code::InFile(_) => self.file.shared().part(one.range.clone()),
        };
        let parsed = CodeObject::parse(bytes.unwrap_or_else(|| one.bytes.to_vec().into()));
        let skipped = |reason, is_only_read| Skipped { target: one.target.clone(), reason, is_only_read };
        if let Some(reason) = parsed.as_ref().ok().and_then(|object| self.need.unmet(object.target.arch)) {
            if is_whole {
                return Err(Failure::msg(Exit::Unsupported, format!("{}: {reason}", self.path.display())));
            }
            return Ok(Err(skipped(reason, true)));
        }
        match parsed {
            Ok(object) => Ok(Ok(Found {
                target: object.target.to_string(),
                offset: one.range.start as u64,
                index: one.index,
                embedded: !is_whole,
                object,
            })),
            // The file is that one code object, so its error is the answer.
            Err(error) if is_whole => Err(in_file(self.path, &error)),
            Err(error) => Ok(Err(skipped(error.to_string(), false))),
        }
    }

    /// Code objects that cannot be read. An error if there are no others.
    fn all_but(&self, skipped: Vec<Skipped>) -> CommandResult<Vec<Skipped>> {
        match skipped.first() {
            Some(Skipped { reason, .. })
                if skipped.len() == self.embedded.len() && skipped.iter().all(|one| one.is_only_read) =>
            {
                Err(Failure::msg(Exit::Unsupported, format!("{}: {reason}", self.path.display())))
            }
            Some(Skipped { target, reason, .. }) if skipped.len() == self.embedded.len() => {
                let problem = format!("no code object can be read; {target}: {reason}");
                Err(in_file(self.path, &problem))
            }
            _ => Ok(skipped),
        }
    }

    /// The one code object to work on: the only one, or the only one that has this kernel. `all` says how the
    /// user can have all of them worked on.
    ///
    /// # Errors
    /// When there are several to choose from, or none has the kernel.
    pub fn one(&self, kernel: Option<&str>, all: Option<&str>) -> CommandResult<Found> {
        let mut fitting = Vec::new();
        let mut first = None;
        self.for_each(|found| {
            if kernel.is_none_or(|name| kernel_of(&found.object, name).is_some()) {
                fitting.push((found.target.clone(), found.index));
                first.get_or_insert(found);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        match (first, kernel) {
            (Some(found), _) if fitting.len() == 1 => Ok(found),
            (None, Some(name)) => Err(self.no_kernel(name)),
            _ => {
                let of = kernel.map_or(String::new(), |name| format!(" with a kernel `{name}`"));
                let is_one_target = fitting.iter().all(|(target, _)| *target == fitting[0].0);
                let fitting_ones: Vec<String> = fitting
                    .into_iter()
                    .map(
                        |(target, number)| {
                            if is_one_target { format!("{number} ({target})") } else { target }
                        },
                    )
                    .collect();
                let message = format!(
                    "{} holds {}{of}: {}",
                    self.path.display(),
                    count(fitting_ones.len(), "code object"),
                    listed(&fitting_ones, LISTED)
                );
                let ways = [
                    (!is_one_target).then_some("name one with --target-cpu"),
                    is_one_target.then_some("choose one with --object N"),
                    kernel.is_none().then_some("choose a kernel with --kernel"),
                    all,
                ];
                let ways: Vec<&str> = ways.into_iter().flatten().collect();
                let failure = Failure::msg(Exit::Usage, message);
                Err(if ways.is_empty() { failure } else { failure.help(ways.join(", or ")) })
            }
        }
    }

    /// The code object to launch a kernel of, and the kernel's symbol: the kernel that is named, else the
    /// only one.
    ///
    /// # Errors
    /// When there are several to choose from, or none has the kernel.
    pub fn kernel(&self, name: Option<&str>) -> CommandResult<(Found, String)> {
        let known = self.kernels()?;
        let name = match (name, &known[..]) {
            (Some(name), _) => name,
            (None, [only]) => only,
            (None, _) => {
                if known.is_empty() {
                    // It may be that none can be read.
                    self.for_each(|_| Ok(ControlFlow::Continue(())))?;
                }
                let message = match known.len() {
                    0 => format!("{} has no kernel", self.path.display()),
                    _ => format!("{} has several kernels: name one with --kernel", self.path.display()),
                };
                return Err(self.with_kernels(Failure::msg(Exit::Usage, message), &known));
            }
        };
        let found = self.one(Some(name), None)?;
        let symbol = kernel_of(&found.object, name).map(|kernel| kernel.name.clone());
        symbol.map(|symbol| (found, symbol)).ok_or_else(|| self.no_kernel(name))
    }

    /// The names of all kernels, as in the source.
    ///
    /// # Errors
    /// When not one code object can be read.
    fn kernels(&self) -> CommandResult<Vec<String>> {
        let mut known = Vec::new();
        self.for_each(|found| {
            known.extend(found.object.kernels.iter().map(|kernel| names::in_source(&kernel.name).to_owned()));
            Ok(ControlFlow::Continue(()))
        })?;
        known.sort();
        known.dedup();
        Ok(known)
    }

    /// The failure for a kernel that no code object has.
    pub fn no_kernel(&self, name: &str) -> Failure {
        let message = format!("{} has no kernel `{name}`", self.path.display());
        self.with_kernels(Failure::msg(Exit::Usage, message), &self.kernels().unwrap_or_default())
    }

    /// A failure with a list of the kernels that there are.
    fn with_kernels(&self, failure: Failure, known: &[String]) -> Failure {
        if known.is_empty() {
            failure.note("it has no kernel at all")
        } else {
            failure.note(format!("it has {}", listed(known, KERNELS_LISTED)))
        }
    }
}

/// The variable with the bytes that what is compressed in a file may unpack to.
const UNPACKED: &str = "AMDINST_UNPACKED";

/// How many bytes the compressed parts of a file may unpack to.
///
/// # Errors
/// `AMDINST_UNPACKED` is no number.
pub fn unpacked_limit() -> CommandResult<u64> {
    let Some(value) = std::env::var_os(UNPACKED) else { return Ok(container::UNPACKED_LIMIT) };
    value.to_str().and_then(|value| value.parse().ok()).ok_or_else(|| {
        let value = value.display();
        Failure::msg(Exit::Usage, format!("{UNPACKED} is `{value}`, which is no number of bytes"))
    })
}

/// One line: which file, and what is wrong with it.
fn in_file(path: &Path, problem: &dyn Display) -> Failure {
    Failure::msg(Exit::BadInput, format_args!("{}: {problem}", path.display()))
}

/// Whether a target (`amdgcn-amd-amdhsa--gfx90a:xnack-`, `gfx90a:sramecc+:xnack-`) is meant by what the user
/// wrote: a processor stands for all its feature states, a target with features for exactly those.
fn is_target(target: &str, wanted: &str) -> bool {
    let target = target.rsplit("--").next().unwrap_or(target);
    let mut features = target.split(':');
    let processor = features.next();
    let mut wanted_features = wanted.split(':');
    let wanted_processor = wanted_features.next();
    let features: Vec<_> = features.collect();
    processor == wanted_processor && wanted_features.all(|feature| features.contains(&feature))
}

/// The generic processor that one with its features belongs to, with those features: `gfx10-1-generic:xnack-`
/// for `gfx1010:xnack-`.
fn generic(wanted: &str) -> Option<String> {
    let generic = processor(wanted)?.generic()?;
    let features = wanted.find(':').map_or("", |at| &wanted[at..]);
    Some(format!("{generic}{features}"))
}

/// The processor of a target that the user wrote (`gfx90a`, `gfx90a:xnack-`), if it is a known one.
pub fn processor(wanted: &str) -> Option<Arch> {
    Arch::from_name(wanted.split(':').next().unwrap_or(wanted))
}

/// Names that an error lists, at most.
const LISTED: usize = 10;
/// Kernels that an error lists, at most.
const KERNELS_LISTED: usize = 60;

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
        assert!(is_target("hipv4-amdgcn-amd-amdhsa--gfx11-generic", "gfx11-generic"));
        assert_eq!(generic("gfx1010:xnack-").as_deref(), Some("gfx10-1-generic:xnack-"));
        assert_eq!((generic("gfx90a"), generic("gfx11-generic")), (None, None));
    }

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<_> = (0..12).map(|number| format!("k{number}")).collect();
        assert!(listed(&names, LISTED).ends_with("k9 and 2 more"));
        assert_eq!(listed(&["a".to_owned(), "a".to_owned()], LISTED), "a");
    }
}
