//! Wait counters: what `s_waitcnt` waits for, whatever the generation's layout of it, and GFX12's waits for
//! one or two counters each.

use arrayvec::ArrayVec;

use crate::encoding::format::Field;
use crate::{Encoding, Generation, Inst, Mods, Op, Target, Value, Way, assemble};

/// What a wave waits for: at most so many operations of a kind remain under way. `None` is no wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Vector memory (VM_CNT; on GFX12 LOADcnt): where stores are counted apart, without these.
    pub vector: Option<u8>,
    /// Scalar memory and messages (LGKM_CNT; on GFX12 KMcnt).
    pub scalar: Option<u8>,
    /// LDS and GDS (LGKM_CNT; on GFX12 DScnt).
    pub lds: Option<u8>,
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

/// GCN 3 ISA, S_WAITCNT: vmcnt 3:0, expcnt 6:4, lgkmcnt 11:8.
const GFX8: Layout = Layout {
    vector: [Field::new(0, 4), NOTHING],
    exports: [Field::new(4, 3), NOTHING],
    scalar_and_lds: [Field::new(8, 4), NOTHING],
};

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

/// RDNA 4 ISA, S_WAIT_LOADCNT and its like: the count of the only counter, or of the second of two.
const COUNT: [Field; 2] = [Field::new(0, 6), NOTHING];

/// RDNA 4 ISA, S_WAIT_LOADCNT_DSCNT: the count of the first of two.
const FIRST_COUNT: [Field; 2] = [Field::new(8, 6), NOTHING];

/// RDNA 4 ISA, S_WAIT_EXPCNT: three bits are counted.
const EXPORTS: [Field; 2] = [Field::new(0, 3), NOTHING];

impl Generation {
    const fn waits(self) -> &'static Layout {
        match self {
            Self::Gfx8 => &GFX8,
            Self::Gfx9 => &GFX9,
            Self::Gfx10 => &GFX10,
            // The instruction is there, and means what it did.
            Self::Gfx11 | Self::Gfx12 => &GFX11,
        }
    }

    /// Whether FLAT instructions are in order among the others of the counters that count them, wherever
    /// their addresses are.
    pub(crate) const fn orders_flat(self) -> bool {
        match self {
            Self::Gfx8 | Self::Gfx9 => false,
            Self::Gfx10 | Self::Gfx11 | Self::Gfx12 => true,
        }
    }

    /// Whether each counter has an instruction of its own that waits for it.
    pub(crate) const fn waits_by_counter(self) -> bool {
        match self {
            Self::Gfx8 | Self::Gfx9 | Self::Gfx10 | Self::Gfx11 => false,
            Self::Gfx12 => true,
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

    /// The immediate that waits for this. Where two kinds share a counter, it waits for either.
    fn immediate(&self, waits: Waits) -> u16 {
        let count = |count: Option<u8>, parts| put(parts, count.unwrap_or(u8::MAX).min(most(parts)));
        let scalar_and_lds = [waits.scalar, waits.lds].into_iter().flatten().min();
        count(waits.vector, self.vector)
            | count(scalar_and_lds, self.scalar_and_lds)
            | count(waits.exports, self.exports)
    }
}

/// The counters of `s_waitcnt` in its immediate: LLVM's name, count, and the most that it counts.
pub(crate) fn counts(generation: Generation, raw: u16) -> [(&'static str, u8, u8); 3] {
    generation.waits().named().map(|(name, parts)| (name, get(parts, raw), most(parts)))
}

/// The immediate with one counter set, by LLVM's name; `None` if there is no such counter, or the count is
/// beyond its most.
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

impl Op {
    /// Whether an instruction is there to wait until operations that are under way are done.
    pub const fn waits(self) -> bool {
        matches!(
            self,
            Self::s_waitcnt
                | Self::s_wait_loadcnt
                | Self::s_wait_storecnt
                | Self::s_wait_samplecnt
                | Self::s_wait_bvhcnt
                | Self::s_wait_expcnt
                | Self::s_wait_dscnt
                | Self::s_wait_kmcnt
                | Self::s_wait_loadcnt_dscnt
                | Self::s_wait_storecnt_dscnt
                | Self::s_waitcnt_vmcnt
                | Self::s_waitcnt_expcnt
                | Self::s_waitcnt_lgkmcnt
                | Self::s_waitcnt_vscnt
        )
    }
}

impl Waits {
    /// No wait.
    const NONE: Self = Self { vector: None, scalar: None, lds: None, exports: None };
    /// For everything.
    pub const ALL: Self = Self { vector: Some(0), scalar: Some(0), lds: Some(0), exports: Some(0) };
    /// For all vector memory.
    pub const VECTOR: Self = Self { vector: Some(0), ..Self::NONE };
    /// For all scalar memory.
    pub const SCALAR: Self = Self { scalar: Some(0), ..Self::NONE };
    /// For all of LDS.
    pub const LDS: Self = Self { lds: Some(0), ..Self::NONE };

    /// The most that the counter of a way counts.
    pub(crate) fn most(generation: Generation, way: Way) -> u8 {
        let layout = generation.waits();
        match way {
            _ if generation.waits_by_counter() => most(COUNT),
            Way::Vector => most(layout.vector),
            Way::Lds | Way::FlatLds | Way::Gds | Way::Scalar => most(layout.scalar_and_lds),
        }
    }

    /// What an instruction waits for, if it is [there to wait](Op::waits). Counters that have no field are
    /// left out. A wait whose limit a register adds to is taken to wait for all.
    pub fn of(inst: &Inst, generation: Generation) -> Option<Self> {
        if !inst.op.waits() {
            return None;
        }
        let raw = inst.operands.iter().find_map(|operand| match operand.value {
            Value::Imm(raw) => Some(raw as u16),
            _ => None,
        })?;
        let count = |parts| Some(get(parts, raw)).filter(|count| *count < most(parts));
        let by_register = matches!(inst.operands[0].value, Value::Scalar(_));
        let alone = |parts| if by_register { Some(0) } else { count(parts) };
        Some(match inst.op {
            Op::s_waitcnt => {
                let layout = generation.waits();
                let scalar_and_lds = count(layout.scalar_and_lds);
                Self {
                    vector: count(layout.vector),
                    scalar: scalar_and_lds,
                    lds: scalar_and_lds,
                    exports: count(layout.exports),
                }
            }
            Op::s_wait_loadcnt => Self { vector: count(COUNT), ..Self::NONE },
            Op::s_wait_loadcnt_dscnt => Self { vector: count(FIRST_COUNT), lds: count(COUNT), ..Self::NONE },
            Op::s_wait_dscnt | Op::s_wait_storecnt_dscnt => Self { lds: count(COUNT), ..Self::NONE },
            Op::s_wait_kmcnt => Self { scalar: count(COUNT), ..Self::NONE },
            Op::s_waitcnt_vmcnt => Self { vector: alone(COUNT), ..Self::NONE },
            Op::s_waitcnt_lgkmcnt => Self { scalar: alone(COUNT), lds: alone(COUNT), ..Self::NONE },
            Op::s_waitcnt_expcnt => Self { exports: alone(EXPORTS), ..Self::NONE },
            Op::s_wait_expcnt => Self { exports: count(EXPORTS), ..Self::NONE },
            _ => Self::NONE,
        })
    }

    /// The instructions that wait for this, as text.
    pub fn text(self, target: impl Into<Target>) -> String {
        let target = target.into();
        let text = |(op, immediate): (Op, u16)| {
            let values = [Value::Imm(immediate.into())];
            assemble(target, op, Encoding::Sopp, &values, Mods::default()).map(|inst| inst.text(target))
        };
        // Every processor has the waits of its generation.
        let all = self.instructions(target.arch.generation()).into_iter().filter_map(|wait| text(wait).ok());
        all.collect::<Vec<_>>().join("; ")
    }

    /// The instructions that wait for this, each with its immediate.
    pub fn instructions(self, generation: Generation) -> ArrayVec<(Op, u16), 3> {
        let mut all = ArrayVec::new();
        if !generation.waits_by_counter() {
            all.push((Op::s_waitcnt, generation.waits().immediate(self)));
            return all;
        }
        let limited = |parts, count: u8| put(parts, count.min(most(parts)));
        match (self.vector, self.lds) {
            (Some(vector), Some(lds)) => {
                let immediate = limited(FIRST_COUNT, vector) | limited(COUNT, lds);
                all.push((Op::s_wait_loadcnt_dscnt, immediate));
            }
            (Some(vector), None) => all.push((Op::s_wait_loadcnt, limited(COUNT, vector))),
            (None, Some(lds)) => all.push((Op::s_wait_dscnt, limited(COUNT, lds))),
            (None, None) => {}
        }
        all.extend(self.scalar.map(|count| (Op::s_wait_kmcnt, limited(COUNT, count))));
        all.extend(self.exports.map(|count| (Op::s_wait_expcnt, limited(EXPORTS, count))));
        all
    }
}
