//! Embeds the kernels; with the feature `divergence` in the form that counts, too.

use amdinst_build::{Counters, Kernels};

fn main() {
    let kernels = Kernels::new("../../test-kernels").target_cpus(["gfx90a"]);
    let kernels = if cfg!(feature = "divergence") { kernels.instrumented(Counters::Auto) } else { kernels };
    kernels.embed();
}
