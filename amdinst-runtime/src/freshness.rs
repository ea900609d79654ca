//! Whether a code object is what its sources would give now: never a test that passes on kernels older than
//! their source.
//!
//! The build notes the files that a code object was made from ([`Origin`]). A file whose size and time are as
//! noted is the same; of one that differs in time alone, a text's hash decides. So a look costs a few calls
//! of the system, and a file that was only touched is no change.
//!
//! # When it is checked
//! The manifest notes of each code object what it was made from: sources and `Cargo.toml`s by size, time and
//! hash, compiler and LLVM's tools by size and time, the package's features. The first launch of a process
//! compares these with the files as they are, and the features with those that `#[kernel]` noted when the
//! test was compiled. If they differ, the command that built them is run again (`rebuild`). If that fails,
//! the test fails and says what to run. `cargo amdinst test` has just built them and says so
//! (`AMDINST_FRESH`).

use std::path::Path;
use std::time::UNIX_EPOCH;

use amdinst_format::manifest::{FileState, Origin};
use amdinst_format::report::run::content_hash;

/// A file as it is now; a text with the hash of its content. `None` if there is none.
pub fn state(path: &Path, is_text: bool) -> Option<FileState> {
    let metadata = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let written = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let hash = if is_text { Some(content_hash(&std::fs::read(path).ok()?)) } else { None };
    Some(FileState {
        path: path.to_str()?.to_owned(),
        size: metadata.len(),
        modified: u64::try_from(written.as_nanos()).ok()?,
        hash,
    })
}

/// What differs from when the code object was built, in words; `None` if nothing does. `features` are those
/// that the test's own copy of the package was compiled with, if that is known.
pub fn change(origin: &Origin, features: Option<&[String]>) -> Option<String> {
    if let Some(features) = features
        && features != origin.features
    {
        let named = |features: &[String]| match features {
            [] => "no feature".to_owned(),
            [one] => format!("feature `{one}`"),
            more => format!("features `{}`", more.join(",")),
        };
        return Some(format!(
            "they were built with {}, and this test with {}",
            named(&origin.features),
            named(features)
        ));
    }
    let mut gone = None;
    for file in &origin.files {
        let path = Path::new(&file.path);
        let Some(now) = state(path, false) else {
            gone.get_or_insert(file);
            continue;
        };
        if (now.size, now.modified) == (file.size, file.modified) {
            continue;
        }
        let same = now.size == file.size
            && file.hash.is_some()
            && state(path, true).is_some_and(|now| now.hash == file.hash);
        if !same {
            return Some(format!("{} has changed since they were built", file.path));
        }
    }
    gone.map(|file| format!("{}, which they were built from, is gone", file.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(files: Vec<FileState>) -> Origin {
        Origin { files, features: vec!["fast".to_owned()], ..Origin::default() }
    }

    #[test]
    fn a_touched_file_is_the_same_and_a_changed_one_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let (text, program) = (directory.path().join("lib.rs"), directory.path().join("rustc"));
        std::fs::write(&text, "one").unwrap();
        std::fs::write(&program, "one").unwrap();
        let origin = origin(vec![state(&text, true).unwrap(), state(&program, false).unwrap()]);
        assert_eq!(change(&origin, None), None);
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
        let touch =
            |path| std::fs::File::options().append(true).open(path).unwrap().set_modified(later).unwrap();
        touch(&text);
        assert_eq!(change(&origin, None), None);
        std::fs::write(&text, "two").unwrap();
        touch(&text);
        assert!(change(&origin, None).unwrap().ends_with("lib.rs has changed since they were built"));
        std::fs::write(&text, "one").unwrap();
        touch(&program);
        assert!(change(&origin, None).unwrap().ends_with("rustc has changed since they were built"));
        std::fs::remove_file(&program).unwrap();
        assert!(change(&origin, None).unwrap().ends_with("rustc, which they were built from, is gone"));
    }

    #[test]
    fn features_are_compared_where_they_are_known() {
        let origin = origin(Vec::new());
        assert_eq!(change(&origin, Some(&["fast".to_owned()])), None);
        assert_eq!(
            change(&origin, Some(&[])).unwrap(),
            "they were built with feature `fast`, and this test with no feature"
        );
    }
}
