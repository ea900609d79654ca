//! The longer forms of opcodes, derived from their rows: VOP3, SDWA and DPP of VOP1, VOP2 and VOPC, DPP of
//! VOP3 and VOP3P, and MIMG with named registers.

use super::model::{Addresses, Model};
use super::table::{Row, Specs};
use crate::signature::image::MOST_ADDRESSES;
use crate::signature::{Class, DPP, DPP8, E64, E64_DPP, SDWA, Spec};
use crate::{Access, Encoding, Slot};

/// Calls `add` with each longer form that a row has: its encoding, opcode and operands.
pub(super) fn derive(
    model: &Model,
    (encoding, row): (Encoding, &Row),
    specs: &Specs,
    mut add: impl FnMut(Encoding, u16, Specs),
) {
    use Encoding as E;
    // VOP3's opcode space holds those of the shorter encodings.
    let [of_vopc, of_vop2, of_vop1] = model.vop3_numbers;
    let (vop3_base, sdwa, dpp, dpp8) = match encoding {
        E::Vopc => (of_vopc, E::VopcSdwa, E::VopcDpp, E::VopcDpp8),
        E::Vop2 => (of_vop2, E::Vop2Sdwa, E::Vop2Dpp, E::Vop2Dpp8),
        E::Vop1 => (of_vop1, E::Vop1Sdwa, E::Vop1Dpp, E::Vop1Dpp8),
        E::Vop3 | E::Vop3p => return long_dpp((encoding, row), (row.number, specs), &mut add),
        E::Mimg => return named_addresses(model, row, specs, &mut add),
        _ => return,
    };
    let operands = |convert: &dyn Fn(Spec) -> Spec| -> Specs { specs.iter().copied().map(convert).collect() };
    if row.flags.has(E64) {
        let (number, specs) = (row.number + vop3_base, operands(&|spec| vop3(model, encoding, spec)));
        add(E::Vop3, number, specs.clone());
        long_dpp((E::Vop3, row), (number, &specs), &mut add);
    }
    if row.flags.has(SDWA) {
        add(sdwa, row.number, operands(&|spec| sdwa_form(encoding, spec)));
    }
    if row.flags.has(DPP) {
        add(dpp, row.number, operands(&dpp_form));
    }
    if row.flags.has(DPP8) {
        add(dpp8, row.number, operands(&dpp_form));
    }
}

/// VOP3 and VOP3P with a dword of lane permutation, which also names the first source: a vector register. The
/// destination is what it was without.
fn long_dpp(
    (encoding, row): (Encoding, &Row),
    (number, specs): (u16, &Specs),
    add: &mut impl FnMut(Encoding, u16, Specs),
) {
    if !row.flags.has(E64_DPP) {
        return;
    }
    let forms = match encoding {
        Encoding::Vop3 => [Encoding::Vop3Dpp, Encoding::Vop3Dpp8],
        _ => [Encoding::Vop3pDpp, Encoding::Vop3pDpp8],
    };
    for form in forms {
        let first = |spec: &Spec| match spec.slot {
            Slot::Src0 => Spec { class: Class::DppVgpr, ..*spec },
            _ => *spec,
        };
        add(form, number, specs.iter().map(first).collect());
    }
}

const ADDRESS_SLOTS: [Slot; MOST_ADDRESSES as usize] =
    [Slot::Vaddr, Slot::Vaddr1, Slot::Vaddr2, Slot::Vaddr3, Slot::Vaddr4];

/// The operands of an encoding in which images always name the registers of their address.
pub(super) fn with_named_addresses(encoding: Encoding, specs: Specs) -> Specs {
    if !matches!(encoding, Encoding::Vimage | Encoding::Vsample) {
        return specs;
    }
    let operands = |spec: Spec| {
        let count = match spec.class {
            Class::ImageAddress(address) if address.is_ray() => ADDRESS_SLOTS.len(),
            Class::ImageAddress(_) => ADDRESS_SLOTS.len() - 1,
            _ => 0,
        };
        let named = ADDRESS_SLOTS.into_iter().take(count).map(move |slot| Spec { slot, ..spec });
        named.chain((count == 0).then_some(spec))
    };
    specs.into_iter().flat_map(operands).collect()
}

/// An image instruction that names the registers of its address: a few operands in the place of one.
fn named_addresses(model: &Model, row: &Row, specs: &Specs, add: &mut impl FnMut(Encoding, u16, Specs)) {
    let is_named = |spec: &&Spec| matches!(spec.class, Class::ImageAddress(address) if address.has_several());
    let Some(address) = specs.iter().find(is_named) else { return };
    let (before, after) = specs.split_at(1);
    if model.addresses == Addresses::FourEach {
        const FORMS: [Encoding; 3] = [Encoding::MimgNsa, Encoding::MimgNsa2, Encoding::MimgNsa3];
        let Class::ImageAddress(parts) = address.class else { return };
        let has_sampler = specs.iter().any(|spec| spec.slot == Slot::Ssamp);
        for (more, form) in (1..).zip(FORMS) {
            if parts.of_named_dwords(more, has_sampler).is_none() {
                continue;
            }
            let addresses =
                ADDRESS_SLOTS.map(|slot| Spec { slot, class: Class::ImageAddresses(parts), ..*address });
            let addresses = &addresses[..=usize::from(more)];
            add(form, row.number, before.iter().chain(addresses).chain(&after[1..]).copied().collect());
        }
        return;
    }
    let addresses = ADDRESS_SLOTS.map(|slot| Spec { slot, ..*address });
    add(Encoding::MimgNsa, row.number, before.iter().chain(&addresses).chain(&after[1..]).copied().collect());
}

/// In VOP3 the second source can be anything, and VCC becomes any lane mask.
fn vop3(model: &Model, encoding: Encoding, spec: Spec) -> Spec {
    match (spec.slot, spec.class, spec.access) {
        (Slot::Src1, Class::Vgpr, _) => Spec { class: Class::Src, ..spec },
        (_, Class::Vcc, Access::Read) => {
            Spec { slot: Slot::Src2, class: Class::Mask, ty: spec.ty, access: Access::Read }
        }
        (_, Class::Vcc, access) => {
            let (slot, class) = match encoding {
                Encoding::Vopc => (Slot::Vdst, model.comparison_result),
                _ => (Slot::Sdst, Class::Sgpr),
            };
            Spec { slot, class, ty: spec.ty, access }
        }
        _ => spec,
    }
}

/// In SDWA each source is a vector or scalar register; a comparison can name its result.
fn sdwa_form(encoding: Encoding, spec: Spec) -> Spec {
    match (spec.slot, spec.class) {
        (Slot::Src0, Class::SrcVgpr) => Spec { class: Class::Vgpr, ..spec },
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
