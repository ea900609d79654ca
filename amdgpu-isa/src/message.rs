//! Messages of `s_sendmsg` that analyses ask about.

use crate::{Generation, Inst, Op, Value};

/// RDNA 3 ISA, S_SENDMSG: the message is the low byte.
const MESSAGE: i32 = 0xff;
/// RDNA 3 ISA, S_SENDMSG, MSG_DEALLOC_VGPRS.
const DEALLOC_VGPRS: i32 = 3;

/// RDNA 3 ISA, S_SENDMSG_RTN, MSG_RTN_GET_REALTIME.
const GET_REALTIME: i32 = 0x83;

impl Generation {
    /// The message of `s_sendmsg_rtn_b64` that is answered with the time, of a clock of constant frequency;
    /// `None` where `s_memtime` reads a clock.
    pub const fn realtime_message(self) -> Option<i32> {
        match self {
            Self::Gfx8 | Self::Gfx9 | Self::Gfx10 => None,
            Self::Gfx11 | Self::Gfx12 => Some(GET_REALTIME),
        }
    }

    /// The message by which a wave gives its vector registers back before it ends.
    const fn dealloc_vgprs(self) -> Option<i32> {
        match self {
            Self::Gfx8 | Self::Gfx9 | Self::Gfx10 => None,
            Self::Gfx11 | Self::Gfx12 => Some(DEALLOC_VGPRS),
        }
    }

    /// Whether a wave may give its vector registers back before it ends.
    pub const fn deallocates_vgprs(self) -> bool {
        self.dealloc_vgprs().is_some()
    }
}

impl Inst {
    /// Whether the wave has no vector registers behind the instruction.
    pub fn deallocates_vgprs(&self, generation: Generation) -> bool {
        let message = match self.operands.first().map(|operand| operand.value) {
            Some(Value::Imm(message)) if self.op == Op::s_sendmsg => message & MESSAGE,
            _ => return false,
        };
        generation.dealloc_vgprs() == Some(message)
    }
}
