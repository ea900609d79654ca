//! What kernels print.

use amdinst_device::{global_id_x, kernel, lane_id, println, workgroup_id_x};

/// The first lanes of each wave print; and all of them, for so many times.
#[kernel]
pub fn greet(values: &[f32], times: u32) {
    let i = global_id_x();
    if lane_id() < 2 {
        println!("{i} of {}: {:?} {:.2}", values.len(), Some(workgroup_id_x()), values[i as usize]);
    }
    for time in 0..times {
        println!("{:5}|{time:<5}|{}", lane_id(), "x".repeat_of(20));
    }
}

/// Text that takes no memory.
trait RepeatOf {
    fn repeat_of(self, times: usize) -> Repeated;
}

impl RepeatOf for &'static str {
    fn repeat_of(self, times: usize) -> Repeated {
        Repeated(self, times)
    }
}

/// A text so many times.
struct Repeated(&'static str, usize);

impl core::fmt::Display for Repeated {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        (0..self.1).try_for_each(|_| f.write_str(self.0))
    }
}
