//! HIP 5, 6 and 7 are told apart by runtimes built here, which differ as those do.

use std::process::Command;

use hip_sys::properties::{Layout, PropertiesError, target_name};
use hip_sys::version::Version;
use hip_sys::{Hip, hipError_t};
use tempfile::TempDir;

/// A runtime made with these definitions.
struct Stub {
    hip: Hip,
    _directory: TempDir,
}

fn stub(definitions: &[&str]) -> Stub {
    let directory = tempfile::tempdir().unwrap();
    let library = directory.path().join("libamdhip64.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stub/runtime.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", source, "-o"]).arg(&library);
    compiler.args(definitions.iter().map(|definition| format!("-D{definition}")));
    let output = compiler.output().expect("running the C compiler `cc`");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // SAFETY: a library without initialisers.
    let hip = unsafe { Hip::new(&library) }.expect("loading it");
    Stub { hip, _directory: directory }
}

const OLD: &str = r#"OLD="gfx906:sramecc+:xnack-""#;
const NEW: &str = r#"NEW="gfx942:sramecc+:xnack-""#;

#[test]
fn hip_5_is_read_in_the_old_layout() {
    let stub = stub(&["VERSION=50221153", OLD]);
    assert_eq!(Version::of(&stub.hip).unwrap().to_string(), "HIP 5.2.21153");
    assert_eq!(Layout::of(&stub.hip), Ok(Layout::R0000));
    assert_eq!(target_name(&stub.hip, 0).as_deref(), Ok("gfx906:sramecc+:xnack-"));
    assert_eq!(target_name(&stub.hip, 1), Err(PropertiesError::Hip(hipError_t::hipErrorInvalidDevice)));
}

/// Both functions are there, each with its own layout; the old one is for old programs.
#[test]
fn hip_6_and_7_are_read_in_the_new_layout() {
    for (version, major) in [("VERSION=60032830", 6), ("VERSION=70051831", 7)] {
        let stub = stub(&[version, OLD, NEW]);
        assert_eq!(Version::of(&stub.hip).map(|version| version.major), Some(major));
        assert_eq!(Layout::of(&stub.hip), Ok(Layout::R0600));
        assert_eq!(target_name(&stub.hip, 0).as_deref(), Ok("gfx942:sramecc+:xnack-"));
    }
}

/// A structure that nobody vouches for is not read.
#[test]
fn what_does_not_fit_together_is_refused() {
    let layout = |definitions: &[&str]| Layout::of(&stub(definitions).hip);
    let version = |number| Version::from_number(number);
    // Newer than the layout's change, without the new function.
    assert_eq!(layout(&["VERSION=60032830", OLD]), Err(PropertiesError::Layout(version(60_032_830))));
    // Older than it, with the new function.
    assert_eq!(layout(&["VERSION=50221153", OLD, NEW]), Err(PropertiesError::Layout(version(50_221_153))));
    // Only the old function, and no version.
    assert_eq!(layout(&[OLD]), Err(PropertiesError::Layout(None)));
    assert_eq!(layout(&["VERSION=50221153"]), Err(PropertiesError::Missing));
    // No version, but a function that has its layout in its name.
    assert_eq!(layout(&[NEW]), Ok(Layout::R0600));
    // A name that is none.
    let stub = stub(&["VERSION=60032830", r#"NEW="""#]);
    assert_eq!(target_name(&stub.hip, 0), Err(PropertiesError::Name));
}
