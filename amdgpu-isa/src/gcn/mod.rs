//! GFX8 and GFX9: GCN 3 and 4, Vega and CDNA. They number what both have alike, so a row stands once for
//! both.

mod formats;
mod modifiers;
mod rules;
mod scaled;

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
use crate::encoding::table::{Archs, Row};
use crate::signature::Class;
use crate::{Arch, Encoding};

/// gfx900, gfx902, gfx909, gfx90c.
const V900: Archs = Archs(1);
/// gfx904: as gfx900, with `v_fma_mix_*` instead of `v_mad_mix_*`.
const V904: Archs = Archs(1 << 1);
/// gfx906.
const V906: Archs = Archs(1 << 2);
/// gfx908.
const V908: Archs = Archs(1 << 3);
/// gfx90a.
const V90A: Archs = Archs(1 << 4);
/// gfx942.
const V942: Archs = Archs(1 << 5);
/// gfx950.
const V950: Archs = Archs(1 << 6);
/// gfx9-generic: what gfx900, gfx904 and gfx906 have.
const V9_GENERIC: Archs = Archs(1 << 7);
/// gfx9-4-generic: what gfx942 and gfx950 have, and no FP8.
const V9_4_GENERIC: Archs = Archs(1 << 8);
/// gfx801, gfx802, gfx803 and gfx805.
const V80: Archs = Archs(1 << 9);
/// gfx810.
const V810: Archs = Archs(1 << 10);
/// Every processor.
const ALL: Archs = BEFORE_942.and(SINCE_942);
/// Those of GFX8.
const V8: Archs = V80.and(V810);
/// Those of GFX9.
const SINCE_900: Archs = V9_BEFORE_942.and(SINCE_942);
/// Up to gfx908.
const BEFORE_90A: Archs = V8.and(V9_BEFORE_90A);
/// Up to gfx90a.
const BEFORE_942: Archs = V8.and(V9_BEFORE_942);
/// Those of GFX9 up to gfx908.
const V9_BEFORE_90A: Archs = V900.and(V904).and(V906).and(V908).and(V9_GENERIC);
/// Those of GFX9 up to gfx90a.
const V9_BEFORE_942: Archs = V9_BEFORE_90A.and(V90A);
/// gfx908 and gfx90a.
const V908_90A: Archs = V908.and(V90A);
/// gfx904 and all from gfx906 on.
const SINCE_904: Archs = V904.and(SINCE_906);
/// gfx906 and later.
const SINCE_906: Archs = V906.and(SINCE_908);
/// gfx908 and later.
const SINCE_908: Archs = V908.and(SINCE_90A);
/// gfx90a and later.
const SINCE_90A: Archs = V90A.and(SINCE_942);
/// gfx942 and later.
const SINCE_942: Archs = V942.and(V950).and(V9_4_GENERIC);
/// Those with FP8 and BF8.
const WITH_FP8: Archs = V942.and(V950);

/// The set of one processor.
const fn version(arch: Arch) -> Archs {
    match arch {
        Arch::Gfx801 | Arch::Gfx802 | Arch::Gfx803 | Arch::Gfx805 => V80,
        Arch::Gfx810 => V810,
        Arch::Gfx900 | Arch::Gfx902 | Arch::Gfx909 | Arch::Gfx90c => V900,
        Arch::Gfx904 => V904,
        Arch::Gfx906 => V906,
        Arch::Gfx908 => V908,
        Arch::Gfx90a => V90A,
        Arch::Gfx942 => V942,
        Arch::Gfx950 => V950,
        Arch::Gfx9Generic => V9_GENERIC,
        Arch::Gfx9_4Generic => V9_4_GENERIC,
        _ => Archs(0),
    }
}

/// The tables of both.
const TABLES: &[(Encoding, &[Row])] = &[
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
    (Encoding::Vop3px, scaled::VOP3PX),
    (Encoding::Vintrp, vintrp::VINTRP),
    (Encoding::Ds, ds::DS),
    (Encoding::Flat, flat::FLAT),
    (Encoding::Global, flat::GLOBAL),
    (Encoding::Scratch, flat::SCRATCH),
    (Encoding::Mubuf, mubuf::MUBUF),
    (Encoding::Mtbuf, mtbuf::MTBUF),
    (Encoding::Mimg, mimg::MIMG),
    (Encoding::Exp, exp::EXP),
];

/// The encodings of GFX9.
pub(crate) const GFX9: Model = Model {
    encodings: formats::GFX9,
    format: formats::format_of,
    field: formats::field_of,
    bits: &formats::OPERAND_BITS,
    tables: TABLES,
    version,
    vopd_second: &[],
    long_literals: &[],
    halves: Halves::Whole,
    names_permutations: false,
    unnamed_sdwa_comparisons: false,
    comparison_result: Class::ScalarDst,
    addresses: Addresses::OneEach,
    // Vega ISA, section 12.10.
    vop3_numbers: [0, 0x100, 0x140],
    modifiers: modifiers::modifiers_of,
    used: modifiers::used_bits,
    ignored: modifiers::ignored_bits,
    ignored_control: |_, _| 0,
    rest: modifiers::rest_bits,
    check: rules::check,
    check_fields: rules::check_fields,
    has_form: rules::has_form,
    instead: formats::unmarked,
    is_mark: formats::is_mark,
    scaled: Some(&scaled::SCALED),
};

/// The encodings of GFX8.
pub(crate) const GFX8: Model = Model {
    encodings: formats::GFX8,
    field: formats::gfx8_field_of,
    bits: &formats::GFX8_OPERAND_BITS,
    unnamed_sdwa_comparisons: true,
    scaled: None,
    ..GFX9
};
