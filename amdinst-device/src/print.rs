//! What kernels print.
//!
//! The code object has a buffer (`__amdinst_printed`, which the link step defines): how many bytes are taken, how many lines found no
//! room, then the lines. A line is its length, workgroup and work-item in x, y and z (u32, little-endian), and its text, up to a
//! multiple of four. A work-item formats its line in scratch memory first, and takes room for all of it at once, so that lines stay whole.

use core::fmt;

/// Prints a line from a kernel, as `std::println!` does on the host.
///
/// The harness and `cargo amdinst run` show what was printed behind the launch, each line with its workgroup and work-item; lines of one workgroup
/// in their order. The buffer has room for 64 KiB, and a line for 240 bytes; how many were lost is told.
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

/// Prints a line.
#[cfg(target_arch = "amdgpu")]
#[doc(hidden)]
#[inline(never)]
pub fn print(arguments: fmt::Arguments<'_>) {
    let mut line = Line { bytes: [0; MOST], len: 0 };
    // It fails where a `Display` of the user's does; what was written before is printed.
    let _ = fmt::Write::write_fmt(&mut line, arguments);
    line.print();
}

/// Bytes of a line's text.
#[cfg(target_arch = "amdgpu")]
const MOST: usize = 240;
/// Words before the text: length, workgroup, work-item.
#[cfg(target_arch = "amdgpu")]
const HEAD: usize = 7;
/// Bytes of the buffer's lines.
#[cfg(target_arch = "amdgpu")]
const ROOM: u32 = 1 << 16;

#[cfg(target_arch = "amdgpu")]
struct Line {
    bytes: [u8; MOST],
    len: usize,
}

#[cfg(target_arch = "amdgpu")]
impl fmt::Write for Line {
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

#[cfg(target_arch = "amdgpu")]
impl Line {
    fn print(&self) {
        use core::sync::atomic::Ordering::Relaxed;
        unsafe extern "C" {
            // The link step defines it.
            #[link_name = "__amdinst_print_buffer"]
            safe fn print_buffer() -> *mut u32;
        }
        let buffer = print_buffer();
        // SAFETY: the buffer's first two words, which are atomics to all.
        let (taken, lost) = unsafe { (crate::atomic_u32(buffer), crate::atomic_u32(buffer.add(1))) };
        let words = HEAD + self.len.div_ceil(4);
        let size = 4 * words as u32;
        // So that the sum never comes round.
        let full = taken.load(Relaxed) > ROOM;
        let begin = if full { ROOM } else { taken.fetch_add(size, Relaxed) };
        if begin.saturating_add(size) > ROOM {
            lost.fetch_add(1, Relaxed);
            return;
        }
        let head = [
            self.len as u32,
            crate::workgroup_id_x(),
            crate::workgroup_id_y(),
            crate::workgroup_id_z(),
            crate::workitem_id_x(),
            crate::workitem_id_y(),
            crate::workitem_id_z(),
        ];
        // SAFETY: within the buffer, and this work-item's alone: others have taken room behind or before it.
        let place = unsafe { buffer.add(2 + begin as usize / 4) };
        for (word, value) in head.into_iter().enumerate() {
            // SAFETY: as above.
            unsafe { place.add(word).write(value) };
        }
        for (word, bytes) in self.bytes.chunks_exact(4).take(self.len.div_ceil(4)).enumerate() {
            let value = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            // SAFETY: as above.
            unsafe { place.add(HEAD + word).write(value) };
        }
    }
}
