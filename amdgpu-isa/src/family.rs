//! Families of opcodes, found out once from their signatures and encodings: analyses ask for them of every
//! instruction.

use std::sync::LazyLock;

use crate::action::{Action, Compared, Comparison};
use crate::encoding::table::all_rows;
use crate::signature::{
    ATOMIC, BARRIER, CVT, Class, DOT, EXEC_W, FROM_LDS, GDS_ONLY, HALF, INDIRECT, ImmKind, LD_SCALE, LOAD,
    M0_R, M0_W, MIX, MODE_W, MOVES_LANES, SCRATCH, SIDE_EFFECT, SIGNED_64, SOURCE_IN_LDS, Signature,
    TO_LDS_ALWAYS, TRANS, Ty,
};
use crate::{Encoding, MaskOp, Op, Slot, WaveSize};

/// A set of families of opcodes.
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
    /// An image instruction: `image_*`.
    pub const IMAGE: Self = Self(1 << 18);
    /// Interpolates parameters of triangles, or loads them: `v_interp_*`, `lds_param_load`,
    /// `lds_direct_load`.
    pub const INTERPOLATION: Self = Self(1 << 19);
    /// Converts numbers from one format to another: `v_cvt_*`.
    pub const CONVERSION: Self = Self(1 << 20);
    /// Extends literals to 64 bits with their sign.
    pub const SIGNED_LITERALS: Self = Self(1 << 21);
    /// An atomic on LDS whose operand lies there as well: `ds_*_src2_*`.
    pub const SOURCE_IN_LDS: Self = Self(1 << 22);

    /// Whether any of these families is among them.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Those of an opcode that stands in the table of an encoding.
    fn of(signature: &Signature, encoding: Encoding) -> Self {
        use Encoding as E;
        let has = |flag| signature.flags.has(flag);
        let in_any = |encodings: &[Encoding]| encodings.contains(&encoding);
        let with_masks = |is: fn(MaskOp) -> bool| {
            let sizes = [WaveSize::Wave32, WaveSize::Wave64];
            sizes.into_iter().filter_map(|wave| signature.op.mask_op(wave)).any(is)
        };
        let is_matrix = matches!(signature.action, Some(Action::Matrix(_))) || has(LD_SCALE);
        let images = in_any(&[E::Mimg, E::MimgNsa, E::MimgNsa2, E::MimgNsa3, E::Vimage, E::Vsample]);
        let is_memory =
            images || in_any(&[E::Smem, E::Ds, E::Flat, E::Global, E::Scratch, E::Mubuf, E::Mtbuf]);
        let by_number = has(INDIRECT) && in_any(&[E::Sop1, E::Sopc, E::Sopp]);
        let sets_mode = has(M0_W) || has(MODE_W);
        let takes_resource =
            signature.operands.iter().any(|spec| spec.slot == Slot::Sbase && spec.ty == Ty::B128);
        let takes_attribute =
            signature.operands.iter().any(|spec| spec.class == Class::Imm(ImmKind::Attribute));
        let compares_signed =
            matches!(signature.action, Some(Action::Compare(Comparison { operands: Compared::I64, .. })));
        let families = [
            (Self::COMPARE, encoding == E::Vopc && !has(EXEC_W)),
            (Self::COMPARE_EXEC, encoding == E::Vopc && has(EXEC_W)),
            (Self::SAVES_EXEC, with_masks(|op| matches!(op, MaskOp::Saveexec(_)))),
            (Self::COPIES_NEW_EXEC, with_masks(|op| matches!(op, MaskOp::Wrexec(_)))),
            (Self::MATRIX, is_matrix),
            (Self::LATE, is_matrix || is_memory),
            (Self::VGPRS_BY_NUMBER, by_number && sets_mode),
            (Self::TRANSCENDENTAL, has(TRANS)),
            (Self::DOT, has(DOT)),
            (Self::MOVES_LANES, has(MOVES_LANES)),
            (Self::TO_OR_FROM_LDS, has(TO_LDS_ALWAYS) || has(FROM_LDS)),
            (Self::SGPRS_BY_NUMBER, by_number && has(M0_R) && !sets_mode),
            (Self::KEEPS_HALF, has(HALF) && (has(LOAD) || has(MIX))),
            (Self::GLOBAL_SYNC, encoding == E::Ds && has(GDS_ONLY) && has(SIDE_EFFECT) && !has(ATOMIC)),
            (Self::DATA_SHARE, encoding == E::Ds),
            (Self::BARRIER, has(BARRIER)),
            (Self::SCALAR_BUFFER, encoding == E::Smem && takes_resource),
            (Self::SCALAR_SCRATCH, encoding == E::Smem && has(SCRATCH)),
            (Self::IMAGE, images),
            (Self::INTERPOLATION, takes_attribute || in_any(&[E::Vinterp, E::Ldsdir])),
            (Self::CONVERSION, has(CVT)),
            (Self::SIGNED_LITERALS, has(SIGNED_64) || compares_signed),
            (Self::SOURCE_IN_LDS, has(SOURCE_IN_LDS)),
        ];
        let own = families.into_iter().filter(|(_, is_one)| *is_one);
        Self(own.fold(0, |all, (family, _)| all | family.0))
    }
}

impl Op {
    /// Those that it is of.
    pub fn families(self) -> Families {
        static FAMILIES: LazyLock<Vec<Families>> = LazyLock::new(|| {
            let mut all = vec![Families::default(); Op::ALL.len()];
            for (encoding, row) in all_rows() {
                all[row.signature.op as usize].0 |= Families::of(row.signature, encoding).0;
            }
            all
        });
        FAMILIES[self as usize]
    }

    /// Whether it is of one of these families.
    pub fn is_of(self, families: Families) -> bool {
        self.families().has(families)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What mnemonics say by the way they are spelled.
    #[test]
    fn families_are_those_that_mnemonics_name() {
        let images = ["image_"];
        let memory = ["buffer_", "tbuffer_", "global_", "flat_", "scratch_", "ds_"];
        let scalar_memory = [
            "s_load",
            "s_store",
            "s_buffer_load",
            "s_buffer_store",
            "s_scratch_",
            "s_mem",
            "s_atc",
            "s_dcache",
            "s_gl1",
            "s_get_waveid",
            "s_prefetch",
            "s_atomic",
            "s_buffer_atomic",
            "s_buffer_prefetch",
        ];
        let transcendental = ["v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"];
        let mut others = Vec::new();
        for &op in Op::ALL {
            let name = op.name();
            let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
            let is_matrix = starts(&["v_mfma", "v_smfmac", "v_wmma", "v_swmmac"]);
            let is_memory = starts(&images) || starts(&memory) || starts(&scalar_memory);
            let loads = name.contains("_load_") || name.contains("_read_");
            let odd = ["_d16", "_d16_hi", "_d16_hi_x", "_d16_x", "_d16_xyz"];
            let into_half = odd.iter().any(|end| name.ends_with(end));
            let keeps_half = loads && into_half || name.contains("_mixlo_") || name.contains("_mixhi_");
            for (family, named) in [
                (Families::COMPARE, starts(&["v_cmp_"])),
                (Families::COMPARE_EXEC, starts(&["v_cmpx"])),
                (Families::SAVES_EXEC, name.contains("_saveexec_")),
                (Families::COPIES_NEW_EXEC, name.contains("_wrexec_")),
                (Families::MATRIX, is_matrix),
                (Families::LATE, is_matrix || is_memory),
                (Families::VGPRS_BY_NUMBER, starts(&["s_set_gpr_idx"])),
                (Families::SGPRS_BY_NUMBER, starts(&["s_movrel"])),
                (Families::TRANSCENDENTAL, starts(&transcendental)),
                (Families::DOT, starts(&["v_dot"])),
                (Families::MOVES_LANES, name.contains("permute") || name.contains("swizzle")),
                (Families::TO_OR_FROM_LDS, name.contains("_lds_")),
                (Families::KEEPS_HALF, keeps_half),
                (Families::GLOBAL_SYNC, starts(&["ds_gws_"])),
                (Families::DATA_SHARE, starts(&["ds_"])),
                (Families::BARRIER, name.contains("barrier")),
                (Families::SCALAR_BUFFER, starts(&["s_buffer_", "s_atc_probe_buffer"])),
                (Families::SCALAR_SCRATCH, starts(&["s_scratch_"])),
                (Families::IMAGE, starts(&images)),
                (Families::INTERPOLATION, starts(&["v_interp_", "lds_param_load", "lds_direct_load"])),
                (Families::CONVERSION, starts(&["v_cvt_"])),
                (
                    Families::SIGNED_LITERALS,
                    name.ends_with("_i64") && !starts(&memory) && !starts(&scalar_memory),
                ),
                (Families::SOURCE_IN_LDS, name.contains("_src2_")),
            ] {
                if op.is_of(family) != named {
                    others.push((op, family));
                }
            }
        }
        assert_eq!(others, []);
    }
}
