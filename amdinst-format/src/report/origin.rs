//! Whose a source file is, and how people read its name.
//!
//! A place in `libm` or in `core` says little to the writer of a kernel: they want the line of their own that
//! led there. This is the one rule for it, for branches, faults and times alike: [`own_frame`] of a chain of
//! frames, [`Origin`] of a file, [`short`] for its name.
//!
//! Only the path is looked at. The user's are files of the workspace, and those that no rule here knows: a
//! package that is a path dependency is somebody's own work.

use std::borrow::Cow;

use super::Location;
use crate::probes::SiteFrame;

/// Whose a source file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin<'a> {
    /// The user's.
    Own,
    /// A package's that cargo fetched or vendored, or that comes with this tool.
    Dependency {
        /// Its name, with the version or commit if the path has one: `libm-0.2.16`.
        package: Cow<'a, str>,
        /// The file in it: `src/math/powf.rs`.
        path: &'a str,
    },
    /// Rust's own library's.
    Library {
        /// Its name: `core`.
        package: &'a str,
        /// The file in it: `src/iter/range.rs`.
        path: &'a str,
    },
}

impl<'a> Origin<'a> {
    /// Of a file, as debug information or a report names it.
    pub fn of(file: &'a str) -> Self {
        if let Some((package, path)) = library(file).and_then(|rest| rest.split_once('/')) {
            return Self::Library { package, path };
        }
        match dependency(file) {
            Some((package, path)) => Self::Dependency { package, path },
            None => Self::Own,
        }
    }

    /// Whether it is the user's.
    pub const fn is_own(&self) -> bool {
        matches!(self, Self::Own)
    }

    /// The package, if it is not the user's.
    pub fn package(&self) -> Option<&str> {
        match self {
            Self::Own => None,
            Self::Dependency { package, .. } => Some(package),
            Self::Library { package, .. } => Some(package),
        }
    }
}

/// What follows `library/` in a file of Rust's own library: under the toolchain, under rustc's stand-in for
/// its own checkout, or, where `core` was compiled in its own directory, at the path's beginning.
fn library(file: &str) -> Option<&str> {
    if let Some((_, rest)) = file.split_once("/rustlib/src/rust/library/") {
        return Some(rest);
    }
    if let Some(rest) = file.strip_prefix("/rustc/") {
        return Some(rest.split_once("/library/")?.1);
    }
    file.strip_prefix("library/").filter(|rest| LIBRARIES.iter().any(|name| rest.starts_with(name)))
}

/// What a relative path into Rust's own library begins with.
const LIBRARIES: [&str; 4] = ["core/", "alloc/", "std/", "compiler-builtins/"];

/// The package that a file belongs to, where cargo keeps packages that are no part of the workspace, and the
/// file in it.
fn dependency(file: &str) -> Option<(Cow<'_, str>, &str)> {
    // `~/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/libm-0.2.16/src/lib.rs`
    if let Some((_, rest)) = file.split_once("/registry/src/") {
        let (package, path) = rest.split_once('/')?.1.split_once('/')?;
        return Some((package.into(), path));
    }
    // Debian's packages of crates: `/usr/share/cargo/registry/libm-0.2.16/src/lib.rs`.
    if let Some((_, rest)) = file.split_once("/share/cargo/registry/") {
        let (package, path) = rest.split_once('/')?;
        return Some((package.into(), path));
    }
    // `~/.cargo/git/checkouts/libm-2fd7a8dc5d0f1a44/7ad3a1b/src/lib.rs`: the repository's name and the
    // commit.
    if let Some((_, rest)) = file.split_once("/git/checkouts/") {
        let (repository, rest) = rest.split_once('/')?;
        let (commit, path) = rest.split_once('/')?;
        let name = repository.rsplit_once('-').map_or(repository, |(name, _)| name);
        return Some((format!("{name}-{commit}").into(), path));
    }
    // `cargo vendor`: `vendor/libm/src/lib.rs`.
    let vendored = file.strip_prefix("vendor/").or_else(|| Some(file.split_once("/vendor/")?.1));
    if let Some((package, path)) = vendored.and_then(|rest| rest.split_once('/')) {
        return Some((package.into(), path));
    }
    // A checkout of this tool.
    let at = file.find("amdinst-device/src/").filter(|&at| at == 0 || file[..at].ends_with('/'))?;
    let (package, path) = file[at..].split_once('/')?;
    Some((package.into(), path))
}

/// A file's name for people: the user's as it is, others from their package on
/// (`libm-0.2.16/src/math/powf.rs`, `core/src/iter/range.rs`).
pub fn short(file: &str) -> Cow<'_, str> {
    match Origin::of(file) {
        Origin::Own => file.into(),
        Origin::Dependency { package, path } => format!("{package}/{path}").into(),
        Origin::Library { package, path } => format!("{package}/{path}").into(),
    }
}

/// The nearest frame that is the user's, of a chain of calls, innermost first. `None` if there is none: in a
/// function that was not inlined nothing is known of its callers.
pub fn own_frame(frames: &[SiteFrame]) -> Option<&SiteFrame> {
    frames.iter().find(|frame| frame.file.as_deref().is_some_and(|file| Origin::of(file).is_own()))
}

impl Location {
    /// The place for people: the file by its [`short`] name.
    pub fn short(&self) -> String {
        let file = self.file.as_deref().map(|file| short(file).into_owned());
        Self { file, ..self.clone() }.to_string()
    }

    /// Whose the file is; that of a place without a file is the user's.
    pub fn origin(&self) -> Origin<'_> {
        self.file.as_deref().map_or(Origin::Own, Origin::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_a_file_is_and_its_name() {
        for (file, package, name) in [
            ("src/lib.rs", None, "src/lib.rs"),
            ("/home/me/work/kernels/src/lib.rs", None, "/home/me/work/kernels/src/lib.rs"),
            ("libm/src/math/powf.rs", None, "libm/src/math/powf.rs"),
            (
                "/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/libm-0.2.16/src/math/powf.rs",
                Some("libm-0.2.16"),
                "libm-0.2.16/src/math/powf.rs",
            ),
            (
                "/usr/share/cargo/registry/libm-0.2.16/src/math/powf.rs",
                Some("libm-0.2.16"),
                "libm-0.2.16/src/math/powf.rs",
            ),
            (
                "/root/.cargo/git/checkouts/fast-maths-2fd7a8dc5d0f1a44/7ad3a1b/crates/a/src/lib.rs",
                Some("fast-maths-7ad3a1b"),
                "fast-maths-7ad3a1b/crates/a/src/lib.rs",
            ),
            ("vendor/libm/src/lib.rs", Some("libm"), "libm/src/lib.rs"),
            ("/home/me/kernels/vendor/libm/src/lib.rs", Some("libm"), "libm/src/lib.rs"),
            ("amdinst-device/src/ids.rs", Some("amdinst-device"), "amdinst-device/src/ids.rs"),
            (
                "/opt/cargo-amdinst/amdinst-device/src/ids.rs",
                Some("amdinst-device"),
                "amdinst-device/src/ids.rs",
            ),
            ("my-amdinst-device/src/ids.rs", None, "my-amdinst-device/src/ids.rs"),
            (
                "/usr/lib/rustlib/src/rust/library/core/src/iter/range.rs",
                Some("core"),
                "core/src/iter/range.rs",
            ),
            ("/rustc/f2d3ce0bd/library/core/src/num/mod.rs", Some("core"), "core/src/num/mod.rs"),
            (
                "/rustc/f2d3ce0bd/library/compiler-builtins/libm/src/math/powf.rs",
                Some("compiler-builtins"),
                "compiler-builtins/libm/src/math/powf.rs",
            ),
            ("library/core/src/num/mod.rs", Some("core"), "core/src/num/mod.rs"),
            // Somebody's own package of that name.
            ("library/kernels/src/lib.rs", None, "library/kernels/src/lib.rs"),
            // Too short to be in a package.
            ("/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/odd", None, ""),
            ("", None, ""),
        ] {
            assert_eq!(Origin::of(file).package(), package, "{file}");
            assert_eq!(short(file), if name.is_empty() { file } else { name });
        }
    }

    #[test]
    fn the_nearest_frame_of_the_user() {
        let frame = |file: &str, line| SiteFrame {
            function: None,
            file: Some(file.into()),
            line: Some(line),
            column: None,
        };
        let core = frame("/rustc/f2d3ce0bd/library/core/src/num/mod.rs", 1);
        let libm = frame("/root/.cargo/registry/src/index.crates.io-1/libm-0.2.16/src/math/powf.rs", 2);
        let (inner, outer) = (frame("src/shade.rs", 3), frame("src/lib.rs", 4));
        let line = |frames: &[SiteFrame]| own_frame(frames).and_then(|frame| frame.line);
        assert_eq!(line(&[core.clone(), libm.clone(), inner, outer]), Some(3));
        // A function that was not inlined, and a frame without a file.
        assert_eq!(line(&[core, libm]), None);
        assert_eq!(line(&[SiteFrame { function: None, file: None, line: Some(1), column: None }]), None);
    }
}
