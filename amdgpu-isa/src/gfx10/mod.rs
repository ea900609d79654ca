//! GFX10: RDNA 1 and RDNA 2.

mod formats;
mod modifiers;
mod rules;

mod ds;
mod exp;
mod flat;
mod mimg;
mod mtbuf;
mod mubuf;
mod smem;
mod sop1;
mod sop2;
mod sopc;
mod sopk;
mod sopp;
mod vintrp;
mod vop1;
mod vop2;
mod vop3;
mod vop3p;
mod vopc;

use crate::encoding::model::{Addresses, Halves, Model};
use crate::encoding::table::Archs;
use crate::signature::Class;
use crate::{Arch, Encoding};

/// gfx1010.
const V1010: Archs = Archs(1);
/// gfx1011 and gfx1012: as gfx1010, with dot products.
const V1011: Archs = Archs(1 << 1);
/// gfx1013: as gfx1010, with instructions that follow rays.
const V1013: Archs = Archs(1 << 2);
/// gfx1030 to gfx1036.
const V1030: Archs = Archs(1 << 3);
/// Before RDNA 2.
const BEFORE_1030: Archs = V1010.and(V1011).and(V1013);
/// Those with dot products.
const WITH_DOTS: Archs = V1011.and(V1030);
/// Those that follow rays.
const WITH_RAYS: Archs = V1013.and(V1030);
/// Every processor.
const ALL: Archs = BEFORE_1030.and(V1030);

/// The set of one processor.
const fn version(arch: Arch) -> Archs {
    match arch {
        Arch::Gfx1010 => V1010,
        Arch::Gfx1011 | Arch::Gfx1012 => V1011,
        Arch::Gfx1013 => V1013,
        _ => V1030,
    }
}

/// The encodings of GFX10.
pub(crate) const MODEL: Model = Model {
    encodings: formats::ENCODINGS,
    format: formats::format_of,
    field: formats::field_of,
    bits: &formats::OPERAND_BITS,
    tables: &[
        (Encoding::Sop2, sop2::SOP2),
        (Encoding::Sopk, sopk::SOPK),
        (Encoding::Sop1, sop1::SOP1),
        (Encoding::Sopc, sopc::SOPC),
        (Encoding::Sopp, sopp::SOPP),
        (Encoding::Smem, smem::SMEM),
        (Encoding::Vop1, vop1::VOP1),
        (Encoding::Vop2, vop2::VOP2),
        (Encoding::Vopc, vopc::VOPC),
        (Encoding::Vop3, vop3::VOP3),
        (Encoding::Vop3p, vop3p::VOP3P),
        (Encoding::Vintrp, vintrp::VINTRP),
        (Encoding::Ds, ds::DS),
        (Encoding::Flat, flat::FLAT),
        (Encoding::Global, flat::GLOBAL),
        (Encoding::Scratch, flat::SCRATCH),
        (Encoding::Mubuf, mubuf::MUBUF),
        (Encoding::Mtbuf, mtbuf::MTBUF),
        (Encoding::Mimg, mimg::MIMG),
        (Encoding::Exp, exp::EXP),
    ],
    vopd_second: &[],
    long_literals: &[Encoding::Vop3, Encoding::Vop3p],
    halves: Halves::Whole,
    names_permutations: true,
    unnamed_sdwa_comparisons: false,
    comparison_result: Class::Mask,
    addresses: Addresses::FourEach,
    version,
    // RDNA 2 ISA, section 13.3.
    vop3_numbers: [0, 0x100, 0x180],
    modifiers: modifiers::modifiers_of,
    used: modifiers::used_bits,
    ignored: modifiers::ignored_bits,
    ignored_control: |_, _| 0,
    rest: modifiers::rest_bits,
    check: rules::check,
    check_fields: rules::check_fields,
    has_form: rules::has_form,
    instead: formats::instead,
    is_mark: formats::is_mark,
    scaled: None,
};
