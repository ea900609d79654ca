//! The real ROCm runtime of Debian 12 on the emulator: programs in C and HIP, compiled here, and rocRAND's
//! library.

mod faults;
mod printing;
mod programs;
mod queues;
mod report;
mod rocrand;
mod rocsparse;
mod soak;
mod stopping;
mod support;
