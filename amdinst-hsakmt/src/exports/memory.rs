//! Memory: allocating, registering, mapping, asking.

use std::ffi::c_void;

use super::{put, status, take_all};
use crate::abi::{MemoryFlags, Outcome, PointerInfo, Status, pointer_kind};
use crate::driver::{Driver, driver, give_back};

/// Allocates memory on a node.
///
/// # Safety
/// See the module.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn hsaKmtAllocMemory(
    node: u32,
    size: u64,
    flags: MemoryFlags,
    address: *mut *mut c_void,
) -> u32 {
    status(|| {
        let driver = driver()?;
        if address.is_null() || flags.gds() {
            return Err(Status::InvalidParameter);
        }
        if node != 0 {
            driver.devices.gpu_index(node)?;
        }
        // SAFETY: the runtime's.
        let wanted = unsafe { address.read_unaligned() }.expose_provenance() as u64;
        let fixed = flags.fixed_address().then_some(wanted);
        let got = driver.allocations().allocate(
            node,
            size,
            flags,
            fixed,
            driver.devices.settings.profile.memory,
        )?;
        // SAFETY: the runtime's.
        unsafe { put(address, std::ptr::with_exposed_provenance_mut(got as usize)) }
    })
}

/// Frees memory.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn hsaKmtFreeMemory(address: *mut c_void, _size: u64) -> u32 {
    let address = address.expose_provenance() as u64;
    status(|| give_back(|driver| driver.allocations().free(&driver.devices.gpus, address)))
}

fn register(address: *mut c_void, size: u64, flags: MemoryFlags) -> Outcome {
    driver()?.allocations().register(address.expose_provenance() as u64, size, flags)
}

/// Notes memory of the program's own.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn hsaKmtRegisterMemory(address: *mut c_void, size: u64) -> u32 {
    status(|| register(address, size, MemoryFlags::default()))
}

/// Notes memory of the program's own, for some nodes.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn hsaKmtRegisterMemoryToNodes(
    address: *mut c_void,
    size: u64,
    _count: u64,
    _nodes: *mut u32,
) -> u32 {
    status(|| register(address, size, MemoryFlags::default()))
}

/// Notes memory of the program's own.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn hsaKmtRegisterMemoryWithFlags(
    address: *mut c_void,
    size: u64,
    flags: MemoryFlags,
) -> u32 {
    status(|| register(address, size, flags))
}

/// Forgets such memory.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn hsaKmtDeregisterMemory(address: *mut c_void) -> u32 {
    let address = address.expose_provenance() as u64;
    status(|| give_back(|driver| driver.allocations().deregister(&driver.devices.gpus, address)))
}

/// Maps a block and says where GPUs find it.
///
/// # Safety
/// `alternate` is valid for a write, or null.
unsafe fn map(driver: &Driver, address: *mut c_void, nodes: &[u32], alternate: *mut u64) -> Outcome {
    let address = address.expose_provenance() as u64;
    let device = driver.allocations().map(&driver.devices.gpus, address, nodes)?;
    // SAFETY: the caller's.
    if alternate.is_null() { Ok(()) } else { unsafe { put(alternate, device) } }
}

/// Lets all GPUs see a block.
///
/// # Safety
/// See the module.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn hsaKmtMapMemoryToGPU(
    address: *mut c_void,
    _size: u64,
    alternate: *mut u64,
) -> u32 {
    status(|| {
        let driver = driver()?;
        let nodes: Vec<u32> = driver.devices.gpus.iter().map(|gpu| gpu.node).collect();
        // SAFETY: the runtime's.
        unsafe { map(driver, address, &nodes, alternate) }
    })
}

/// Lets some GPUs see a block.
///
/// # Safety
/// See the module.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn hsaKmtMapMemoryToGPUNodes(
    address: *mut c_void,
    _size: u64,
    alternate: *mut u64,
    _flags: u32,
    count: u64,
    nodes: *mut u32,
) -> u32 {
    status(|| {
        let driver = driver()?;
        // SAFETY: the runtime's.
        unsafe {
            let nodes = take_all(nodes, count)?;
            map(driver, address, &nodes, alternate)
        }
    })
}

/// Hides a block from all GPUs.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn hsaKmtUnmapMemoryToGPU(address: *mut c_void) -> u32 {
    let address = address.expose_provenance() as u64;
    status(|| give_back(|driver| driver.allocations().unmap(&driver.devices.gpus, address)))
}

/// What a pointer points to.
///
/// # Safety
/// See the module.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn hsaKmtQueryPointerInfo(
    pointer: *const c_void,
    info: *mut PointerInfo,
) -> u32 {
    status(|| {
        let driver = driver()?;
        let mut value = PointerInfo {
            kind: pointer_kind::UNKNOWN,
            node: 0,
            flags: MemoryFlags::default(),
            cpu_address: 0,
            gpu_address: 0,
            bytes: 0,
            registered_nodes: 0,
            mapped_nodes: 0,
            registered: std::ptr::null(),
            mapped: std::ptr::null(),
            user_data: std::ptr::null_mut(),
        };
        let allocations = driver.allocations();
        let Some(block) = allocations.around(pointer.expose_provenance() as u64) else {
            // SAFETY: the runtime's.
            return unsafe { put(info, value) }.and(Err(Status::Error));
        };
        value.kind = block.pointer_kind();
        value.node = block.node;
        value.flags = block.flags;
        let registered = value.kind == pointer_kind::REGISTERED;
        value.cpu_address =
            if registered || block.node == 0 || block.flags.host_access() { block.address } else { 0 };
        value.gpu_address = block.device;
        value.bytes = block.size;
        value.mapped_nodes = block.mapped.len() as u32;
        // The runtime reads the list under its own lock, which it holds while it changes mappings.
        value.mapped = block.mapped.as_ptr();
        value.user_data = std::ptr::with_exposed_provenance_mut(block.user_data);
        // SAFETY: the runtime's.
        unsafe { put(info, value) }
    })
}

/// Notes a pointer of the caller's with a block.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn hsaKmtSetMemoryUserData(pointer: *const c_void, data: *mut c_void) -> u32 {
    status(|| {
        let mut allocations = driver()?.allocations();
        let block =
            allocations.around_mut(pointer.expose_provenance() as u64).ok_or(Status::InvalidParameter)?;
        block.user_data = data.expose_provenance();
        Ok(())
    })
}

/// Where caches may hold what: the emulated GPUs have none.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn hsaKmtSetMemoryPolicy(
    node: u32,
    _default: u32,
    _alternate: u32,
    _address: *mut c_void,
    _size: u64,
) -> u32 {
    status(|| driver()?.devices.gpu_index(node).map(drop))
}
