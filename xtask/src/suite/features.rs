//! That cargo builds the emulator once for all steps.

use std::collections::BTreeSet;

/// Every package with its features, as cargo builds them for the tests of what `selection` selects.
fn packages(selection: &[&str]) -> BTreeSet<String> {
    let tree =
        ["tree", "--offline", "--edges", "normal,build,dev", "--prefix", "none", "--format", "{p} [{f}]"];
    let output = crate::cargo().args(tree).args(selection).output().expect("cargo tree");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("cargo prints UTF-8");
    text.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}

#[test]
fn kernel_packages_ask_for_the_features_that_all_others_ask_for_together() {
    let others = packages(&[&["--workspace"][..], &super::WITHOUT_KERNELS].concat());
    for package in super::WITHOUT_KERNELS.iter().filter(|word| **word != "--exclude") {
        let alone = packages(&["--package", package]);
        let missing: Vec<_> = alone.difference(&others).filter(|line| !line.starts_with(package)).collect();
        assert!(missing.is_empty(), "{package}: add to workspace-hack what these lack: {missing:#?}");
    }
}
