//! The longer forms of VOP1, VOP2 and VOPC opcodes: VOP3, SDWA and DPP, derived from their rows.

use super::model::Model;
use super::table::{Row, Specs};
use crate::signature::{Class, DPP, E64, SDWA, Spec, Ty};
use crate::{Access, Encoding, Slot};

/// Calls `add` with each longer form that a row has: its encoding, opcode and operands.
pub(super) fn derive(
    model: &Model,
    (encoding, row): (Encoding, &Row),
    specs: &Specs,
    mut add: impl FnMut(Encoding, u16, Specs),
) {
    // VOP3's opcode space holds those of the shorter encodings.
    let [of_vopc, of_vop2, of_vop1] = model.vop3_numbers;
    let (vop3_base, sdwa, dpp) = match encoding {
        Encoding::Vopc => (of_vopc, Encoding::VopcSdwa, None),
        Encoding::Vop2 => (of_vop2, Encoding::Vop2Sdwa, Some(Encoding::Vop2Dpp)),
        Encoding::Vop1 => (of_vop1, Encoding::Vop1Sdwa, Some(Encoding::Vop1Dpp)),
        _ => return,
    };
    let operands = |convert: &dyn Fn(Spec) -> Spec| specs.iter().copied().map(convert).collect();
    if row.flags.has(E64) {
        add(Encoding::Vop3, row.number + vop3_base, operands(&|spec| vop3(encoding, spec)));
    }
    if row.flags.has(SDWA) {
        add(sdwa, row.number, operands(&|spec| sdwa_form(encoding, spec)));
    }
    if let (true, Some(dpp)) = (row.flags.has(DPP), dpp) {
        add(dpp, row.number, operands(&dpp_form));
    }
}

/// In VOP3 the second source can be anything, and VCC becomes any register pair.
fn vop3(encoding: Encoding, spec: Spec) -> Spec {
    match (spec.slot, spec.class, spec.access) {
        (Slot::Src1, Class::Vgpr, _) => Spec { class: Class::Src, ..spec },
        (_, Class::Vcc, Access::Read) => {
            Spec { slot: Slot::Src2, class: Class::Mask, ty: Ty::I64, access: Access::Read }
        }
        (_, Class::Vcc, access) => {
            let (slot, class) = match encoding {
                Encoding::Vopc => (Slot::Vdst, Class::ScalarDst),
                _ => (Slot::Sdst, Class::Sgpr),
            };
            Spec { slot, class, ty: Ty::I64, access }
        }
        _ => spec,
    }
}

/// In SDWA each source is a vector or scalar register; a comparison can name its result.
fn sdwa_form(encoding: Encoding, spec: Spec) -> Spec {
    match (spec.slot, spec.class) {
        (Slot::Src0 | Slot::Src1, _) => Spec { class: Class::SdwaSrc, ..spec },
        (_, Class::Vcc) if encoding == Encoding::Vopc => {
            Spec { slot: Slot::Sdst, class: Class::SdwaDst, ..spec }
        }
        _ => spec,
    }
}

/// In DPP both sources are vector registers.
fn dpp_form(spec: Spec) -> Spec {
    match spec.slot {
        Slot::Src0 | Slot::Src1 => Spec { class: Class::Vgpr, ..spec },
        _ => spec,
    }
}
