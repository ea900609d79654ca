//! GFX9 instructions: one table an encoding, from which decode, encode, text and effects are all derived.

mod inst;

pub use inst::{
    Access, DppCtrl, Encoding, Inst, Mods, Operand, Operands, Sdwa, SdwaSel, SdwaUnused, Slot, Value,
};
mod op;

pub use op::Op;
