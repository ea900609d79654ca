//! AMD GPU instructions and the processors that run them: one table an encoding, from which decode, encode, text and effects are all
//! derived. Bytes in, values out; nothing here knows of files or code objects.
//!
//! * [`decode`] turns bytes into an [`Inst`], [`Inst::encode`] is its inverse, [`assemble`] builds one from values.
//! * [`Inst::text`] is what `llvm-objdump -d` prints, [`parse`] reads it back.
//! * [`opcodes`] lists what a processor has.
//! * [`Inst::effects`] tells what an instruction reads, writes and counts; [`Inst::flow`] where control goes.
//!
//! Inside: `table` is the shape of the rows and the look-up, `slots` the operand vocabulary of the rows, `fields` the
//! bit positions, `forms` the derivation of VOP3, SDWA and DPP forms, and a file an encoding holds its rows.

mod decode;
mod effects;
mod encode;
mod error;
mod family;
mod feature;
mod fields;
mod flow;
mod forms;
mod inst;
mod limits;
mod modifiers;
mod op;
mod opcodes;
mod operand;
mod parse;
mod reg;
mod rules;
mod scaled;
mod slots;
mod table;
mod target;
mod text;
mod value;

mod ds;
mod exp;
mod flat;
mod mimg;
mod mtbuf;
mod mubuf;
mod smem;
mod sop1;
mod sop2;
mod sopc;
mod sopk;
mod sopp;
mod vintrp;
mod vop1;
mod vop2;
mod vop3;
mod vop3p;
mod vopc;

pub use decode::significant_bytes;
pub use decode::{decode, decode_for_listing};
pub use effects::{Effects, MemoryAccess, MemoryKind, MemoryOperation};
pub use encode::{Words, assemble};
pub use encode::{assemble_legal, with_values};
pub use error::{DecodeError, EncodeError, Illegal};
pub use family::Families;
pub use feature::Feature;
pub use flow::{Condition, Flow};
pub use inst::{
    Access, DppCtrl, Encoding, Inst, Mods, Operand, Operands, Sdwa, SdwaSel, SdwaUnused, Slot, Value,
};
pub use limits::Limits;
pub use op::Op;
pub use opcodes::{Opcode, opcodes};
pub use parse::{ParseError, parse};
pub use reg::LAST_SGPR;
pub use reg::{Reg, RegSet, ScalarSet};
pub use target::{Arch, FeatureState, Generation, TargetId, UnknownArch, WaveSize};
