//! Messages of `s_sendmsg` that analyses ask about.

use crate::{Generation, Inst, Op, Value};

/// RDNA 3 ISA, S_SENDMSG: the message is the low byte.
const MESSAGE: i32 = 0xff;
/// RDNA 3 ISA, S_SENDMSG, MSG_DEALLOC_VGPRS.
const DEALLOC_VGPRS: i32 = 3;

/// RDNA 3 ISA, S_SENDMSG_RTN, MSG_RTN_GET_REALTIME.
const GET_REALTIME: i32 = 0x83;

impl Generation {
    /// The message of `s_sendmsg_rtn_b64` that is answered with the time, of a clock of constant frequency; `None` where `s_memtime` reads
    /// a clock.
    pub const fn realtime_message(self) -> Option<i32> {
        match self {
            Self::Gfx9 | Self::Gfx10 => None,
            Self::Gfx11 | Self::Gfx12 => Some(GET_REALTIME),
        }
    }

    /// The message by which a wave gives its vector registers back before it ends.
    const fn dealloc_vgprs(self) -> Option<i32> {
        match self {
            Self::Gfx9 | Self::Gfx10 => None,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arch, Target, WaveSize, decode, parse};

    #[test]
    fn one_message_gives_vector_registers_back() {
        let gfx11 = Target { arch: Arch::Gfx1100, wave: WaveSize::Wave32 };
        let gives_back = |target: Target, text: &str| {
            parse(target, text).expect(text).deallocates_vgprs(target.arch.generation())
        };
        assert!(gives_back(gfx11, "s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)"));
        assert!(!gives_back(gfx11, "s_sendmsg sendmsg(MSG_INTERRUPT)") && !gives_back(gfx11, "s_nop 3"));
        // On GFX9 another message has the number.
        let done = decode(Arch::Gfx90a, &0xbf90_0003_u32.to_le_bytes()).expect("`s_sendmsg`");
        assert!(!done.deallocates_vgprs(Generation::Gfx9));
    }
}
