//! The global allocator of kernels.
//!
//! The link step defines the memory (`__amdinst_heap`) and the function that takes some: of all that is free,
//! the first bytes, with one atomic addition. Whoever launches a kernel empties it first.
//!
//! Nothing is given back before that. Another wave that took the same bytes would have to wait until those
//! who had them are done with them, which no wave can without waiting for all its memory accesses.

use core::alloc::{GlobalAlloc, Layout};
use core::ptr;

unsafe extern "C" {
    /// Takes memory; null if there is none left.
    #[link_name = "__amdinst_allocate"]
    fn allocate(size: u64, align: u64) -> *mut u8;
}

/// All sizes are multiples of it.
const UNIT: usize = 16;

struct Heap;

#[global_allocator]
static HEAP: Heap = Heap;

// SAFETY: blocks are disjoint, for the word that says where the next one begins is an atomic.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: any size and alignment will do.
        unsafe { allocate(layout.size() as u64, layout.align() as u64) }
    }

    unsafe fn dealloc(&self, _block: *mut u8, _layout: Layout) {}

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // The block has room already. One that gets smaller keeps what it has.
        if size <= layout.size().next_multiple_of(UNIT) {
            return block;
        }
        // SAFETY: the layout is that of a block, with another size.
        let other = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !other.is_null() {
            // SAFETY: both blocks have so many bytes, and they are two.
            unsafe { ptr::copy_nonoverlapping(block, other, layout.size()) };
        }
        other
    }
}
