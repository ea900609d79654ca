//! What `manifest.json` says that the log does not: the processors of the recorded machine.

use serde_json::Value;

use crate::folder::Folder;

/// Bytes of a manifest, at most.
const MOST: u64 = 4 << 20;

/// The processors, as `gfx90a`; none if there is no manifest, or one without them.
pub(super) fn processors(folder: &Folder) -> Vec<String> {
    let Ok(bytes) = folder.head("manifest.json", MOST) else { return Vec::new() };
    let Ok(manifest) = serde_json::from_slice::<Value>(&bytes) else { return Vec::new() };
    let Some(devices) = manifest["metadata"]["devices"].as_array() else { return Vec::new() };
    let name = |device: &Value| {
        let name = device["properties"]["gcn_arch_name"].as_str().or(device["gcn_arch_name"].as_str())?;
        Some(name.split(':').next().unwrap_or(name).to_owned())
    };
    devices.iter().filter_map(name).collect()
}
