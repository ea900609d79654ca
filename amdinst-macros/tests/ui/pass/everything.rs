//! Everything that is allowed compiles without a warning.
#![deny(warnings, missing_docs)]

use amdinst_device::{Kernel, barrier, kernel, local_id, probe, shared, sqrt};

shared! {
    /// One value a work-item.
    pub static TILE: [f32; 64];
    static COUNT: u32;
}

/// A device function.
#[probe("helper")]
#[inline(never)]
fn helper(n: u32) -> u32 {
    let mut sum = 0;
    #[probe("sum")]
    for i in 0..n {
        sum += i;
    }
    sum
}

struct Wide;

impl Wide {
    #[probe]
    fn method(&self, n: u32) -> bool {
        #[probe]
        loop {
            if n > 1 {
                break true;
            }
        }
    }
}

/// Uses all of it.
///
/// # Safety
/// `output` points to enough.
#[kernel]
#[probe("all")]
pub unsafe fn all(output: *mut f32, mut n: u32, _: bool, x: f64) {
    let i = local_id() as usize;
    #[probe("arms")]
    match n {
        0 => n += helper(n),
        _ if Wide.method(n) => {}
        _ => {}
    }
    unsafe {
        *COUNT.get() = n;
        *TILE.as_mut_ptr().add(i % TILE.len()) = sqrt(x) as f32;
        barrier();
        #[probe]
        if n > 1 {
            *output.add(i) = *TILE.as_mut_ptr();
        }
    }
}

#[kernel]
fn nothing() {}

fn main() {
    let handle: &Kernel<(*mut f32, u32, bool, f64)> = &all;
    assert_eq!((handle.name(), handle.file().ends_with("everything.rs")), ("all", true));
    let probes: Vec<_> = handle.probes().iter().map(|probe| (probe.name, probe.kind, probe.line)).collect();
    let line = handle.line();
    assert_eq!(probes, [("all", "kernel", line), ("arms", "match", line + 3), ("", "if", line + 13)]);
    let _: &Kernel<()> = &nothing;
}
