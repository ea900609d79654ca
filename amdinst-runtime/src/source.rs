//! Where the running test's sources are.

use std::path::PathBuf;
use std::sync::OnceLock;

use amdinst_core::instrument::ProbeMap;
use amdinst_report::Sources;

/// The directory of the workspace that the running test belongs to, where cargo keeps `Cargo.lock`. The
/// compiler names files from there, and so do we.
pub(crate) fn workspace_root() -> Option<&'static str> {
    static ROOT: OnceLock<Option<String>> = OnceLock::new();
    let find = || {
        let package = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?);
        let root = package.ancestors().find(|directory| directory.join("Cargo.lock").is_file())?;
        Some(root.to_str()?.to_owned())
    };
    ROOT.get_or_init(find).as_deref()
}

/// Tells each branch at a line of its source that has one, where that can be read.
pub(crate) fn place(probes: &mut ProbeMap) {
    let sources = Sources::new(workspace_root().unwrap_or_default(), &[]);
    probes.kernels.iter_mut().for_each(|kernel| sources.place(kernel));
}
