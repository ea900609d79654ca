//! rustc's flags: the user's, from wherever cargo takes them, and ours behind.
//!
//! * `core` is built with `panic=immediate-abort`: a failed check traps where it stands, and the line table
//!   names it. With `panic-messages` a panic handler is called, that of `amdinst-device` or another.
//! * rustc's jump threading is off. It copies a barrier into both sides of a branch; LLVM, which knows what
//!   is convergent, does not.

use std::env;
use std::path::Path;

use amdgpu_isa::WaveSize;
use serde_json::Value;

use amdinst_llvm::LinkOptions;
use amdinst_llvm::toolchain::{TARGET, Toolchain};

/// Separates flags in `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: char = '\x1f';

/// The user's flags for the device. Cargo takes flags from one source only, so ours must join the one that
/// the user has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserFlags {
    /// Flags of `CARGO_ENCODED_RUSTFLAGS` or `RUSTFLAGS`, which win over configuration files.
    Environment(Vec<String>),
    /// Flags of configuration files, if there are any: `build.rustflags`. Cargo itself joins a target's flags
    /// of several files.
    Config(Vec<String>),
}

/// How flags reach cargo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flags {
    /// The value of `CARGO_ENCODED_RUSTFLAGS`.
    Environment(String),
    /// The value of a `--config`.
    Config(String),
}

impl UserFlags {
    /// The user's flags with `ours` behind them, where the last one wins.
    pub fn with(&self, ours: &[String]) -> Flags {
        let (Self::Environment(theirs) | Self::Config(theirs)) = self;
        let flags = theirs.iter().chain(ours).map(String::as_str);
        match self {
            Self::Environment(_) => {
                Flags::Environment(flags.collect::<Vec<_>>().join(&SEPARATOR.to_string()))
            }
            // Cargo passes over `build.rustflags` where a target has flags of its own, as it has now.
            Self::Config(_) => {
                let list: Vec<_> = flags.map(toml_string).collect();
                Flags::Config(format!("target.{TARGET}.rustflags=[{}]", list.join(",")))
            }
        }
    }
}

/// Flags of every crate for the device, `core` included: the processor, the size of waves if it is another
/// than LLVM's default, and whether panics say why.
pub fn for_all(cpu: &str, wave: Option<WaveSize>, panic_messages: bool) -> Vec<String> {
    let panic = if panic_messages { "abort" } else { "immediate-abort" };
    let mut flags = [
        &format!("-Ctarget-cpu={cpu}"),
        // The target is linked by LTO in any case: every crate is handed over as bitcode. Machine code of it
        // would be for nothing, and LLVM 22.1.4, which is in rustc 1.97, ends without a word of use when it
        // makes some of `core` for gfx1100 at opt-level 0.
        "-Clinker-plugin-lto",
        "-Cembed-bitcode=yes",
        // A failed check traps where it stands: its source line is in the line table, and nothing is
        // formatted.
        "-Zunstable-options",
        &format!("-Cpanic={panic}"),
        // It copies what stands between two branches on one condition into both, a barrier too: waves would
        // then come to it different numbers of times (rust-lang/rust#137086). The other passes copy no calls.
        "-Zmir-enable-passes=-JumpThreading",
    ]
    .map(str::to_owned)
    .to_vec();
    if panic_messages {
        flags.push("--cfg=amdinst_panic_messages".to_owned());
    }
    // LLVM's default is left to it: this compiler may not know the feature, and warns then.
    flags.extend(wave.map(|wave| format!("-Ctarget-feature=+{}", wave.llvm_feature())));
    flags
}

/// Flags of the kernel crate alone. `executable` is this program.
pub fn for_kernel_crate(executable: &Path, options: &LinkOptions) -> Vec<String> {
    let mut flags = [
        // Kernels have the ABI `gpu-kernel`; a crate that says so itself is not wrong.
        "-Zcrate-attr=feature(abi_gpu_kernel)",
        "-Aduplicate_features",
        // The flavour that no distribution's patches break on this target.
        "-Clinker-flavor=gcc",
        // As it is: our link step optimises.
        "-Cno-prepopulate-passes",
        &format!("-Clinker={}", executable.display()),
    ]
    .map(str::to_owned)
    .to_vec();
    flags.extend(options.to_arguments().into_iter().map(|argument| format!("-Clink-arg={argument}")));
    flags
}

/// The user's flags, as cargo finds them when it is started in `directory`.
pub fn of_user(toolchain: &Toolchain, directory: &Path) -> UserFlags {
    let variable = |name| env::var(name).ok();
    match from_environment(variable("CARGO_ENCODED_RUSTFLAGS"), variable("RUSTFLAGS")) {
        Some(flags) => UserFlags::Environment(flags),
        None => UserFlags::Config(build_rustflags(toolchain, directory)),
    }
}

fn from_environment(encoded: Option<String>, plain: Option<String>) -> Option<Vec<String>> {
    if let Some(encoded) = encoded {
        return Some(encoded.split(SEPARATOR).filter(|flag| !flag.is_empty()).map(str::to_owned).collect());
    }
    // Cargo takes an empty RUSTFLAGS for none.
    let flags: Vec<_> = plain?.split_whitespace().map(str::to_owned).collect();
    (!flags.is_empty()).then_some(flags)
}

/// `build.rustflags` of the configuration in force in `directory`, and `CARGO_BUILD_RUSTFLAGS`.
fn build_rustflags(toolchain: &Toolchain, directory: &Path) -> Vec<String> {
    let mut flags = Vec::new();
    let mut command = toolchain.cargo();
    command.args(["-Zunstable-options", "config", "get", "build.rustflags", "--format", "json"]);
    command.current_dir(directory);
    if has_configuration(directory)
        && let Ok(output) = command.output()
        // It fails when there is none.
        && output.status.success()
        && let Ok(value) = serde_json::from_slice::<Value>(&output.stdout)
    {
        flags.extend(words(&value["build"]["rustflags"]));
    }
    if let Ok(text) = env::var("CARGO_BUILD_RUSTFLAGS") {
        flags.extend(text.split_whitespace().map(str::to_owned));
    }
    flags
}

/// Whether a configuration file is anywhere cargo looks; asking cargo costs a process.
fn has_configuration(directory: &Path) -> bool {
    let in_directory =
        |directory: &Path| ["config.toml", "config"].iter().any(|name| directory.join(name).is_file());
    let home = env::var_os("CARGO_HOME").map(Into::into).or_else(|| Some(env::home_dir()?.join(".cargo")));
    directory.ancestors().any(|directory| in_directory(&directory.join(".cargo")))
        || home.is_some_and(|home| in_directory(&home))
}

/// A list of flags, or one string of them.
fn words(value: &Value) -> Vec<String> {
    match value {
        Value::Array(values) => values.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::String(text) => text.split_whitespace().map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// A basic string of TOML, which escapes as JSON does.
fn toml_string(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_read_as_cargo_does() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(from_environment(None, None), None);
        assert_eq!(from_environment(None, some("")), None);
        assert_eq!(
            from_environment(None, some(" -Ca  -Cb ")),
            Some(vec!["-Ca".to_owned(), "-Cb".to_owned()])
        );
        let encoded = some("-C\x1flink-arg=a b");
        assert_eq!(
            from_environment(encoded, some("-Cignored")),
            Some(vec!["-C".to_owned(), "link-arg=a b".to_owned()])
        );
    }

    #[test]
    fn ours_come_last() {
        let theirs = vec!["-Ctarget-cpu=native".to_owned()];
        let ours = ["-Clink-arg=a\"b".to_owned()];
        assert_eq!(
            UserFlags::Environment(theirs.clone()).with(&ours),
            Flags::Environment("-Ctarget-cpu=native\x1f-Clink-arg=a\"b".to_owned())
        );
        let Flags::Config(value) = UserFlags::Config(theirs.clone()).with(&ours) else { panic!() };
        let table: toml::Table = value.parse().unwrap();
        let flags = table["target"][TARGET]["rustflags"].as_array().unwrap();
        assert_eq!(
            flags.iter().map(|flag| flag.as_str().unwrap()).collect::<Vec<_>>(),
            [&theirs[0], &ours[0]]
        );
    }

    #[test]
    fn configured_flags_are_strings_or_lists() {
        assert_eq!(words(&serde_json::json!("-Ca -Cb")), ["-Ca", "-Cb"]);
        assert_eq!(words(&serde_json::json!(["-Clink-arg=a b"])), ["-Clink-arg=a b"]);
        assert!(words(&Value::Null).is_empty());
    }
}
