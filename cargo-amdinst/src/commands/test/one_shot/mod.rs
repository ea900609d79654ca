//! A file with kernels and tests, and no package around it: `test --one-shot FILE.rs`.
//!
//! A package is made for it in the user's cache. Its test program has the file as a module; its library, for
//! the GPU, has the kernels and what they name, each on its own line, under the file's own name. What was
//! compiled stays there, so that a second run of the file compiles little.

mod device_part;

use std::path::{Path, PathBuf};

use amdinst_core::report::run::fnv1a;
use amdinst_llvm::cache;

use self::device_part::DevicePart;
use crate::build::files;
use crate::cli::{PackageArgs, RenamedSource, TestArgs};
use crate::commands::new::{ProcessorChoice, Source, dependencies};
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};

/// The options of a test of the package that is made for `file`.
///
/// # Errors
/// A file that cannot be read or has no kernels or tests, files that cannot be written.
pub(super) fn prepare(args: &TestArgs, file: &Path) -> CommandResult<TestArgs> {
    let told = || file.display().to_string();
    let text =
        std::fs::read_to_string(file).or_exit_with(Exit::BadInput, || format!("cannot read {}", told()))?;
    let absolute = file.canonicalize().or_exit_with(Exit::BadInput, told)?;
    // What is no Rust, rustc tells best.
    let part = DevicePart::of(&text).unwrap_or_else(|_| DevicePart::whole(text));
    if !part.has_kernels {
        let help = "`use amdinst_device::kernel;`, and `#[kernel]` before a function";
        return Err(Failure::msg(Exit::BuildFailed, format!("{} has no kernel", told())).help(help));
    }
    if !part.has_tests {
        let help = "`#[harness::test]` before a function that takes a `&harness::Device`";
        return Err(Failure::msg(Exit::BuildFailed, format!("{} has no test", told())).help(help));
    }
    let name = module_name(&absolute);
    let directory = directory(&absolute, &name)?;
    let source = directory.join("src").join(format!("{name}.rs"));
    let gpu = ProcessorChoice::new(&args.package.target_cpu, Path::new("/"))?;
    let taken_from = Source::best(&directory, None);
    let [device, harness] = dependencies(&taken_from, &directory);
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n\
         [dependencies]\n{device}\n\n[dev-dependencies]\n{harness}\n\n\
         [[test]]\nname = \"{name}\"\nharness = false\n\n{}\n\
         [profile.dev.package.\"*\"]\ndebug = false\n\n[workspace]\n",
        gpu.settings()
    );
    // The tests are warned of; the kernels are there, too.
    let library = format!(
        "#![cfg_attr(target_arch = \"amdgpu\", no_std)]\n#![allow(warnings)]\n\n\
         #[path = {:?}]\npub mod {name};\n",
        source.display().to_string()
    );
    let tests = format!("#[path = {:?}]\nmod {name};\n\nharness::main!();\n", absolute.display().to_string());
    for (path, text) in [
        (directory.join("Cargo.toml"), &manifest),
        (directory.join("src/lib.rs"), &library),
        (source.clone(), &part.text),
        (directory.join("tests").join(format!("{name}.rs")), &tests),
    ] {
        let written = files::write(&path, text.as_bytes());
        written.or_exit_with(Exit::OutputFailed, || format!("cannot write {}", path.display()))?;
    }
    share_target(&directory)?;
    let package = PackageArgs {
        manifest_path: Some(directory.join("Cargo.toml")),
        renamed: Some(RenamedSource { from: source, to: absolute }),
        ..args.package.clone()
    };
    Ok(TestArgs { package, ..args.clone() })
}

/// Lets a package take the harness that was compiled for another file.
fn share_target(directory: &Path) -> CommandResult<()> {
    let link = directory.join("target");
    let told = || format!("cannot write {}", link.display());
    let shared = directory.with_file_name("target");
    std::fs::create_dir_all(&shared).or_exit_with(Exit::OutputFailed, told)?;
    match std::os::unix::fs::symlink(&shared, &link) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(error).or_exit_with(Exit::OutputFailed, told)
        }
        _ => Ok(()),
    }
}

/// The name of the file, as a module and a package may be called.
fn module_name(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let name: String =
        stem.chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '_' }).collect();
    let name = name.to_lowercase();
    // Names that no package may have, or that another of ours has.
    let is_taken =
        syn::parse_str::<syn::Ident>(&name).is_err() || ["test", "core", "harness"].contains(&&*name);
    if is_taken || name.starts_with('_') { format!("file_{name}") } else { name }
}

/// The package's directory: one for each file.
fn directory(file: &Path, name: &str) -> CommandResult<PathBuf> {
    let cache = cache::directory().or_exit_with(Exit::OutputFailed, || "the user's cache")?;
    let hash = fnv1a(file.as_os_str().as_encoded_bytes());
    Ok(cache.join("one-shot").join(format!("{name}-{hash:016x}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_a_module_of_its_name() {
        for (file, name) in [
            ("/a/sum.rs", "sum"),
            ("/a/Two Words.rs", "two_words"),
            ("7.rs", "file_7"),
            ("fn.rs", "file_fn"),
            ("_.rs", "file__"),
            ("test.rs", "file_test"),
        ] {
            assert_eq!(module_name(Path::new(file)), name);
        }
    }
}
