//! GFX12: RDNA 4.

mod formats;
mod modifiers;
mod rules;

mod ds;
mod exp;
mod flat;
mod ldsdir;
mod mtbuf;
mod mubuf;
mod smem;
mod sop1;
mod sop2;
mod sopc;
mod sopk;
mod sopp;
mod vimage;
mod vinterp;
mod vop1;
mod vop2;
mod vop3;
mod vop3p;
mod vopc;
mod vopd;
mod vsample;

use crate::encoding::model::{Addresses, Halves, Model};
use crate::encoding::table::Archs;
use crate::signature::Class;
use crate::{Arch, Encoding};

/// Every processor.
const ALL: Archs = Archs(1);

/// The set of one processor.
const fn version(_: Arch) -> Archs {
    ALL
}

/// The encodings of GFX12.
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
        (Encoding::Vopd, vopd::FIRST),
        (Encoding::Vinterp, vinterp::VINTERP),
        (Encoding::Ldsdir, ldsdir::LDSDIR),
        (Encoding::Ds, ds::DS),
        (Encoding::Flat, flat::FLAT),
        (Encoding::Global, flat::GLOBAL),
        (Encoding::Scratch, flat::SCRATCH),
        (Encoding::Mubuf, mubuf::MUBUF),
        (Encoding::Mtbuf, mtbuf::MTBUF),
        (Encoding::Vimage, vimage::VIMAGE),
        (Encoding::Vsample, vsample::VSAMPLE),
        (Encoding::Exp, exp::EXP),
    ],
    vopd_second: vopd::SECOND,
    long_literals: &[Encoding::Vop3, Encoding::Vop3p, Encoding::Vopd],
    halves: Halves::Quiet,
    names_permutations: true,
    unnamed_sdwa_comparisons: false,
    comparison_result: Class::Mask,
    addresses: Addresses::Always,
    version,
    // RDNA 4 ISA, section 15.3.4.
    vop3_numbers: [0, 0x100, 0x180],
    modifiers: modifiers::modifiers_of,
    used: modifiers::used_bits,
    ignored: modifiers::ignored_bits,
    ignored_control: modifiers::ignored_control,
    rest: modifiers::rest_bits,
    check: rules::check,
    check_fields: rules::check_fields,
    has_form: rules::has_form,
    instead: formats::instead,
    is_mark: formats::is_mark,
    scaled: None,
};
