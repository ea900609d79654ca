//! Building kernels that are not built yet, or are older than their sources.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use amdinst_format::interface::{CounterChoice, Settings};
use amdinst_format::manifest::{Artifact, Origin};

use crate::artifact_error::ArtifactError;

/// Names another command than the one that has built them.
const COMMAND: &str = "CARGO_AMDINST";

/// Says whether a build may install a toolchain.
const SETUP: &str = "AMDINST_SETUP";

/// What cargo sets for test programs, and what means something else to a cargo that builds kernels.
const TESTS: [&str; 3] = ["CARGO_MANIFEST_DIR", "CARGO_TARGET_TMPDIR", "NEXTEST"];

/// Builds the kernels again with these counters, and says on stderr that it does and why.
///
/// # Errors
/// It cannot be done, or not for all of them; the error says what to run.
pub(crate) fn again(
    package: &str,
    artifact: &Artifact,
    features: Option<&[String]>,
    counters: CounterChoice,
    what: &str,
) -> Result<(), ArtifactError> {
    let Some(origin) = &artifact.origin else { return Ok(()) };
    let stale = |reason: String| stale(package, artifact, features, what, Some(reason));
    eprintln!("kernels of `{package}` are built again: {what}");
    let program = program(&origin.command);
    let mut command = quiet(&program, arguments(origin, features));
    if counters != CounterChoice::None && !origin.arguments.iter().any(|word| word == "--no-instrument") {
        command.args(["--counters", counters.name()]);
    }
    let output = command
        .current_dir(&origin.directory)
        .output()
        .map_err(|error| stale(format!("\n  {} cannot be started: {error}", program.display())))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(stale(format!("\n{}", text.trim_end())))
}

/// Builds the kernels of a package that were never built, and says on stderr that it does. What it said, if
/// not all are there then. Cargo starts tests in the directory of their package. Nothing is installed on the
/// way: who runs `cargo test` has not asked for that.
pub(crate) fn first(package: &str, settings: &Settings) -> Option<String> {
    let mut words = vec!["build".to_owned(), "--package".to_owned(), package.to_owned()];
    if let Some(profile) = &settings.profile {
        words.extend(["--profile".to_owned(), profile.clone()]);
    }
    if settings.counters != CounterChoice::None {
        words.extend(["--counters".to_owned(), settings.counters.name().to_owned()]);
    }
    let mut command = quiet(&program("cargo-amdinst"), words);
    if std::env::var_os(SETUP).is_none() {
        command.env(SETUP, "never");
    }
    // Where there is no such command, the launch says what to run.
    let building = command.spawn().ok()?;
    eprintln!("kernels of `{package}` are not built yet: `cargo amdinst build` builds them");
    let output = building.wait_with_output().ok()?;
    let failed = !output.status.success();
    failed.then(|| String::from_utf8_lossy(&output.stderr).trim_end().to_owned())
}

/// The command that builds: the one that the environment names, or this one.
fn program(otherwise: &str) -> PathBuf {
    let named = std::env::var_os(COMMAND).filter(|value| !value.is_empty());
    named.map_or_else(|| PathBuf::from(otherwise), PathBuf::from)
}

/// A command that shows nothing of its own.
fn quiet(program: &Path, words: Vec<String>) -> Command {
    let mut command = Command::new(program);
    command.args(words).arg("--quiet");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    for name in TESTS {
        command.env_remove(name);
    }
    command
}

/// The error that says what to run.
pub(crate) fn stale(
    package: &str,
    artifact: &Artifact,
    features: Option<&[String]>,
    what: &str,
    reason: Option<String>,
) -> ArtifactError {
    let words = artifact.origin.as_ref().map(|origin| arguments(origin, features)).unwrap_or_default();
    let command = std::iter::once("cargo amdinst".to_owned()).chain(words).collect::<Vec<_>>().join(" ");
    ArtifactError::Stale { package: package.to_owned(), what: what.to_owned(), reason, command }
}

/// What follows the command, with the test's own features.
fn arguments(origin: &Origin, features: Option<&[String]>) -> Vec<String> {
    let mut words = origin.arguments.clone();
    if let Some(features) = features.filter(|features| *features != origin.features) {
        let mut kept = Vec::new();
        let mut value_follows = false;
        for word in words {
            if !std::mem::take(&mut value_follows) {
                value_follows = word == "--features";
                let chooses = ["--no-default-features", "--all-features"].contains(&word.as_str());
                if !value_follows && !chooses {
                    kept.push(word);
                }
            }
        }
        words = kept;
        words.push("--no-default-features".to_owned());
        let features: Vec<&str> =
            features.iter().map(String::as_str).filter(|one| *one != "default").collect();
        if !features.is_empty() {
            words.extend(["--features".to_owned(), features.join(",")]);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_features_take_the_place_of_others() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let origin = Origin {
            arguments: words(
                "build -p k --features a,b --target-cpu gfx90a --no-default-features --all-features",
            ),
            features: words("a b"),
            ..Origin::default()
        };
        assert_eq!(arguments(&origin, None), origin.arguments);
        assert_eq!(arguments(&origin, Some(&words("a b"))), origin.arguments);
        assert_eq!(
            arguments(&origin, Some(&words("c default"))),
            words("build -p k --target-cpu gfx90a --no-default-features --features c")
        );
        assert_eq!(
            arguments(&origin, Some(&[])),
            words("build -p k --target-cpu gfx90a --no-default-features")
        );
    }
}
