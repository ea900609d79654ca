//! Clocks, and functions that the emulated GPUs have nothing behind.

use std::ffi::c_void;

use super::{put, status};
use crate::abi::{ClockCounters, Outcome, Status};
use crate::clock;
use crate::driver::driver;

/// The clocks, now.
///
/// # Safety
/// See the module.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn hsaKmtGetClockCounters(_node: u32, counters: *mut ClockCounters) -> u32 {
    status(|| {
        driver()?;
        let (gpu, system) = (clock::gpu(), clock::system());
        let value = ClockCounters { gpu, cpu: system, system, system_hz: clock::SYSTEM_HZ };
        // SAFETY: the runtime's.
        unsafe { put(counters, value) }
    })
}

/// The runtime's trap handler: the emulator reports traps itself.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn hsaKmtSetTrapHandler(
    node: u32,
    _handler: *mut c_void,
    _handler_size: u64,
    _buffer: *mut c_void,
    _buffer_size: u64,
) -> u32 {
    status(|| driver()?.devices.gpu_index(node).map(drop))
}

/// Whether pages may fault and come back: never.
///
/// # Safety
/// See the module.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn hsaKmtGetXNACKMode(enabled: *mut i32) -> u32 {
    // SAFETY: the runtime's.
    status(|| driver().and_then(|_| unsafe { put(enabled, 0) }))
}

/// Asks for faults that come back.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn hsaKmtSetXNACKMode(enabled: i32) -> u32 {
    status(|| if enabled == 0 { Ok(()) } else { NONE })
}

/// What functions say that need something which is not emulated.
const NONE: Outcome = Err(Status::NotSupported);

/// Functions that are not supported: their arguments are not looked at.
macro_rules! unsupported {
    ($($(#[$doc:meta])* $name:ident($($argument:ty),*);)*) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub(crate) extern "C" fn $name($(_: $argument),*) -> u32 {
                status(|| NONE)
            }
        )*
    };
}

unsupported! {
    /// A debugger's attachment. The runtime then has errors told by a queue's inactive signal.
    hsaKmtRuntimeEnable(*mut c_void, bool);
    /// The end of that.
    hsaKmtRuntimeDisable();
    /// The debugger's view of a queue.
    hsaKmtGetQueueInfo(u64, *mut c_void);
    /// Memory shared with another process.
    hsaKmtShareMemory(*mut c_void, u64, *mut c_void);
    /// Memory that another process shares.
    hsaKmtRegisterSharedHandle(*const c_void, *mut c_void, *mut u64);
    /// Memory that another process shares.
    hsaKmtRegisterSharedHandleToNodes(*const c_void, *mut c_void, *mut u64, u64, *mut u32);
    /// A buffer of a graphics driver.
    hsaKmtRegisterGraphicsHandleToNodes(u64, *mut c_void, u64, *mut u32);
    /// A buffer of a graphics driver.
    hsaKmtMapGraphicHandle(u32, u64, u64, u64, u64, *mut u64);
    /// A buffer of a graphics driver.
    hsaKmtUnmapGraphicHandle(u32, u64, u64);
    /// Attributes of memory that migrates.
    hsaKmtSVMSetAttr(*mut c_void, u64, u32, *mut c_void);
    /// Attributes of memory that migrates.
    hsaKmtSVMGetAttr(*mut c_void, u64, u32, *mut c_void);
    /// Another process's memory.
    hsaKmtProcessVMRead(u32, *mut c_void, u64, *mut c_void, u64, *mut u64);
    /// Another process's memory.
    hsaKmtProcessVMWrite(u32, *mut c_void, u64, *mut c_void, u64, *mut u64);
    /// Debugging.
    hsaKmtDbgRegister(u32);
    /// Debugging.
    hsaKmtDbgUnregister(u32);
    /// Debugging.
    hsaKmtDbgWavefrontControl(u32, u32, u32, u32, *mut c_void);
    /// Debugging.
    hsaKmtDbgAddressWatch(u32, u32, *mut c_void, *mut c_void, *mut u64, *mut c_void);
    /// Debugging.
    hsaKmtGetKernelDebugTrapVersionInfo(*mut u32, *mut u32);
    /// Performance counters.
    hsaKmtPmcGetCounterProperties(u32, *mut c_void);
    /// Performance counters.
    hsaKmtPmcRegisterTrace(u32, u32, *mut c_void, *mut c_void);
    /// Performance counters.
    hsaKmtPmcUnregisterTrace(u32, u64);
    /// Performance counters.
    hsaKmtPmcAcquireTraceAccess(u32, u64);
    /// Performance counters.
    hsaKmtPmcReleaseTraceAccess(u32, u64);
    /// Performance counters.
    hsaKmtPmcStartTrace(u64, *mut c_void, u64);
    /// Performance counters.
    hsaKmtPmcQueryTrace(u64);
    /// Performance counters.
    hsaKmtPmcStopTrace(u64);
    /// Streamed performance counters.
    hsaKmtSPMAcquire(u32);
    /// Streamed performance counters.
    hsaKmtSPMRelease(u32);
    /// Streamed performance counters.
    hsaKmtSPMSetDestBuffer(u32, u32, *mut u32, *mut u32, *mut c_void, *mut bool);
}
