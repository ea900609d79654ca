//! Launch Rust GPU kernels on a GPU or an emulator and assert on how their wavefronts diverged.
