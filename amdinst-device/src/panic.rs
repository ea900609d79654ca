//! The panic handler.

use core::panic::PanicInfo;

/// Ends the wave with a trap. Nothing is formatted: there is nowhere to write to.
#[panic_handler]
fn panic(_info: &PanicInfo<'_>) -> ! {
    core::intrinsics::abort()
}
