//! Which test targets of a package hold kernel tests.

use std::path::Path;

use serde::Deserialize;

use crate::exit::{CommandResult, Exit, OrExit as _};

/// The part of a `Cargo.toml` that says so. `cargo metadata` leaves `harness` out.
#[derive(Debug, Default, Deserialize)]
struct CargoToml {
    #[serde(default)]
    test: Vec<TestTarget>,
}

#[derive(Debug, Deserialize)]
struct TestTarget {
    name: Option<String>,
    path: Option<String>,
    #[serde(default = "yes")]
    harness: bool,
}

const fn yes() -> bool {
    true
}

/// The names of the test targets with `harness = false`, in the order of the `Cargo.toml` at `path`.
///
/// # Errors
/// A `Cargo.toml` that cannot be read.
pub(super) fn kernel_tests(path: &Path) -> CommandResult<Vec<String>> {
    let told = || path.display().to_string();
    let text = std::fs::read_to_string(path).or_exit_with(Exit::BuildFailed, told)?;
    let manifest: CargoToml = toml::from_str(&text).or_exit_with(Exit::BuildFailed, told)?;
    Ok(names(&manifest))
}

fn names(manifest: &CargoToml) -> Vec<String> {
    let own = manifest.test.iter().filter(|target| !target.harness);
    own.filter_map(|target| {
        // Cargo takes the name from the path when there is none.
        let stem = || Path::new(target.path.as_deref()?).file_stem()?.to_str().map(str::to_owned);
        target.name.clone().or_else(stem)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_targets_without_the_standard_harness() {
        let text = r#"
            [package]
            name = "x"
            [[test]]
            name = "kernels"
            harness = false
            [[test]]
            name = "host"
            [[test]]
            path = "tests/more.rs"
            harness = false
        "#;
        assert_eq!(names(&toml::from_str(text).unwrap()), ["kernels", "more"]);
        assert!(names(&toml::from_str("[package]\nname = \"x\"").unwrap()).is_empty());
    }
}
