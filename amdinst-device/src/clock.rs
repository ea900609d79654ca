//! How much time passes in a kernel.

#[cfg(not(target_arch = "amdgpu"))]
use std::time::Instant;

/// A counter that goes on as the wave runs: of the processor's cycles, or of some fixed number of them. Only
/// differences mean something, and only those that one wave sees.
///
/// On RDNA 3 it has 20 bits: take differences modulo 2²⁰. In the emulator it counts instructions. On the host
/// it counts nanoseconds.
///
/// ```
/// let before = amdinst_device::clock();
/// assert!(amdinst_device::clock() >= before);
/// ```
#[inline(always)]
pub fn clock() -> u64 {
    #[cfg(target_arch = "amdgpu")]
    {
        unsafe extern "C" {
            #[link_name = "llvm.readcyclecounter"]
            safe fn read() -> u64;
        }
        read()
    }
    #[cfg(not(target_arch = "amdgpu"))]
    nanoseconds()
}

/// A counter that goes on at the same rate in all waves, whatever the processor's clock (100 MHz).
///
/// On the host it counts nanoseconds.
///
/// ```
/// let before = amdinst_device::realtime();
/// assert!(amdinst_device::realtime() >= before);
/// ```
#[inline(always)]
pub fn realtime() -> u64 {
    #[cfg(target_arch = "amdgpu")]
    {
        unsafe extern "C" {
            #[link_name = "llvm.readsteadycounter"]
            safe fn read() -> u64;
        }
        read()
    }
    #[cfg(not(target_arch = "amdgpu"))]
    nanoseconds()
}

#[cfg(not(target_arch = "amdgpu"))]
fn nanoseconds() -> u64 {
    use std::sync::OnceLock;
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64
}
