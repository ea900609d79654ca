//! The panic handler.

use core::panic::PanicInfo;

unsafe extern "C" {
    /// LLVM's own, for `core`'s has another name in each half year's compilers.
    #[link_name = "llvm.trap"]
    safe fn trap() -> !;
}

/// Ends the wave with a trap. With `panic-messages`, it says before it why and where; without, no panic comes
/// here but traps where it stands.
#[panic_handler]
fn panic(_info: &PanicInfo<'_>) -> ! {
    #[cfg(amdinst_panic_messages)]
    crate::print::say(_info);
    trap()
}
