//! Where a new package takes `amdinst-device` and `harness` from.

use std::path::{Component, Path, PathBuf};

use crate::cli::SourceArgs;
use crate::exit::{CommandResult, Exit, Failure};

/// The crates that a new package depends on: kernels on the first, tests on the second.
pub(super) const CRATES: [Crate; 2] = [
    Crate { name: "amdinst-device", package: "amdinst-device" },
    Crate { name: "harness", package: "amdinst-harness" },
];

/// A crate of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Crate {
    /// What the package calls it, and its directory's name.
    pub(super) name: &'static str,
    /// Its package's name.
    pub(super) package: &'static str,
}

/// Where they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// In a checkout: its absolute path.
    Checkout(PathBuf),
    /// In a git repository.
    Git(String),
    /// On crates.io.
    Registry,
}

impl Source {
    /// What is asked for; without a word, the checkout that `directory` stands in, or the sources that this program was built
    /// from, if they are still there.
    ///
    /// # Errors
    /// A directory that is no checkout.
    pub(super) fn choose(args: &SourceArgs, directory: &Path) -> CommandResult<Self> {
        if let Some(url) = &args.git {
            return Ok(Self::Git(url.clone()));
        }
        if args.registry {
            return Ok(Self::Registry);
        }
        if let Some(root) = &args.path {
            return checkout(root).map(Self::Checkout).map_err(|missing| {
                let message = format!("{} is no checkout of cargo-amdinst", root.display());
                Failure::msg(Exit::Usage, message).note(format!("there is no {missing}"))
            });
        }
        let directory = std::path::absolute(directory).unwrap_or_default();
        let built_from = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
        let found = directory.ancestors().skip(1).chain(built_from).find_map(|root| checkout(root).ok());
        Ok(found.map_or(Self::Registry, Self::Checkout))
    }

    /// The line of a dependency on `what` in the `Cargo.toml` of a package in `directory`, which is there.
    pub(super) fn dependency(&self, what: Crate, directory: &Path) -> String {
        let (key, value) = match self {
            Self::Checkout(root) => {
                let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
                ("path", from_package(&directory, root).join(what.name).display().to_string())
            }
            Self::Git(url) => ("git", url.clone()),
            Self::Registry => ("version", env!("CARGO_PKG_VERSION").to_owned()),
        };
        let package = if what.package == what.name {
            String::new()
        } else {
            format!("package = {}, ", toml_string(what.package))
        };
        format!("{} = {{ {package}{key} = {} }}", what.name, toml_string(&value))
    }
}

/// The absolute path of a checkout, or the file that it lacks.
fn checkout(root: &Path) -> Result<PathBuf, String> {
    let mut files = CRATES.iter().map(|what| root.join(what.name).join("Cargo.toml"));
    if let Some(missing) = files.find(|file| !file.is_file()) {
        return Err(missing.display().to_string());
    }
    root.canonicalize().map_err(|error| error.to_string())
}

/// How a package in `directory` calls `root`, both absolute: by a relative path if the package stands in the checkout or
/// beside it, so that both can be moved together.
fn from_package(directory: &Path, root: &Path) -> PathBuf {
    let beside = root.parent().filter(|parent| parent.parent().is_some()).unwrap_or(root);
    let (Ok(down), Ok(to_root)) = (directory.strip_prefix(beside), root.strip_prefix(beside)) else {
        return root.to_owned();
    };
    let shared = down.components().zip(to_root.components()).take_while(|(a, b)| a == b).count();
    let up = down.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(to_root.components().skip(shared)).collect()
}

/// A basic string of TOML, which escapes as JSON does.
fn toml_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_in_a_checkout_or_beside_it_names_it_relatively() {
        let path = |directory: &str| from_package(Path::new(directory), Path::new("/home/me/amdinst"));
        assert_eq!(path("/home/me/amdinst/mine"), Path::new(".."));
        assert_eq!(path("/home/me/amdinst/a/b"), Path::new("../.."));
        assert_eq!(path("/home/me/mine"), Path::new("../amdinst"));
        assert_eq!(path("/home/other/mine"), Path::new("/home/me/amdinst"));
        assert_eq!(from_package(Path::new("/mine"), Path::new("/amdinst")), Path::new("/amdinst"));
    }

    #[test]
    fn dependencies_as_cargo_reads_them() {
        let here = Path::new("/nowhere/mine");
        let read = |source: Source| {
            let table = source.dependency(CRATES[1], here).parse::<toml::Table>().unwrap();
            assert_eq!(table["harness"]["package"].as_str(), Some("amdinst-harness"));
            table["harness"].clone()
        };
        assert_eq!(
            read(Source::Checkout(PathBuf::from("/nowhere/a \"b\"")))["path"].as_str(),
            Some("../a \"b\"/harness")
        );
        assert_eq!(read(Source::Git("https://host/x".to_owned()))["git"].as_str(), Some("https://host/x"));
        assert_eq!(read(Source::Registry)["version"].as_str(), Some(env!("CARGO_PKG_VERSION")));
    }
}
