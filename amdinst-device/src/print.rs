//! What kernels print.
//!
//! A work-item formats its line in scratch memory first. The link step defines the buffer of lines
//! (`__amdinst_printed`), and the function that adds one.

use core::fmt;

/// Prints a line from a kernel, as `std::println!` does on the host.
///
/// The harness and `cargo amdinst run` show what was printed behind the launch, each line with its workgroup
/// and work-item; lines of one workgroup in their order. The buffer has room for 64 KiB, and a line for 240
/// bytes; how many were lost is told.
///
/// ```
/// # fn main() {
/// amdinst_device::println!("{} and {:?}", 1, [2.5, 3.0]);
/// # }
/// ```
#[macro_export]
macro_rules! println {
    ($($arguments:tt)*) => {
        $crate::__private::print(::core::format_args!($($arguments)*))
    };
}

/// Prints a line.
#[cfg(not(target_arch = "amdgpu"))]
#[doc(hidden)]
pub fn print(arguments: fmt::Arguments<'_>) {
    std::println!("{arguments}");
}

/// Prints a line. Nothing is formatted if the text is known to the compiler.
#[cfg(target_arch = "amdgpu")]
#[doc(hidden)]
#[inline]
pub fn print(arguments: fmt::Arguments<'_>) {
    match arguments.as_str() {
        // SAFETY: so many bytes are there.
        Some(text) => unsafe { print_line(text.as_ptr(), text.len().min(MOST) as u32) },
        None => print_formatted(arguments),
    }
}

#[cfg(target_arch = "amdgpu")]
#[inline(never)]
fn print_formatted(arguments: fmt::Arguments<'_>) {
    let mut line = Line::<MOST>::new();
    // It fails where a `Display` of the user's does; what was written before is printed.
    let _ = fmt::Write::write_fmt(&mut line, arguments);
    // SAFETY: so many bytes are there.
    unsafe { print_line(line.bytes.as_ptr(), line.len as u32) };
}

/// Says where a work-item panics and why. It comes back if a trap is to follow.
#[cfg(all(target_arch = "amdgpu", amdinst_panic_messages))]
#[inline(never)]
pub(crate) fn say(info: &core::panic::PanicInfo<'_>) {
    let mut line = Line::<MOST_OF_PANIC>::new();
    if let Some(place) = info.location() {
        let _ = fmt::Write::write_fmt(&mut line, format_args!("{place}"));
    }
    let _ = fmt::Write::write_fmt(&mut line, format_args!("\n{}", info.message()));
    // SAFETY: so many bytes are there.
    unsafe { add_panic(line.bytes.as_ptr(), line.len as u32) };
}

#[cfg(target_arch = "amdgpu")]
unsafe extern "C" {
    /// Adds the text of a panic, `len` bytes at `text`, to the buffer for it, if the lane is the first that
    /// is active; then ends the wave, if whoever launched it wants that. The link step defines it.
    #[cfg(amdinst_panic_messages)]
    #[link_name = "__amdinst_panic"]
    fn add_panic(text: *const u8, len: u32);
    /// Adds a line of `len` bytes at `text` to the buffer. The link step defines it.
    #[link_name = "__amdinst_print"]
    fn print_line(text: *const u8, len: u32);
}

/// Bytes of a line's text.
#[cfg(target_arch = "amdgpu")]
const MOST: usize = 240;
/// Bytes of the text of a panic, with its place.
#[cfg(all(target_arch = "amdgpu", amdinst_panic_messages))]
const MOST_OF_PANIC: usize = 480;

#[cfg(target_arch = "amdgpu")]
struct Line<const MOST: usize> {
    bytes: [u8; MOST],
    len: usize,
}

#[cfg(target_arch = "amdgpu")]
impl<const MOST: usize> Line<MOST> {
    fn new() -> Self {
        Self { bytes: [0; MOST], len: 0 }
    }
}

#[cfg(target_arch = "amdgpu")]
impl<const MOST: usize> fmt::Write for Line<MOST> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for &byte in text.as_bytes() {
            if let Some(place) = self.bytes.get_mut(self.len) {
                *place = byte;
                self.len += 1;
            }
        }
        Ok(())
    }
}
