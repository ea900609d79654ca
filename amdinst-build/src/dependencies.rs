//! When to build again: the sources that the kernels were made of.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::{Error, file};

/// The files that the code objects in `artifacts` depend on: those that cargo wrote beside them (`NAME.d`),
/// and `Cargo.toml`. The whole directory of the package where there is no such file.
pub(crate) fn of(package: &Path, artifacts: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut files = vec![package.join("Cargo.toml")];
    let before = files.len();
    for artifact in artifacts {
        let path = artifact.with_extension("d");
        match fs::read_to_string(&path) {
            Ok(text) => files.extend(read(&text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(file(&path)(error)),
        }
    }
    if files.len() == before {
        files.push(package.to_owned());
    }
    files.sort();
    files.dedup();
    Ok(files)
}

/// The prerequisites in a makefile's rule `target: a b`, in which a backslash keeps a space.
fn read(text: &str) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for rule in text.lines().filter_map(|line| Some(line.split_once(": ")?.1)) {
        let mut path = String::new();
        let mut characters = rule.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '\\' if characters.peek() == Some(&' ') => path.extend(characters.next()),
                ' ' => paths.push(PathBuf::from(std::mem::take(&mut path))),
                other => path.push(other),
            }
        }
        paths.push(PathBuf::from(path));
    }
    paths.retain(|path| !path.as_os_str().is_empty());
    paths
}

/// `package.name` of the package in `directory`, for when nothing is built. It is read by its line: a build
/// script should not need a parser of TOML for a name.
pub(crate) fn package_name(directory: &Path) -> Result<String, Error> {
    let path = directory.join("Cargo.toml");
    let text = fs::read_to_string(&path).map_err(file(&path))?;
    name(&text).ok_or_else(|| file(&path)(io::Error::new(io::ErrorKind::InvalidData, "no package name")))
}

fn name(text: &str) -> Option<String> {
    let package = text.lines().skip_while(|line| line.trim() != "[package]").skip(1);
    let mut lines = package.take_while(|line| !line.trim_start().starts_with('['));
    lines.find_map(|line| {
        let (key, value) = line.split_once('=')?;
        let value = value.trim().strip_prefix(['"', '\''])?;
        (key.trim() == "name").then(|| value.split(['"', '\'']).next().map(str::to_owned))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prerequisites_of_a_rule() {
        let text = "/t/a.elf: /s/lib.rs /s/with\\ space.rs /d/lib.rs\n\n/s/lib.rs:\n";
        assert_eq!(read(text), ["/s/lib.rs", "/s/with space.rs", "/d/lib.rs"].map(PathBuf::from));
        assert!(read("").is_empty());
    }

    #[test]
    fn without_them_the_whole_package() {
        let files = of(Path::new("/nowhere/k"), &[PathBuf::from("/nowhere/k.elf")]).unwrap();
        assert_eq!(files, ["/nowhere/k", "/nowhere/k/Cargo.toml"].map(PathBuf::from));
    }

    #[test]
    fn names() {
        assert_eq!(name("[package]\nname = \"my-kernels\" # it\n"), Some("my-kernels".to_owned()));
        assert_eq!(name("[lib]\nname = \"x\"\n[package]\nversion = \"1\"\nname='y'"), Some("y".to_owned()));
        assert_eq!(name("[package]\n[lib]\nname = \"x\""), None);
    }
}
