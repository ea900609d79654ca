//! Random programs, run by the emulator and by the host, and compared byte by byte.
//!
//! A program is made up from a seed ([`generate`]), written as C ([`render`]) and compiled by clang twice:
//! for an AMD processor, whose code object the emulator runs, and for the host, where work-items run one
//! after the other and only the operations between lanes are done a wave at a time. Clang's two back ends
//! share neither instruction selection nor registers, so equal memory is evidence for the emulator (and for
//! clang).
//!
//! The same programs, instrumented, are compared with themselves ([`transparency`]): evidence for the
//! instrumenter. Damaged code objects are refused, or go all the way ([`hostile`]).

#![forbid(unsafe_code)]

pub mod alone;
pub mod campaign;
pub mod coverage;
mod device;
pub mod dice;
pub mod difference;
pub mod generate;
pub mod hostile;
pub mod ops;
pub mod program;
pub mod reduce;
pub mod render;
pub mod run;
pub mod target;
pub mod toolchain;
pub mod transparency;
pub mod triage;
pub mod ty;
pub mod way;

/// What a program ends with whose run found that all is equal or not, or failed: the error goes to stderr.
pub fn exit_code(outcome: anyhow::Result<bool>) -> std::process::ExitCode {
    match outcome {
        Ok(true) => std::process::ExitCode::SUCCESS,
        Ok(false) => std::process::ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            std::process::ExitCode::FAILURE
        }
    }
}
