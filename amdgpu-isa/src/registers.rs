//! Scalar registers and special sources: their numbers, their names, and the operand codes that a generation
//! gives them.

use crate::Generation;

/// Numbers of scalar registers, as [`Value::Scalar`](crate::Value::Scalar) and
/// [`Reg::scalar`](crate::Reg::scalar) have them. SGPRs begin at 0. They are operand codes of GFX9; decoding
/// and encoding translate where another generation has other codes.
pub mod scalar {
    /// FLAT_SCRATCH's low half.
    pub const FLAT_SCRATCH: u8 = 102;
    /// XNACK_MASK's low half.
    pub const XNACK_MASK: u8 = 104;
    /// VCC's low half.
    pub const VCC: u8 = 106;
    /// The first trap temporary; on GFX8 TBA and TMA, which are pairs, come first.
    pub const TTMP: u8 = 108;
    /// How many trap temporaries there are.
    pub const TTMPS: u8 = 16;
    /// The trap temporary with a workgroup's id in x, where ids arrive in those (RDNA 4 ISA, section
    /// 3.5.3.4).
    pub const WORKGROUP_X: u8 = TTMP + 9;
    /// The one with its ids in y, bits 15:0, and z, bits 31:16.
    pub const WORKGROUP_Y_Z: u8 = TTMP + 7;
    /// M0.
    pub const M0: u8 = 124;
    /// EXEC's low half.
    pub const EXEC: u8 = 126;
    /// EXEC's high half.
    pub const EXEC_HI: u8 = EXEC + 1;
    /// Numbers in all.
    pub const COUNT: u8 = 128;
}

/// A source that is neither register nor constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// SHARED_BASE: where LDS begins among flat addresses.
    SharedBase,
    /// SHARED_LIMIT: where it ends.
    SharedLimit,
    /// PRIVATE_BASE: where scratch begins among flat addresses.
    PrivateBase,
    /// PRIVATE_LIMIT: where it ends.
    PrivateLimit,
    /// POPS_EXITING_WAVE_ID: of graphics.
    PopsExitingWaveId,
    /// VCCZ: VCC is zero.
    Vccz,
    /// EXECZ: EXEC is zero.
    Execz,
    /// SCC.
    Scc,
    /// LDS_DIRECT: a dword of LDS, at the address in M0.
    LdsDirect,
    /// NULL: reads as zero, and takes results that nobody wants.
    Null,
}

impl Special {
    /// One of the four that give parts of the flat address space.
    pub(crate) const fn is_aperture(self) -> bool {
        matches!(self, Self::SharedBase | Self::SharedLimit | Self::PrivateBase | Self::PrivateLimit)
    }
}

/// How the registers of a run are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// `s5`, `s[4:5]`: by number. Pairs are even, wider tuples are aligned to four.
    Numbered,
    /// `vcc`, `vcc_lo`, `vcc_hi`: one pair.
    Halves,
    /// `m0`.
    Single,
}

/// Scalar registers that tuples do not reach out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The number of the first.
    pub(crate) first: u8,
    /// How many there are.
    pub(crate) count: u8,
    pub(crate) name: &'static str,
    pub(crate) naming: Naming,
}

impl Run {
    /// The number behind the last.
    pub(crate) const fn end(&self) -> u8 {
        self.first + self.count
    }
}

/// The scalar registers and special sources of a generation.
pub(crate) struct Registers {
    pub(crate) runs: &'static [Run],
    /// Special sources: operand code, and name in text.
    pub(crate) specials: &'static [(Special, u8, &'static str)],
    /// The operand code of M0.
    m0_code: u8,
    /// That of NULL, if there is one.
    null_code: Option<u8>,
    /// The place in `runs` of each register, by its number.
    run_at: [u8; scalar::COUNT as usize],
    /// The special source of each operand code. (Every operand is looked up.)
    special_at: [Option<Special>; 256],
}

/// No place.
const NOWHERE: u8 = u8::MAX;

impl Registers {
    const fn new(
        runs: &'static [Run],
        specials: &'static [(Special, u8, &'static str)],
        m0_code: u8,
    ) -> Self {
        let mut null_code = None;
        let mut run_at = [NOWHERE; scalar::COUNT as usize];
        let mut index = 0;
        while index < runs.len() {
            let end = if index + 1 < runs.len() { runs[index + 1].first } else { scalar::COUNT };
            assert!(runs[index].end() <= end, "runs are apart and in order");
            let mut number = runs[index].first;
            while number < runs[index].end() {
                run_at[number as usize] = index as u8;
                number += 1;
            }
            index += 1;
        }
        let mut special_at = [None; 256];
        let mut index = 0;
        while index < specials.len() {
            let (special, code, _) = specials[index];
            special_at[code as usize] = Some(special);
            if matches!(special, Special::Null) {
                null_code = Some(code);
            }
            index += 1;
        }
        Self { runs, specials, m0_code, null_code, run_at, special_at }
    }

    /// Whether an operand code is NULL.
    pub(crate) const fn is_null(&self, code: u32) -> bool {
        matches!(self.null_code, Some(null) if null as u32 == code)
    }

    /// Whether an operand code is M0.
    pub(crate) const fn is_m0(&self, code: u32) -> bool {
        self.m0_code as u32 == code
    }

    /// The operand code of a register.
    pub(crate) const fn code(&self, number: u8) -> u8 {
        if number == scalar::M0 { self.m0_code } else { number }
    }

    /// The run that a register belongs to.
    pub(crate) fn run_of(&self, number: u8) -> Option<&Run> {
        self.runs.get(usize::from(*self.run_at.get(usize::from(number))?))
    }

    /// The special source with an operand code.
    pub(crate) fn special(&self, code: u32) -> Option<Special> {
        *self.special_at.get(code as usize)?
    }

    /// A special source's operand code and name, if the generation has it.
    pub(crate) fn code_and_name(&self, special: Special) -> Option<(u8, &'static str)> {
        let found = self.specials.iter().find(|(known, ..)| *known == special);
        found.map(|&(_, code, name)| (code, name))
    }
}

/// GCN 3 ISA, section 5.2, "Scalar ALU Operands".
static GFX8: Registers = Registers::new(
    &[
        Run { first: 0, count: scalar::FLAT_SCRATCH, name: "s", naming: Naming::Numbered },
        Run { first: scalar::FLAT_SCRATCH, count: 2, name: "flat_scratch", naming: Naming::Halves },
        Run { first: scalar::XNACK_MASK, count: 2, name: "xnack_mask", naming: Naming::Halves },
        Run { first: scalar::VCC, count: 2, name: "vcc", naming: Naming::Halves },
        Run { first: scalar::TTMP, count: 2, name: "tba", naming: Naming::Halves },
        Run { first: scalar::TTMP + 2, count: 2, name: "tma", naming: Naming::Halves },
        Run { first: scalar::TTMP + 4, count: scalar::TTMPS - 4, name: "ttmp", naming: Naming::Numbered },
        Run { first: scalar::M0, count: 1, name: "m0", naming: Naming::Single },
        Run { first: scalar::EXEC, count: 2, name: "exec", naming: Naming::Halves },
    ],
    &[
        (Special::Vccz, 251, "src_vccz"),
        (Special::Execz, 252, "src_execz"),
        (Special::Scc, 253, "src_scc"),
        (Special::LdsDirect, 254, "src_lds_direct"),
    ],
    scalar::M0,
);

/// Vega ISA, section 5.2, "Scalar ALU Operands".
static GFX9: Registers = Registers::new(
    &[
        Run { first: 0, count: scalar::FLAT_SCRATCH, name: "s", naming: Naming::Numbered },
        Run { first: scalar::FLAT_SCRATCH, count: 2, name: "flat_scratch", naming: Naming::Halves },
        Run { first: scalar::XNACK_MASK, count: 2, name: "xnack_mask", naming: Naming::Halves },
        Run { first: scalar::VCC, count: 2, name: "vcc", naming: Naming::Halves },
        Run { first: scalar::TTMP, count: scalar::TTMPS, name: "ttmp", naming: Naming::Numbered },
        Run { first: scalar::M0, count: 1, name: "m0", naming: Naming::Single },
        Run { first: scalar::EXEC, count: 2, name: "exec", naming: Naming::Halves },
    ],
    &[
        (Special::SharedBase, 235, "src_shared_base"),
        (Special::SharedLimit, 236, "src_shared_limit"),
        (Special::PrivateBase, 237, "src_private_base"),
        (Special::PrivateLimit, 238, "src_private_limit"),
        (Special::PopsExitingWaveId, 239, "src_pops_exiting_wave_id"),
        (Special::Vccz, 251, "src_vccz"),
        (Special::Execz, 252, "src_execz"),
        (Special::Scc, 253, "src_scc"),
        (Special::LdsDirect, 254, "src_lds_direct"),
    ],
    scalar::M0,
);

/// The runs of every RDNA.
const RDNA_RUNS: &[Run] = &[
    Run { first: 0, count: scalar::VCC, name: "s", naming: Naming::Numbered },
    Run { first: scalar::VCC, count: 2, name: "vcc", naming: Naming::Halves },
    Run { first: scalar::TTMP, count: scalar::TTMPS, name: "ttmp", naming: Naming::Numbered },
    Run { first: scalar::M0, count: 1, name: "m0", naming: Naming::Single },
    Run { first: scalar::EXEC, count: 2, name: "exec", naming: Naming::Halves },
];

/// RDNA 2 ISA, section 5.2, "Scalar ALU Operands".
static GFX10: Registers = Registers::new(
    RDNA_RUNS,
    &[
        (Special::Null, 125, "null"),
        (Special::SharedBase, 235, "src_shared_base"),
        (Special::SharedLimit, 236, "src_shared_limit"),
        (Special::PrivateBase, 237, "src_private_base"),
        (Special::PrivateLimit, 238, "src_private_limit"),
        (Special::PopsExitingWaveId, 239, "src_pops_exiting_wave_id"),
        (Special::Vccz, 251, "src_vccz"),
        (Special::Execz, 252, "src_execz"),
        (Special::Scc, 253, "src_scc"),
        (Special::LdsDirect, 254, "src_lds_direct"),
    ],
    scalar::M0,
);

/// RDNA 3 ISA, section 5.1, "Scalar ALU Operands".
static GFX11: Registers = Registers::new(
    RDNA_RUNS,
    &[
        (Special::Null, 124, "null"),
        (Special::SharedBase, 235, "src_shared_base"),
        (Special::SharedLimit, 236, "src_shared_limit"),
        (Special::PrivateBase, 237, "src_private_base"),
        (Special::PrivateLimit, 238, "src_private_limit"),
        (Special::PopsExitingWaveId, 239, "src_pops_exiting_wave_id"),
        (Special::Vccz, 251, "src_vccz"),
        (Special::Execz, 252, "src_execz"),
        (Special::Scc, 253, "src_scc"),
        // Only LLVM has it, and in VOPD alone.
        (Special::LdsDirect, 254, "src_lds_direct"),
    ],
    125,
);

/// RDNA 4 ISA, section 6.2, "Scalar ALU Operands".
static GFX12: Registers = Registers::new(
    RDNA_RUNS,
    &[
        (Special::Null, 124, "null"),
        (Special::SharedBase, 235, "src_shared_base"),
        (Special::SharedLimit, 236, "src_shared_limit"),
        (Special::PrivateBase, 237, "src_private_base"),
        (Special::PrivateLimit, 238, "src_private_limit"),
        (Special::PopsExitingWaveId, 239, "src_pops_exiting_wave_id"),
        (Special::Vccz, 251, "src_vccz"),
        (Special::Execz, 252, "src_execz"),
        (Special::Scc, 253, "src_scc"),
        // Only LLVM has it, and in VOPD alone.
        (Special::LdsDirect, 254, "src_lds_direct"),
    ],
    125,
);

impl Generation {
    pub(crate) fn registers(self) -> &'static Registers {
        match self {
            Self::Gfx8 => &GFX8,
            Self::Gfx9 => &GFX9,
            Self::Gfx10 => &GFX10,
            Self::Gfx11 => &GFX11,
            Self::Gfx12 => &GFX12,
        }
    }
}
