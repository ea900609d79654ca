//! Modifiers: which field of [`Mods`] sits in which bits.

use super::format::Field;
use crate::{DppCtrl, Encoding, Mods, Sdwa, SdwaSel, SdwaUnused};

/// A modifier with a field of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Modifier {
    Abs,
    Neg,
    /// Absolute value of one source (SDWA, DPP).
    AbsOf(u8),
    /// Negation of one source (SDWA, DPP).
    NegOf(u8),
    NegHi,
    OpSel,
    /// OP_SEL_HI of sources 0 and 1.
    OpSelHi,
    /// OP_SEL_HI of source 2, which sits apart.
    OpSelHi2,
    Omod,
    Clamp,
    Offset,
    SignedOffset,
    Offset1,
    Glc,
    Slc,
    Scc,
    Lds,
    Gds,
    Idxen,
    Offen,
    Tfe,
    Format,
    SoffsetEn,
    Cbsz,
    Abid,
    Blgp,
    Dmask,
    Unorm,
    Da,
    A16,
    D16,
    Lwe,
    /// The dimension of an image.
    Dim,
    R128,
    High,
    Fi,
    BoundCtrl,
    Compr,
    Done,
    Vm,
    RowEn,
    SdwaDstSel,
    SdwaDstUnused,
    SdwaSel(u8),
    SdwaSext(u8),
    Dlc,
    /// GFX12's temporal hint.
    Th,
    /// That of an atomic, without its lowest bit.
    AtomicTh,
    Scope,
    /// SMEM's SOFFSET is a register: its field does not hold this code, which is NULL's.
    SoffsetUsed(u8),
    /// One bit of OP_SEL that stands beside a register's number.
    OpSelOf(u8),
    /// DPP8's selectors of eight lanes.
    Dpp8Lanes,
    /// The first source's code that announces DPP8: 234 reads inactive lanes, 233 does not.
    Dpp8Mark,
    /// What VINTERP and LDSDIR wait for.
    Wait,
    /// VDSDIR: memory instructions that read vector registers are not waited for.
    WaitVsrc,
    DppCtrl,
    DppBoundCtrl,
    DppBankMask,
    DppRowMask,
}

/// A modifier, its field, and which of the field's bits it may set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ModifierBits {
    pub(crate) modifier: Modifier,
    pub(crate) field: Field,
    pub(crate) mask: u32,
}

impl ModifierBits {
    pub(crate) const fn new(modifier: Modifier, field: Field) -> Self {
        Self { modifier, field, mask: (1 << field.width) - 1 }
    }

    pub(crate) const fn masked(modifier: Modifier, field: Field, mask: u32) -> Self {
        Self { modifier, field, mask }
    }
}

/// The first source's code of DPP8.
pub(crate) const DPP8: u32 = 233;
/// As that, and inactive lanes are read.
pub(crate) const DPP8_FI: u32 = 234;

/// A field that holds none of its defined values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Undefined(pub(crate) &'static str);

/// The modifiers of an encoding before any field is read: SDWA and DPP are present.
pub(crate) fn empty(encoding: Encoding) -> Mods {
    let mut mods = Mods::default();
    match encoding {
        Encoding::Vop1Sdwa | Encoding::Vop2Sdwa | Encoding::VopcSdwa => mods.sdwa = Some(Sdwa::default()),
        _ if encoding.is_dpp() => {
            mods.dpp = Some(DppCtrl { ctrl: 0, row_mask: 0, bank_mask: 0, bound_ctrl: false });
        }
        _ if encoding.is_dpp8() => mods.dpp8 = Some([0; 3]),
        _ => {}
    }
    mods
}

/// Whether instructions have a dword of SDWA or DPP control, which is never all zeros.
pub(crate) const fn has_control_word(encoding: Encoding) -> bool {
    encoding.is_dpp() || encoding.is_dpp8() || encoding.is_sdwa()
}

/// Stores a field's value.
pub(crate) fn set(mods: &mut Mods, bits: ModifierBits, value: u32) -> Result<(), Undefined> {
    let flag = value != 0;
    let byte = value as u8;
    match bits.modifier {
        Modifier::Abs => mods.abs = byte,
        Modifier::Neg => mods.neg = byte,
        Modifier::AbsOf(source) => mods.abs |= byte << source,
        Modifier::NegOf(source) => mods.neg |= byte << source,
        Modifier::NegHi => mods.neg_hi = byte,
        Modifier::OpSel => mods.op_sel = byte,
        Modifier::OpSelHi => mods.op_sel_hi |= byte,
        Modifier::OpSelHi2 => mods.op_sel_hi |= byte << 2,
        Modifier::Omod => mods.omod = byte,
        Modifier::Clamp => mods.clamp = flag,
        Modifier::Offset => mods.offset = value as i32,
        Modifier::SignedOffset => {
            let unused = 32 - u32::from(bits.field.width);
            mods.offset = ((value << unused) as i32) >> unused;
        }
        Modifier::Offset1 => mods.offset1 = byte,
        Modifier::Glc => mods.glc = flag,
        Modifier::Slc => mods.slc = flag,
        Modifier::Scc => mods.scc = flag,
        Modifier::Lds => mods.lds = flag,
        Modifier::Gds => mods.gds = flag,
        Modifier::Idxen => mods.idxen = flag,
        Modifier::Offen => mods.offen = flag,
        Modifier::Tfe => mods.tfe = flag,
        Modifier::Format => mods.format = byte,
        Modifier::SoffsetEn => mods.soffset_en = flag,
        Modifier::Cbsz => mods.cbsz = byte,
        Modifier::Abid => mods.abid = byte,
        Modifier::Blgp => mods.blgp = byte,
        Modifier::Dmask => mods.dmask = byte,
        Modifier::Unorm => mods.unorm = flag,
        Modifier::Da => mods.da = flag,
        Modifier::A16 => mods.a16 = flag,
        Modifier::D16 => mods.d16 = flag,
        Modifier::Lwe => mods.lwe = flag,
        Modifier::Dim => mods.dim = byte,
        Modifier::R128 => mods.r128 = flag,
        Modifier::High => mods.high = flag,
        Modifier::Fi => mods.fi = flag,
        Modifier::BoundCtrl => mods.bound_ctrl = flag,
        Modifier::Compr => mods.compr = flag,
        Modifier::Done => mods.done = flag,
        Modifier::Vm => mods.vm = flag,
        Modifier::RowEn => mods.row_en = flag,
        Modifier::SdwaDstSel => sdwa(mods).dst_sel = sel(value)?,
        Modifier::SdwaDstUnused => {
            sdwa(mods).dst_unused = match value {
                0 => SdwaUnused::Pad,
                1 => SdwaUnused::Sext,
                2 => SdwaUnused::Preserve,
                _ => return Err(Undefined("DST_UNUSED")),
            };
        }
        Modifier::SdwaSel(source) => sdwa(mods).src_sel[usize::from(source)] = sel(value)?,
        Modifier::SdwaSext(source) => sdwa(mods).sext[usize::from(source)] = flag,
        Modifier::Dlc => mods.dlc = flag,
        Modifier::Th => mods.th = byte,
        Modifier::AtomicTh => mods.th = byte << 1,
        Modifier::Scope => mods.scope = byte,
        Modifier::WaitVsrc => mods.wait_vsrc = flag,
        Modifier::SoffsetUsed(null) => mods.soffset_en = value != null.into(),
        Modifier::OpSelOf(bit) => mods.op_sel |= byte << bit,
        Modifier::Dpp8Lanes => mods.dpp8 = Some([value as u8, (value >> 8) as u8, (value >> 16) as u8]),
        Modifier::Dpp8Mark => mods.fi = value == DPP8_FI,
        Modifier::Wait => mods.wait = byte,
        Modifier::DppCtrl => dpp(mods).ctrl = value as u16,
        Modifier::DppBoundCtrl => dpp(mods).bound_ctrl = flag,
        Modifier::DppBankMask => dpp(mods).bank_mask = byte,
        Modifier::DppRowMask => dpp(mods).row_mask = byte,
    }
    Ok(())
}

/// Reads what a field must hold.
pub(crate) fn get(mods: &Mods, modifier: Modifier) -> u32 {
    let sdwa = mods.sdwa.unwrap_or_default();
    let dpp = mods.dpp.unwrap_or(DppCtrl { ctrl: 0, row_mask: 0, bank_mask: 0, bound_ctrl: false });
    match modifier {
        Modifier::Abs => mods.abs.into(),
        Modifier::Neg => mods.neg.into(),
        Modifier::AbsOf(source) => (mods.abs >> source & 1).into(),
        Modifier::NegOf(source) => (mods.neg >> source & 1).into(),
        Modifier::NegHi => mods.neg_hi.into(),
        Modifier::OpSel => mods.op_sel.into(),
        Modifier::OpSelHi => (mods.op_sel_hi & 3).into(),
        Modifier::OpSelHi2 => (mods.op_sel_hi >> 2).into(),
        Modifier::Omod => mods.omod.into(),
        Modifier::Clamp => mods.clamp.into(),
        Modifier::Offset | Modifier::SignedOffset => mods.offset as u32,
        Modifier::Offset1 => mods.offset1.into(),
        Modifier::Glc => mods.glc.into(),
        Modifier::Slc => mods.slc.into(),
        Modifier::Scc => mods.scc.into(),
        Modifier::Lds => mods.lds.into(),
        Modifier::Gds => mods.gds.into(),
        Modifier::Idxen => mods.idxen.into(),
        Modifier::Offen => mods.offen.into(),
        Modifier::Tfe => mods.tfe.into(),
        Modifier::Format => mods.format.into(),
        Modifier::SoffsetEn => mods.soffset_en.into(),
        Modifier::Cbsz => mods.cbsz.into(),
        Modifier::Abid => mods.abid.into(),
        Modifier::Blgp => mods.blgp.into(),
        Modifier::Dmask => mods.dmask.into(),
        Modifier::Unorm => mods.unorm.into(),
        Modifier::Da => mods.da.into(),
        Modifier::A16 => mods.a16.into(),
        Modifier::D16 => mods.d16.into(),
        Modifier::Lwe => mods.lwe.into(),
        Modifier::Dim => mods.dim.into(),
        Modifier::R128 => mods.r128.into(),
        Modifier::High => mods.high.into(),
        Modifier::Fi => mods.fi.into(),
        Modifier::BoundCtrl => mods.bound_ctrl.into(),
        Modifier::Compr => mods.compr.into(),
        Modifier::Done => mods.done.into(),
        Modifier::Vm => mods.vm.into(),
        Modifier::RowEn => mods.row_en.into(),
        Modifier::SdwaDstSel => sdwa.dst_sel as u32,
        Modifier::SdwaDstUnused => sdwa.dst_unused as u32,
        Modifier::SdwaSel(source) => sdwa.src_sel[usize::from(source)] as u32,
        Modifier::SdwaSext(source) => sdwa.sext[usize::from(source)].into(),
        Modifier::Dlc => mods.dlc.into(),
        Modifier::SoffsetUsed(null) => {
            if mods.soffset_en {
                0
            } else {
                null.into()
            }
        }
        Modifier::OpSelOf(bit) => (mods.op_sel >> bit & 1).into(),
        Modifier::Dpp8Lanes => {
            let [a, b, c] = mods.dpp8.unwrap_or_default();
            u32::from_le_bytes([a, b, c, 0])
        }
        Modifier::Dpp8Mark => {
            if mods.fi {
                DPP8_FI
            } else {
                DPP8
            }
        }
        Modifier::Wait => mods.wait.into(),
        Modifier::WaitVsrc => mods.wait_vsrc.into(),
        Modifier::Th => mods.th.into(),
        Modifier::AtomicTh => u32::from(mods.th >> 1),
        Modifier::Scope => mods.scope.into(),
        Modifier::DppCtrl => dpp.ctrl.into(),
        Modifier::DppBoundCtrl => dpp.bound_ctrl.into(),
        Modifier::DppBankMask => dpp.bank_mask.into(),
        Modifier::DppRowMask => dpp.row_mask.into(),
    }
}

/// Whether the value that a modifier must encode fits its field.
pub(crate) fn fits(bits: ModifierBits, value: u32) -> bool {
    if bits.modifier == Modifier::SignedOffset {
        let half = 1_i32 << (bits.field.width - 1);
        return (-half..half).contains(&(value as i32));
    }
    value & !bits.mask == 0
}

/// The modifiers whose fields an opcode lacks must be at rest; this names one that is not.
pub(crate) fn stray(mods: &Mods, list: &[ModifierBits], encoding: Encoding) -> Option<Modifier> {
    let mut rest = Mods { ignored: 0, ignored_control: 0, dual: None, ..*mods };
    let empty = empty(encoding);
    for bits in list {
        // Storing what `empty` has back into each known field leaves only the unknown ones standing.
        let value = get(&empty, bits.modifier);
        match bits.modifier {
            Modifier::AbsOf(source) => rest.abs &= !(1 << source),
            Modifier::NegOf(source) => rest.neg &= !(1 << source),
            Modifier::OpSelOf(bit) => rest.op_sel &= !(1 << bit),
            Modifier::Dpp8Lanes => rest.dpp8 = empty.dpp8,
            Modifier::OpSelHi => rest.op_sel_hi &= !3,
            Modifier::OpSelHi2 => rest.op_sel_hi &= 3,
            _ => drop(set(&mut rest, *bits, value)),
        }
    }
    if rest == empty {
        return None;
    }
    ALL.iter()
        .copied()
        .find(|&modifier| get(&rest, modifier) != get(&empty, modifier))
        .or(Some(Modifier::DppCtrl))
}

const ALL: &[Modifier] = &[
    Modifier::Abs,
    Modifier::Neg,
    Modifier::NegHi,
    Modifier::OpSel,
    Modifier::OpSelHi,
    Modifier::OpSelHi2,
    Modifier::Omod,
    Modifier::Clamp,
    Modifier::Offset,
    Modifier::Offset1,
    Modifier::Glc,
    Modifier::Dlc,
    Modifier::Dpp8Lanes,
    Modifier::Wait,
    Modifier::WaitVsrc,
    Modifier::Th,
    Modifier::Scope,
    Modifier::Slc,
    Modifier::Scc,
    Modifier::Lds,
    Modifier::Gds,
    Modifier::Idxen,
    Modifier::Offen,
    Modifier::Tfe,
    Modifier::Format,
    Modifier::SoffsetEn,
    Modifier::Cbsz,
    Modifier::Abid,
    Modifier::Blgp,
    Modifier::Dmask,
    Modifier::Unorm,
    Modifier::Da,
    Modifier::A16,
    Modifier::D16,
    Modifier::Lwe,
    Modifier::Dim,
    Modifier::R128,
    Modifier::High,
    Modifier::Fi,
    Modifier::BoundCtrl,
    Modifier::Compr,
    Modifier::Done,
    Modifier::Vm,
    Modifier::RowEn,
    Modifier::SdwaDstSel,
    Modifier::SdwaDstUnused,
    Modifier::SdwaSel(0),
    Modifier::SdwaSel(1),
    Modifier::SdwaSext(0),
    Modifier::SdwaSext(1),
];

fn sdwa(mods: &mut Mods) -> &mut Sdwa {
    mods.sdwa.get_or_insert_default()
}

fn dpp(mods: &mut Mods) -> &mut DppCtrl {
    mods.dpp.get_or_insert(DppCtrl { ctrl: 0, row_mask: 0, bank_mask: 0, bound_ctrl: false })
}

fn sel(value: u32) -> Result<SdwaSel, Undefined> {
    Ok(match value {
        0 => SdwaSel::Byte0,
        1 => SdwaSel::Byte1,
        2 => SdwaSel::Byte2,
        3 => SdwaSel::Byte3,
        4 => SdwaSel::Word0,
        5 => SdwaSel::Word1,
        6 => SdwaSel::Dword,
        _ => return Err(Undefined("SDWA selector")),
    })
}
