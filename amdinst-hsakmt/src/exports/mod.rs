//! The functions of the library, as `hsakmt.h` declares them.
//!
//! All pointers come from the runtime, which vouches for them as that header asks: outputs are valid for
//! writes, arrays have as many elements as is said, handles are ones that this library gave. Null pointers
//! are refused.

mod events;
mod memory;
mod misc;
mod queues;
mod topology;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::abi::{Outcome, Status};

/// The number that a function gives to C. A panic is a general error.
fn status(body: impl FnOnce() -> Outcome) -> u32 {
    let outcome = catch_unwind(AssertUnwindSafe(body)).unwrap_or(Err(Status::Error));
    outcome.err().unwrap_or(Status::Success) as u32
}

/// Write to an output.
///
/// # Safety
/// `to` is null or valid for a write; it need not be aligned.
unsafe fn put<T>(to: *mut T, value: T) -> Outcome {
    if to.is_null() {
        return Err(Status::InvalidParameter);
    }
    // SAFETY: the caller's.
    unsafe { to.write_unaligned(value) };
    Ok(())
}

/// Write the elements of an output that has room for `room`.
///
/// # Safety
/// `to` is null or valid for that many writes.
unsafe fn put_all<T>(to: *mut T, room: u32, values: Vec<T>) -> Outcome {
    if to.is_null() && !values.is_empty() {
        return Err(Status::InvalidParameter);
    }
    for (index, value) in values.into_iter().take(room as usize).enumerate() {
        // SAFETY: within the room that the caller vouches for.
        unsafe { to.add(index).write_unaligned(value) };
    }
    Ok(())
}

/// The elements of an input.
///
/// # Safety
/// `from` is null or valid for that many reads.
unsafe fn take_all<T: Copy>(from: *const T, count: u64) -> Result<Vec<T>, Status> {
    /// More than anything that the runtime passes.
    const MOST: u64 = 1 << 20;
    if count > MOST || from.is_null() && count > 0 {
        return Err(Status::InvalidParameter);
    }
    // SAFETY: within what the caller vouches for.
    Ok((0..count as usize).map(|index| unsafe { from.add(index).read_unaligned() }).collect())
}
