//! What a mnemonic tells by the way it is spelled, found out once: analyses ask it of every instruction.

use std::sync::LazyLock;

use super::Op;

/// A set of families of mnemonics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Families(u32);

impl Families {
    /// A comparison of lanes: `v_cmp_*`.
    pub const COMPARE: Self = Self(1 << 0);
    /// A comparison of lanes that writes EXEC: `v_cmpx_*`.
    pub const COMPARE_EXEC: Self = Self(1 << 1);
    /// Copies EXEC, then changes it: `s_*_saveexec_*`.
    pub const SAVES_EXEC: Self = Self(1 << 2);
    /// Changes EXEC, then copies it: `s_*_wrexec_*`.
    pub const COPIES_NEW_EXEC: Self = Self(1 << 3);
    /// A matrix instruction.
    pub const MATRIX: Self = Self(1 << 4);
    /// Its results arrive some time after it: memory and matrix instructions.
    pub const LATE: Self = Self(1 << 5);
    /// Has vector instructions read or write VGPRs that their operands do not name.
    pub const VGPRS_BY_NUMBER: Self = Self(1 << 6);
    /// Runs in the unit for transcendental functions.
    pub const TRANSCENDENTAL: Self = Self(1 << 7);
    /// A dot product.
    pub const DOT: Self = Self(1 << 8);
    /// Moves values between lanes by the hardware of LDS, without its memory.
    pub const MOVES_LANES: Self = Self(1 << 9);
    /// Moves data between memory and LDS.
    pub const TO_OR_FROM_LDS: Self = Self(1 << 10);
    /// Reads or writes SGPRs that its operands do not name.
    pub const SGPRS_BY_NUMBER: Self = Self(1 << 11);
    /// Writes one half of a register, and reads that register only because the other half stays.
    pub const KEEPS_HALF: Self = Self(1 << 12);
    /// Works on a counter by which waves of different workgroups wait for each other: `ds_gws_*`.
    pub const GLOBAL_SYNC: Self = Self(1 << 13);
    /// Works on LDS or GDS, or by their hardware: `ds_*`.
    pub const DATA_SHARE: Self = Self(1 << 14);
    /// Has to do with a barrier.
    pub const BARRIER: Self = Self(1 << 15);
    /// Scalar memory by a buffer's resource: `s_buffer_*`.
    pub const SCALAR_BUFFER: Self = Self(1 << 16);
    /// Scalar memory that is scratch: `s_scratch_*`.
    pub const SCALAR_SCRATCH: Self = Self(1 << 17);

    /// Whether any of these families is among them.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn of(name: &str) -> Self {
        const MEMORY: [&str; 15] = [
            "s_load",
            "s_buffer_load",
            "s_scratch_load",
            "s_mem",
            "s_atc",
            "s_dcache",
            "s_atomic",
            "s_buffer_atomic",
            "buffer_",
            "tbuffer_",
            "image_",
            "global_",
            "flat_",
            "scratch_",
            "ds_",
        ];
        const TRANSCENDENTAL: [&str; 7] =
            ["v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"];
        let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
        let is_matrix = starts(&["v_mfma", "v_smfmac", "v_wmma"]);
        let families = [
            (Self::COMPARE, starts(&["v_cmp_"])),
            (Self::COMPARE_EXEC, starts(&["v_cmpx"])),
            (Self::SAVES_EXEC, name.contains("_saveexec_")),
            (Self::COPIES_NEW_EXEC, name.contains("_wrexec_")),
            (Self::MATRIX, is_matrix),
            (Self::LATE, is_matrix || starts(&MEMORY)),
            (Self::VGPRS_BY_NUMBER, starts(&["s_set_gpr_idx"])),
            (Self::SGPRS_BY_NUMBER, starts(&["s_movrel"])),
            (Self::TRANSCENDENTAL, starts(&TRANSCENDENTAL)),
            (Self::DOT, starts(&["v_dot"])),
            (Self::MOVES_LANES, name.contains("permute") || name.contains("swizzle")),
            (Self::TO_OR_FROM_LDS, name.contains("_lds_")),
            (Self::KEEPS_HALF, ["_d16", "_mixlo_", "_mixhi_"].iter().any(|part| name.contains(part))),
            (Self::GLOBAL_SYNC, starts(&["ds_gws_"])),
            (Self::DATA_SHARE, starts(&["ds_"])),
            (Self::BARRIER, name.contains("barrier")),
            (Self::SCALAR_BUFFER, starts(&["s_buffer_"])),
            (Self::SCALAR_SCRATCH, starts(&["s_scratch_"])),
        ];
        let own = families.into_iter().filter(|(_, is_one)| *is_one);
        Self(own.fold(0, |all, (family, _)| all | family.0))
    }
}

impl Op {
    /// What its mnemonic tells.
    pub fn families(self) -> Families {
        static FAMILIES: LazyLock<Vec<Families>> =
            LazyLock::new(|| Op::ALL.iter().map(|op| Families::of(op.name())).collect());
        FAMILIES[self as usize]
    }

    /// Whether it is of one of these families.
    pub fn is_of(self, families: Families) -> bool {
        self.families().has(families)
    }
}
