//! Opening the driver, and what the machine is.

use super::{put, put_all, status};
use crate::abi::{
    CacheProperties, IoLinkProperties, MemoryProperties, NodeProperties, SystemProperties, TileConfig,
    VersionInfo,
};
use crate::driver::{self, driver};
use crate::topology;

/// Begins the library's use.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn hsaKmtOpenKFD() -> u32 {
    status(driver::open)
}

/// Ends what [`hsaKmtOpenKFD`] began.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn hsaKmtCloseKFD() -> u32 {
    status(|| driver::give_back(|_| driver::close()))
}

/// The driver's version.
///
/// # Safety
/// See the module.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn hsaKmtGetVersion(version: *mut VersionInfo) -> u32 {
    // That of ROCm 5.2's kernel module, which tells whether SRAM is protected.
    let value = VersionInfo { major: 1, minor: 8 };
    // SAFETY: the runtime's.
    status(|| driver().and_then(|_| unsafe { put(version, value) }))
}

/// How many nodes there are.
///
/// # Safety
/// See the module.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn hsaKmtAcquireSystemProperties(properties: *mut SystemProperties) -> u32 {
    // SAFETY: the runtime's.
    status(|| unsafe { put(properties, topology::system(&driver()?.devices.settings)) })
}

/// Nothing is held.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn hsaKmtReleaseSystemProperties() -> u32 {
    status(|| Ok(()))
}

/// A node.
///
/// # Safety
/// See the module.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn hsaKmtGetNodeProperties(node: u32, properties: *mut NodeProperties) -> u32 {
    // SAFETY: the runtime's.
    status(|| unsafe { put(properties, topology::node(&driver()?.devices.settings, node)?) })
}

/// A node's memories.
///
/// # Safety
/// See the module.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn hsaKmtGetNodeMemoryProperties(
    node: u32,
    room: u32,
    properties: *mut MemoryProperties,
) -> u32 {
    // SAFETY: the runtime's.
    status(|| unsafe { put_all(properties, room, topology::memory(&driver()?.devices.settings, node)?) })
}

/// A node's caches, which all its processors share.
///
/// # Safety
/// See the module.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn hsaKmtGetNodeCacheProperties(
    node: u32,
    _processor: u32,
    room: u32,
    properties: *mut CacheProperties,
) -> u32 {
    // SAFETY: the runtime's.
    status(|| unsafe { put_all(properties, room, topology::caches(&driver()?.devices.settings, node)?) })
}

/// A node's links.
///
/// # Safety
/// See the module.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn hsaKmtGetNodeIoLinkProperties(
    node: u32,
    room: u32,
    properties: *mut IoLinkProperties,
) -> u32 {
    // SAFETY: the runtime's.
    status(|| unsafe { put_all(properties, room, topology::links(&driver()?.devices.settings, node)?) })
}

/// How images are tiled: the emulated GPUs have none.
///
/// # Safety
/// See the module.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn hsaKmtGetTileConfig(node: u32, config: *mut TileConfig) -> u32 {
    status(|| {
        driver()?.devices.gpu_index(node)?;
        if config.is_null() {
            return Err(crate::abi::Status::InvalidParameter);
        }
        // SAFETY: the runtime's. Its two arrays stay as they are, their counts become zero.
        unsafe {
            let mut value = config.read_unaligned();
            (value.tile_count, value.macro_tile_count) = (0, 0);
            (value.address_config, value.banks, value.ranks) = (0, 0, 0);
            config.write_unaligned(value);
        }
        Ok(())
    })
}
