//! Wait counters: what `s_waitcnt` waits for, whatever the generation's layout of it.

use crate::encoding::format::Field;
use crate::{Generation, Inst, Op, Value};

/// What a wave waits for: at most so many operations of a kind remain under way. `None` is no wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Vector memory (VM_CNT).
    pub vector: Option<u8>,
    /// Scalar memory, LDS, GDS and messages (LGKM_CNT).
    pub scalar_and_lds: Option<u8>,
    /// Exports and GDS (EXP_CNT).
    pub exports: Option<u8>,
}

/// Where the counters are in the immediate of `s_waitcnt`.
pub(crate) struct Layout {
    vector: [Field; 2],
    exports: [Field; 2],
    scalar_and_lds: [Field; 2],
}

/// A counter without a second part.
const NOTHING: Field = Field::new(0, 0);

/// Vega ISA, S_WAITCNT: vmcnt 3:0 and 15:14, expcnt 6:4, lgkmcnt 11:8.
const GFX9: Layout = Layout {
    vector: [Field::new(0, 4), Field::new(14, 2)],
    exports: [Field::new(4, 3), NOTHING],
    scalar_and_lds: [Field::new(8, 4), NOTHING],
};

/// RDNA 2 ISA, S_WAITCNT: vmcnt 3:0 and 15:14, expcnt 6:4, lgkmcnt 13:8.
const GFX10: Layout = Layout {
    vector: [Field::new(0, 4), Field::new(14, 2)],
    exports: [Field::new(4, 3), NOTHING],
    scalar_and_lds: [Field::new(8, 6), NOTHING],
};

/// RDNA 3 ISA, S_WAITCNT: expcnt 2:0, lgkmcnt 9:4, vmcnt 15:10.
const GFX11: Layout = Layout {
    vector: [Field::new(10, 6), NOTHING],
    exports: [Field::new(0, 3), NOTHING],
    scalar_and_lds: [Field::new(4, 6), NOTHING],
};

impl Generation {
    const fn waits(self) -> &'static Layout {
        match self {
            Self::Gfx9 => &GFX9,
            Self::Gfx10 => &GFX10,
            // The instruction is there, and means what it did.
            Self::Gfx11 | Self::Gfx12 => &GFX11,
        }
    }
}

/// The most that a counter counts: where it stands there, it is not waited for.
pub(crate) const fn most(parts: [Field; 2]) -> u8 {
    ((1 << (parts[0].width + parts[1].width)) - 1) as u8
}

const fn get([low, high]: [Field; 2], raw: u16) -> u8 {
    (low.get(raw as u64) | high.get(raw as u64) << low.width) as u8
}

const fn put([low, high]: [Field; 2], count: u8) -> u16 {
    (low.put(count as u32) | high.put(count as u32 >> low.width)) as u16
}

impl Layout {
    /// The counters by LLVM's names, in the order of its text.
    pub(crate) const fn named(&self) -> [(&'static str, [Field; 2]); 3] {
        [("vmcnt", self.vector), ("expcnt", self.exports), ("lgkmcnt", self.scalar_and_lds)]
    }
}

/// The counters of `s_waitcnt` in its immediate: LLVM's name, count, and the most that it counts.
pub(crate) fn counts(generation: Generation, raw: u16) -> [(&'static str, u8, u8); 3] {
    generation.waits().named().map(|(name, parts)| (name, get(parts, raw), most(parts)))
}

/// The immediate with one counter set, by LLVM's name; `None` if there is no such counter, or the count is beyond its most.
pub(crate) fn with_count(generation: Generation, raw: u16, name: &str, count: i64) -> Option<u16> {
    let (_, parts) = generation.waits().named().into_iter().find(|(known, _)| *known == name)?;
    let count = u8::try_from(count).ok().filter(|count| *count <= most(parts))?;
    Some(raw & !put(parts, u8::MAX) | put(parts, count))
}

/// The immediate that waits for nothing.
pub(crate) fn at_rest(generation: Generation) -> u16 {
    generation.waits().named().into_iter().fold(0, |raw, (_, parts)| raw | put(parts, most(parts)))
}

/// The bits of the immediate that belong to no counter.
pub(crate) fn gap(generation: Generation) -> u16 {
    !at_rest(generation)
}

impl Waits {
    /// For everything.
    pub const ALL: Self = Self { vector: Some(0), scalar_and_lds: Some(0), exports: Some(0) };
    /// For all vector memory.
    pub const VECTOR: Self = Self { vector: Some(0), scalar_and_lds: None, exports: None };
    /// For all scalar memory and LDS.
    pub const SCALAR_AND_LDS: Self = Self { vector: None, scalar_and_lds: Some(0), exports: None };

    /// What an instruction waits for, if it is there to wait.
    pub fn of(inst: &Inst, generation: Generation) -> Option<Self> {
        if inst.op != Op::s_waitcnt {
            return None;
        }
        let raw = inst.operands.iter().find_map(|operand| match operand.value {
            Value::Imm(raw) => Some(raw as u16),
            _ => None,
        })?;
        let layout = generation.waits();
        let count = |parts| Some(get(parts, raw)).filter(|count| *count < most(parts));
        Some(Self {
            vector: count(layout.vector),
            scalar_and_lds: count(layout.scalar_and_lds),
            exports: count(layout.exports),
        })
    }

    /// The immediate of the `s_waitcnt` that waits for this.
    pub fn immediate(self, generation: Generation) -> u16 {
        let layout = generation.waits();
        let count = |count: Option<u8>, parts| put(parts, count.unwrap_or(u8::MAX).min(most(parts)));
        count(self.vector, layout.vector)
            | count(self.scalar_and_lds, layout.scalar_and_lds)
            | count(self.exports, layout.exports)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arch, parse};

    #[test]
    fn waits_are_what_their_text_says() {
        let cases = [
            ("s_waitcnt vmcnt(0)", Waits::VECTOR),
            ("s_waitcnt lgkmcnt(0)", Waits::SCALAR_AND_LDS),
            ("s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)", Waits::ALL),
            (
                "s_waitcnt vmcnt(62) expcnt(6)",
                Waits { vector: Some(62), exports: Some(6), ..Waits::default() },
            ),
        ];
        for (text, waits) in cases {
            let inst = parse(Arch::Gfx90a, text).unwrap();
            assert_eq!(Waits::of(&inst, Generation::Gfx9), Some(waits), "{text}");
            assert_eq!(
                inst.operands[0].value,
                Value::Imm(waits.immediate(Generation::Gfx9).into()),
                "{text}"
            );
        }
        assert_eq!(at_rest(Generation::Gfx9), Waits::default().immediate(Generation::Gfx9));
    }
}
