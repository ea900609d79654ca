//! Launch Rust GPU kernels on a GPU or an emulator, and assert on how their waves diverged.
//!
//! A test target with `harness = false` holds kernel tests and one line that makes it a program:
//!
//! ```ignore
//! use harness::{Device, Launch as _};
//! use my_kernels::saxpy;
//!
//! #[harness::test]
//! fn the_tail_diverges_in_one_wave(device: &Device) -> harness::TestResult {
//!     let x = device.buffer(&[1.0; 100]);
//!     let mut y = device.buffer(&[2.0; 100]);
//!     let run = saxpy.launch(device, 1, 128, (100, 3.0, &x, &mut y))?;
//!     assert_eq!(y.to_vec(), [5.0; 100]);
//!     let report = run.report();
//!     assert_eq!(report.branch("tail").executions(), 2);
//!     assert_eq!(report.branch("tail").diverged(), 1);
//!     Ok(())
//! }
//!
//! harness::main!();
//! ```
//!
//! `cargo amdinst test` builds and instruments the kernels and runs such targets; `cargo test` and
//! `cargo nextest run` work too once the kernels were built: where sources, features, profile or toolchain
//! have changed since, the kernels are built again by the first launch, and a test fails where that cannot be
//! done.
//!
//! # In a program of its own
//! A program that embeds its kernels (`amdinst-build` in its build script, [`embedded!`]) opens a [`Device`]
//! with [`Settings::embedded`] and launches them in the same way; then no file is looked for.
//!
//! Programs that are shipped to machines without `cargo-amdinst` take the feature `bundled`, which builds the
//! runtime into them.
//!
//! # The runtime
//! Emulator, HIP launches and the comparison of counters are in a shared library that the installed command
//! brings (`amdinst-runtime`), so that tests build in seconds. It is found beside `cargo-amdinst`;
//! `cargo amdinst test` names it.
//!
//! # What a launch checks
//! On the emulator each launch runs the instrumented kernel and the original, on memory of its own each, and
//! fails unless both leave the same bytes in every buffer and the counters are those that the emulator itself
//! saw in the original. On a GPU only the instrumented kernel runs, and its counters are the report.
//!
//! # Kernels without counters
//! Where code for a processor is not instrumented yet, kernels run as they were compiled. A test that asks
//! for the counts of a branch then ends there and is ignored, with the reason: what it asserted before has
//! held, and what the counts would be is not known.
//!
//! # Environment
//! | variable | meaning |
//! |---|---|
//! | `AMDINST_DEVICE` | `auto` (default), `emu` or `hip` |
//! | `AMDINST_COUNTERS` | `auto` (default), `register`, `lds`, `global`, or `none`: kernels run as they were compiled |
//! | `AMDINST_MANIFEST` | manifests of built kernels, separated by `:`; else they are looked for in the target directory |
//! | `AMDINST_FRESH` | `1`: the kernels are known to be those of the sources, which are then not looked at (`cargo amdinst test` has just built them; or they were brought here without their sources) |
//! | `AMDINST_TARGET_CPU` | the processor to run on, of those that the kernels are built for (default: the first of the package's) |
//! | `AMDINST_PROFILE` | which of several built profiles to use |
//! | `AMDINST_BUDGET` | instructions that a workgroup may run in the emulator before it is called endless |
//! | `AMDINST_SCHEDULE` | the number of another order of waves and workgroups in the emulator |
//! | `AMDINST_THREADS` | host threads of a launch in the emulator (default: all cores) |
//! | `AMDINST_GPU` | which GPU, as HIP counts (default: the first that the kernels were built for) |
//! | `AMDINST_CHECK` | mistakes to look for in the emulator that need not show in results: `all` (what tests have by default), `none`, or some of `races`, `barriers`, `uninitialized`, `waits`, `nan` and `atomicity`, with commas between; if it names any, `auto` is the emulator, and all workgroups are looked at, however long that takes |
//! | `AMDINST_ALLOW` | accesses whose races are meant, with commas between: `FILE`, `FILE:LINE` or a function |
//! | `AMDINST_OUT_OF_RANGE` | `hardware`: accesses to LDS beyond the workgroup's are no faults in the emulator; reads return zero and writes are discarded (default: `fault`) |
//! | `AMDINST_FILL` | what each dword of registers, LDS and scratch memory holds in the emulator before it is written (default: `0x7ffb7ffb`) |
//! | `AMDINST_MEMORY` | `1`: measure memory accesses, on the emulator |
//! | `AMDINST_WHY` | `1`: of a fault, tell the lines that led there, on the emulator |
//! | `AMDINST_TIMING` | `mi210`, `mi250x` or `vega10`: model how long each launch takes there, on the emulator |
//! | `AMDINST_TIMELINE` | with `AMDINST_TIMING`, a directory: write there when each wave of each launch ran, as traces for Perfetto's viewer or Chrome's |
//! | `AMDINST_JUNIT` | write the results there as JUnit XML |
//! | `AMDINST_JUNIT_GPU` | a GPU, which the name of the suite there ends with |
//! | `AMDINST_BESIDE` | a file that names code objects of another processor and a file for the first launch that leaves other values there, as `amdinst_format::report::parting` has them: launch on both, in the emulator |
//! | `AMDINST_STATUS` | add lines to this file: `begun`, then `started` or `device-missing`, and `unwritten` if results could not be written |
//! | `AMDINST_RUN` | a directory: write there what each test reported, one file a process, as `amdinst_format::report::run` reads it |
//! | `AMDINST_RUNTIME` | the file of the runtime, else the one beside the installed `cargo-amdinst` |
//! | `AMDINST_REPORT` | `summary`: print how each kernel's branches diverged; `full`: each branch of dependencies, too; `json`: as JSON lines |

mod arguments;
mod buffer;
pub mod device;
mod dim3;
mod elements;
mod embedded;
mod error;
mod expected;
mod launch;
mod listing;
mod report;
mod rows;
mod runner;
mod runtime;
mod without_counts;

pub use amdinst_device::Element;
pub use amdinst_format::interface::{
    BufferDifference, Checks, CounterChoice, DeviceChoice, Embedded, EmbeddedCodeObject, EmbeddedForm,
    LaunchFailure, LaunchTiming, Settings, SettingsError, TimingReport,
};
pub use amdinst_format::printed::PrintedLine;
pub use amdinst_format::report::run::FaultReport;
pub use amdinst_format::report::{Counts, Outcome, Selection, WaveReport};
pub use amdinst_macros::test;
pub use arguments::{Argument, Arguments};
pub use buffer::{Buffer, BufferSlice, BufferSliceMut};
pub use device::{Device, DeviceError};
pub use dim3::Dim3;
pub use elements::Float;
pub use error::LaunchError;
pub use expected::branch_counts;
#[doc(hidden)]
pub use insta;
#[doc(hidden)]
pub use inventory;
pub use launch::{Launch, Run};
pub use listing::Listing;
pub use report::Report;
#[doc(hidden)]
pub use report::of_waves;
pub use rows::{BufferRows, BufferRowsMut};
pub use runner::{IntoTestResult, TestCase, TestResult, run_tests, run_tests_of};
pub use runtime::RuntimeError;

/// The `main` of a test target with `harness = false`: runs the kernel tests of this program.
#[macro_export]
macro_rules! main {
    () => {
        fn main() -> ::std::process::ExitCode {
            $crate::run_tests_of(::core::env!("CARGO_PKG_NAME"))
        }
    };
}

/// Compares a whole report with the snapshot kept beside the test (`insta`), by source place and free of
/// addresses. Waves of 32 lanes have snapshots of their own (`…@wave32.snap`).
///
/// `assert_report_snapshot!(report)` or `assert_report_snapshot!("name", report)`.
#[macro_export]
macro_rules! assert_report_snapshot {
    ($name:expr, $report:expr $(,)?) => {{
        let mut settings = $crate::of_waves(&$report);
        settings.set_prepend_module_to_snapshot(true);
        settings.bind(|| $crate::insta::assert_snapshot!($name, $report.snapshot()));
    }};
    ($report:expr $(,)?) => {
        $crate::of_waves(&$report).bind(|| $crate::insta::assert_snapshot!($report.snapshot()));
    };
}
