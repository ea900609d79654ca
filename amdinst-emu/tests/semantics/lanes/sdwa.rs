//! SDWA: parts of registers (Vega ISA manual, "SDWA").

use amdgpu_isa::{Sdwa, SdwaSel, SdwaUnused};

use crate::support::Random;

const SELECTIONS: [SdwaSel; 7] = [
    SdwaSel::Byte0,
    SdwaSel::Byte1,
    SdwaSel::Byte2,
    SdwaSel::Byte3,
    SdwaSel::Word0,
    SdwaSel::Word1,
    SdwaSel::Dword,
];

pub(super) fn any(random: &mut Random) -> Sdwa {
    Sdwa {
        dst_sel: random.pick(&SELECTIONS),
        dst_unused: random.pick(&[SdwaUnused::Pad, SdwaUnused::Sext, SdwaUnused::Preserve]),
        src_sel: [random.pick(&SELECTIONS), random.pick(&SELECTIONS)],
        sext: [false; 2],
    }
}

/// First bit and width.
fn place(selection: SdwaSel) -> (u32, u32) {
    match selection {
        SdwaSel::Byte0 => (0, 8),
        SdwaSel::Byte1 => (8, 8),
        SdwaSel::Byte2 => (16, 8),
        SdwaSel::Byte3 => (24, 8),
        SdwaSel::Word0 => (0, 16),
        SdwaSel::Word1 => (16, 16),
        SdwaSel::Dword => (0, 32),
    }
}

pub(super) fn select(sdwa: &Sdwa, source: usize, register: u32) -> u32 {
    let (first, width) = place(sdwa.src_sel[source]);
    let part = (u64::from(register) >> first) & ((1 << width) - 1);
    let negative = part >> (width - 1) & 1 != 0;
    if sdwa.sext[source] && negative { (part | u64::MAX << width) as u32 } else { part as u32 }
}

pub(super) fn merge(sdwa: &Sdwa, old: u32, result: u32) -> u32 {
    let (first, width) = place(sdwa.dst_sel);
    let field = (((1_u64 << width) - 1) << first) as u32;
    let placed = ((u64::from(result) << first) as u32) & field;
    let above = !(((1_u64 << (first + width)) - 1) as u32);
    match sdwa.dst_unused {
        SdwaUnused::Pad => placed,
        SdwaUnused::Preserve => old & !field | placed,
        SdwaUnused::Sext if result >> (width - 1) & 1 != 0 => placed | above,
        SdwaUnused::Sext => placed,
    }
}
