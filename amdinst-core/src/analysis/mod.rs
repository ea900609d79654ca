//! What code does: control flow, calls, masks, and which registers are live where.
//!
//! * [`program`]: the instructions that kernels can reach, their basic blocks and calls, and the address
//!   computations that must follow code when it moves.
//! * [`addresses`]: tracking of `s_getpc_b64` through the arithmetic that follows it.
//! * [`dominators`]: dominators and natural loops of a function.
//! * [`masks`]: value numbering of lane masks, and what each write of EXEC is.
//! * [`modes`], [`mode_flow`]: where vector instructions may be indexed, or skipped.
//! * [`liveness`]: registers that are live before and after an instruction, across calls.
//! * [`spills`]: registers that the compiler had to keep elsewhere.
//! * [`early`]: registers that are used before a load has brought them.
//! * `hazards`: which instructions must be how far apart.
//!
//! Code is decoded once, following control flow. [`program`] keeps of each instruction what is asked of all
//! of them: address, mnemonic, encoding, length, and the scalar registers that it reads and writes. `cargo
//! bench -p amdinst-core --bench rewrite` measures analysis and rewriting together.

pub mod addresses;
pub mod dominators;
pub mod early;
pub(crate) mod hazards;
pub mod liveness;
pub mod masks;
pub mod mode_flow;
pub mod modes;
pub mod program;
mod rounds;
pub mod spills;
mod values;
