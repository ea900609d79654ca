//! AMD GPU instructions and the processors that run them: one table an encoding, from which decode, encode,
//! text and effects are all derived. Bytes in, values out; nothing here knows of files or code objects.
//!
//! * [`decode`] turns bytes into an [`Inst`], [`Inst::encode`] is its inverse, [`assemble`] builds one from
//!   values.
//! * [`Inst::text`] is what `llvm-objdump -d` prints, [`parse`] reads it back.
//! * [`opcodes`] lists what a processor has.
//! * [`Inst::effects`] tells what an instruction reads, writes and counts; [`Inst::flow`] where control goes;
//!   [`Op::memory_use`] what an access to memory does there, [`Op::matrix_product`] which matrices it
//!   multiplies.
//!
//! A [`Target`] is a processor and a size of waves; an [`Arch`] alone stands for its default size.
//!
//! Inside: `signature` says what each opcode takes and does, once. A generation (in `gcn`, `gfx10`, `gfx11`,
//! `gfx12`) gives opcodes their numbers, and says where the fields of its encodings are. `encoding` derives
//! decode and encode from both; `text` and `parse` are LLVM's syntax.
//!
//! `Op` names a mnemonic without the suffix of its encoding, so one `match` arm of the emulator serves all
//! forms. Implicit operands (VCC) are explicit in the operand list. Effects include the registers that are
//! read and written implicitly, the kind of memory touched, and the wait counters that count it.
//!
//! # Which words are instructions
//! A word is an instruction if LLVM's disassembler reads it and LLVM's assembler takes the text that it
//! prints. So [`decode`] refuses what breaks a rule of operands (constant bus, alignment of register tuples,
//! overlap of a matrix result), though a disassembler would show it. [`decode_for_listing`] leaves the rules
//! of operands out, and so shows what a disassembler shows.
//!
//! LLVM's disassembler passes over some bits that its assembler does not give back. Such bits are kept in
//! [`Mods::ignored`], so `encode(decode(x)) == x` holds for these words too. Where LLVM's own text assembles
//! to something else, ours must give the bytes (its disassembler misreads the constant 0x80 of
//! `v_madmk_f32`), or LLVM has no text (a compressed export of half a pair).
//!
//! A literal is a whole dword whatever holds it, so a 16-bit operand takes any, and uses its low half. LLVM's
//! compiler and disassembler write such, its assembler does not read them: [`Inst::has_wide_half`].
//!
//! A gather of halves with a status (`image_gather4 … tfe d16`) is no instruction: LLVM has no form for its
//! three registers. A listing shows two, as LLVM does; hardware writes the status into a third.
//!
//! `cargo xtask corpus words` draws legal, damaged and random words, flips each bit of each opcode's plain
//! form, and compares all of this with `llvm-mc-22`; a sample is a test. `tests/opcodes.tsv` lists every
//! opcode of LLVM, found without our tables (`cargo xtask corpus opcodes`). `tests/refused.tsv` has forms
//! that only the disassembler takes.

#![forbid(unsafe_code)]

mod action;
mod arrivals;
mod compute_units;
mod effects;
mod encoding;
mod error;
mod family;
mod feature;
mod flat;
mod flow;
mod gcn;
mod gfx10;
mod gfx11;
mod gfx12;
mod inst;
mod lds_banks;
mod limits;
mod mask;
mod message;
mod numbers;
mod op;
mod opcodes;
mod parse;
mod rdna;
mod reg;
mod registers;
mod signature;
mod target;
mod text;
mod value;
mod waits;

pub use action::{
    Accumulator, AtomicOp, Compared, Comparison, Components, Conversion, ConvertedGroup, Element, Half,
    MatrixProduct, MatrixUnit, MemoryAction, MemoryUse, Moved, Packing, Relation, SmallFloat,
};
pub use arrivals::{Arrival, Way, reads_at_issue};
pub use effects::{Effects, MemoryAccess, MemoryKind, MemoryOperation};
pub use encoding::{
    Words, assemble, assemble_legal, decode, decode_for_listing, significant_bytes, with_values,
};
pub use error::{DecodeError, EncodeError, Illegal};
pub use family::Families;
pub use feature::Feature;
pub use flat::HardwareRegister;
pub use flow::{Condition, Flow};
pub use inst::{
    Access, DppCtrl, Encoding, Inst, Mods, Operand, Operands, Sdwa, SdwaSel, SdwaUnused, Slot, Value,
};
pub use lds_banks::{LdsBanks, LdsPhases};
pub use limits::Limits;
pub use mask::{Logic, MaskOp};
pub use numbers::{NumberKind, Numbers};
pub use op::Op;
pub use opcodes::{Opcode, opcodes};
pub use parse::{ParseError, parse};
pub use reg::{LAST_BY_NUMBER, LAST_SGPR};
pub use reg::{Reg, RegSet, ScalarSet};
pub use registers::{Special, scalar};
pub use target::{
    Arch, FeatureState, Generation, NotExecuted, NotInstrumented, Target, TargetId, UnknownArch, WaveSize,
};
pub use waits::Waits;
