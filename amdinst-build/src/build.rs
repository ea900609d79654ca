//! Running `cargo-amdinst build`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::generate::{self, Bytes};
use crate::messages::{CodeObject, Message};
use crate::{Counters, Error, Kernels, PROGRAM};

/// What cargo sets for build scripts, and what means something else to a cargo that builds kernels: the
/// host's flags, the host's compiler, and where cargo writes.
const HOSTS: [&str; 8] = [
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTFLAGS",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTDOC",
    "CARGO_BUILD_TARGET",
    "OUT_DIR",
];

/// What was built.
#[derive(Debug)]
pub(crate) struct Built {
    /// The kernel package's name.
    pub(crate) package: String,
    /// Its code objects.
    code_objects: Vec<CodeObject>,
    /// Files that cargo told of.
    pub(crate) artifacts: Vec<PathBuf>,
}

/// Builds the package in `directory`.
pub(crate) fn run(kernels: &Kernels, directory: &Path) -> Result<Built, Error> {
    let program =
        std::env::var_os(PROGRAM).filter(|value| !value.is_empty()).unwrap_or("cargo-amdinst".into());
    let mut command = Command::new(&program);
    command.args(arguments(kernels, directory)).stdin(Stdio::null()).stderr(Stdio::inherit());
    for name in HOSTS {
        command.env_remove(name);
    }
    let output =
        command.output().map_err(|source| Error::NoProgram { program: PathBuf::from(&program), source })?;
    let built = read(&String::from_utf8_lossy(&output.stdout));
    if !output.status.success() {
        return Err(Error::Failed { package: directory.to_owned(), status: output.status });
    }
    built.ok_or_else(|| nothing(directory, "no code object".to_owned()))
}

fn nothing(package: &Path, reason: String) -> Error {
    Error::NothingTold { package: package.to_owned(), reason }
}

/// The command line. All instrumented forms are made in any case: the manifest is the one that tests use.
fn arguments(kernels: &Kernels, directory: &Path) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec!["build".into(), "--message-format".into(), "json".into()];
    let mut add = |name: &str, value: OsString| arguments.extend([name.into(), value]);
    add("--manifest-path", directory.join("Cargo.toml").into());
    if !kernels.target_cpus.is_empty() {
        add("--target-cpu", kernels.target_cpus.join(",").into());
    }
    if let Some(lanes) = kernels.wave_size {
        add("--wave-size", lanes.to_string().into());
    }
    if let Some(profile) = &kernels.profile {
        add("--profile", profile.into());
    }
    if !kernels.features.is_empty() {
        add("--features", kernels.features.join(",").into());
    }
    if let Some(version) = kernels.code_object_version {
        add("--code-object-version", version.to_string().into());
    }
    if !kernels.default_features {
        arguments.push("--no-default-features".into());
    }
    arguments
}

/// What the messages tell; what people should see of them goes to stderr.
fn read(text: &str) -> Option<Built> {
    let mut code_objects = Vec::new();
    let mut artifacts = Vec::new();
    for message in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
        match message {
            Message::CodeObject(object) => code_objects.push(object),
            Message::Artifact { filenames } => artifacts.extend(filenames),
            Message::Diagnostic { message } => eprint!("{}", message.rendered.unwrap_or_default()),
            Message::Other => {}
        }
    }
    let package = code_objects.first()?.package.clone();
    Some(Built { package, code_objects, artifacts })
}

impl Built {
    /// What to embed: the original code objects, and with `counters` their instrumented forms.
    pub(crate) fn embed(
        &self,
        counters: Option<Counters>,
        directory: &Path,
    ) -> Result<Vec<generate::EmbeddedCodeObject>, Error> {
        let one = |CodeObject { manifest, artifact, .. }: &CodeObject| {
            let root = manifest.parent().unwrap_or(Path::new(""));
            let read = |path: &Path| -> Result<Bytes, Error> {
                let path = root.join(path);
                std::fs::read(&path).map_err(crate::file(&path))
            };
            let form = match counters {
                None => None,
                Some(counters) => {
                    let found =
                        artifact.instrumented.iter().find(|form| form.home.as_deref() == counters.home());
                    let form = found.ok_or_else(|| {
                        let home = counters.home().unwrap_or("auto");
                        nothing(directory, format!("no form with counters in `{home}`"))
                    })?;
                    Some(generate::EmbeddedForm {
                        code_object: form.file.as_deref().map(read).transpose()?,
                        probes: read(&form.probes)?,
                    })
                }
            };
            Ok(generate::EmbeddedCodeObject {
                cpu: artifact.cpu.clone(),
                profile: artifact.profile.clone(),
                original: read(&artifact.original)?,
                form,
            })
        };
        self.code_objects.iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_become_options() {
        let kernels = Kernels::new("k").target_cpus(["gfx90a", "gfx942"]).profile("dev").features(["a", "b"]);
        let kernels = kernels.default_features(false).code_object_version(5).wave_size(32);
        let words = arguments(&kernels, Path::new("/x/k"));
        let words: Vec<_> = words.iter().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(
            words.join(" "),
            "build --message-format json --manifest-path /x/k/Cargo.toml --target-cpu gfx90a,gfx942 --wave-size 32 --profile dev \
             --features a,b --code-object-version 5 --no-default-features"
        );
    }

    #[test]
    fn messages_of_others_are_passed_over() {
        let text = "noise\n{\"reason\":\"build-finished\",\"success\":true}\n\
                    {\"reason\":\"compiler-artifact\",\"filenames\":[\"/t/k.elf\"],\"fresh\":true}\n\
                    {\"reason\":\"amdinst-artifact\",\"package\":\"k\",\"manifest\":\"/t/manifest.json\",\"artifact\":\
                    {\"cpu\":\"gfx90a\",\"profile\":\"release\",\"original\":\"a.elf\",\"kernels\":[],\"instrumented\":\
                    [{\"counter_storage\":null,\"file\":null,\"probes\":\"p\"}]},\"fresh\":true}\n";
        let built = read(text).unwrap();
        assert_eq!((built.package.as_str(), built.artifacts.len()), ("k", 1));
        assert!(read("{}").is_none());
        let error = built.embed(None, Path::new("k")).unwrap_err();
        assert!(matches!(&error, Error::File { path, .. } if path == Path::new("/t/a.elf")), "{error}");
    }
}
