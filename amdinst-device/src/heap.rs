//! The global allocator of kernels.
//!
//! The link step defines the memory (`__amdinst_heap`): how many bytes are taken (u64), and behind 16 bytes those that are given out. It is
//! empty at the beginning of each launch. A block is taken from the end of what is taken, with one atomic addition, and
//! given back if it is the last one. Lanes that allocate together free together, so each freeing goes on as long as some lane of
//! the wave has given its block back: then all of them do, one after the other.

use core::alloc::{GlobalAlloc, Layout};
use core::ptr;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

use crate::wave;

unsafe extern "C" {
    /// Takes memory; null if there is none left.
    #[link_name = "__amdinst_allocate"]
    fn allocate(size: u64, align: u64) -> *mut u8;
    /// The heap, its head first.
    #[link_name = "__amdinst_heap_start"]
    safe fn heap() -> *mut u8;
}

/// Bytes of the heap's head.
const HEAD: u64 = 16;
/// What all sizes and addresses are multiples of.
const UNIT: u64 = 16;

struct Heap;

#[global_allocator]
static HEAP: Heap = Heap;

/// Where a block begins and ends, counted from the first byte that is given out.
fn place(block: *mut u8, size: usize) -> (u64, u64) {
    let begin = block as u64 - heap() as u64 - HEAD;
    (begin, begin + (size as u64).next_multiple_of(UNIT))
}

fn taken() -> &'static AtomicU64 {
    // SAFETY: the heap's first word, which is an atomic to all.
    unsafe { AtomicU64::from_ptr(heap().cast()) }
}

// SAFETY: blocks are disjoint, for the word that says where the next one begins is an atomic.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: any size and alignment will do.
        unsafe { allocate(layout.size() as u64, layout.align() as u64) }
    }

    #[inline(never)]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let (begin, end) = place(block, layout.size());
        loop {
            let done = taken().compare_exchange(end, begin, Relaxed, Relaxed).is_ok();
            if !wave::any(done) || done {
                return;
            }
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let ((_, end), (_, wanted)) = (place(block, layout.size()), place(block, size));
        // The block has room already. One that gets smaller keeps what it has.
        if wanted <= end {
            return block;
        }
        // SAFETY: the layout is that of a block, with another size.
        let other = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !other.is_null() {
            // SAFETY: both blocks have so many bytes, and they are two.
            unsafe {
                ptr::copy_nonoverlapping(block, other, layout.size());
                self.dealloc(block, layout);
            }
        }
        other
    }
}
