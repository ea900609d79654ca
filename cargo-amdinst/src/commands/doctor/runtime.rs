//! The HIP runtime: whether it is there, which version, and which code objects it loads.

use hip_sys::Hip;
use hip_sys::version::Version;

use super::{Area, Check};

const NAME: &str = "hip";
const CODE_OBJECTS: &str = "code objects";
const INSTALL: &str = "install ROCm's HIP runtime, on Debian `apt-get install libamdhip64-5`";

/// The version of code objects that the kernel toolchain writes unless told otherwise: LLVM's default.
const BUILT: u32 = 6;

/// The library's name, and the version that it says it has.
pub(super) type Loaded = Result<(&'static str, Option<Version>), String>;

/// Loads the library and asks for its version.
pub(super) fn load() -> Loaded {
    let (hip, name) = Hip::load().map_err(|error| error.to_string())?;
    Ok((name, Version::of(&hip)))
}

/// What that means on a machine with or without a GPU.
pub(super) fn checks(loaded: Loaded, has_gpu: bool) -> Vec<Check> {
    match loaded {
        Ok((library, version)) => {
            let told = version.map_or_else(
                || "its version is not known".to_owned(),
                |Version { major, minor, .. }| format!("HIP {major}.{minor}"),
            );
            let mut checks = vec![Check::ok(Area::Gpu, NAME, format!("{library}: {told}"))];
            checks.extend(version.map(code_objects));
            checks
        }
        Err(_) if !has_gpu => {
            let found = "no HIP runtime: `--device hip` and `cargo amdinst exec` need it, nothing else does";
            vec![Check::warning(Area::Gpu, NAME, found, INSTALL)]
        }
        Err(error) => vec![Check::error(Area::Gpu, NAME, error, INSTALL)],
    }
}

/// Which versions of code objects the runtime loads.
fn code_objects(version: Version) -> Check {
    let newest = version.newest_code_object();
    if newest >= BUILT {
        return Check::ok(Area::Gpu, CODE_OBJECTS, format!("versions 4 to {newest}"));
    }
    let Version { major, minor, .. } = version;
    let found = format!(
        "HIP {major}.{minor} loads versions up to {newest}; kernels are built as version {BUILT} by default"
    );
    let help = format!(
        "for `--device hip`: `--code-object-version {newest}`, or `code-object-version = {newest}` in \
         [package.metadata.amdinst]"
    );
    Check::warning(Area::Gpu, CODE_OBJECTS, found, help)
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::*;

    #[test]
    fn who_needs_the_runtime() {
        let statuses = |loaded: Loaded, has_gpu| {
            checks(loaded, has_gpu).iter().map(|check| check.status).collect::<Vec<_>>()
        };
        let missing = || Err("not there".to_owned());
        assert_eq!(statuses(missing(), false), [Status::Warning]);
        assert_eq!(statuses(missing(), true), [Status::Error]);
        assert_eq!(statuses(Ok(("lib", None)), true), [Status::Ok]);
        assert_eq!(
            statuses(Ok(("lib", Version::from_number(50_221_153))), true),
            [Status::Ok, Status::Warning]
        );
        assert_eq!(statuses(Ok(("lib", Version::from_number(60_342_131))), true), [Status::Ok, Status::Ok]);
    }

    #[test]
    fn versions() {
        let version = Version::from_number(50_221_153);
        assert_eq!(version, Some(Version { major: 5, minor: 2, patch: 21_153 }));
        let checks = checks(Ok(("libamdhip64.so.5", version)), false);
        assert_eq!(checks[0].found, "libamdhip64.so.5: HIP 5.2");
        assert!(checks[1].help.as_ref().unwrap().contains("--code-object-version 4"));
        let newer = code_objects(Version { minor: 4, ..version.unwrap() });
        assert!(newer.found.contains("up to 5") && newer.help.unwrap().contains("--code-object-version 5"));
    }
}
