//! SIMM16 fields that LLVM prints by meaning.

use std::fmt::{self, Write as _};
use std::ops::Range;

use crate::signature::ImmKind;
use crate::{Arch, Feature, Generation, waits};

/// Writes a SIMM16 (or SSRC1 mode) operand.
pub(super) fn write(out: &mut String, arch: Arch, kind: ImmKind, value: i64) -> fmt::Result {
    let raw = value as u16;
    match kind {
        ImmKind::Bytes if value < 0 => write!(out, "-{:#x}", value.unsigned_abs()),
        ImmKind::Bytes => write!(out, "{value:#x}"),
        // LLVM prints what an inline constant could hold in decimal.
        ImmKind::Decimal if raw > 64 => write!(out, "{raw:#x}"),
        ImmKind::Decimal | ImmKind::Target | ImmKind::Optional => write!(out, "{raw}"),
        ImmKind::Hex | ImmKind::SignedHex => write!(out, "{raw:#x}"),
        ImmKind::Version => write_version(out, raw),
        ImmKind::Waitcnt => write_waitcnt(out, arch, raw),
        ImmKind::Sendmsg => write_sendmsg(out, arch, raw),
        ImmKind::DelayAlu => write_delay_alu(out, raw),
        ImmKind::DepCtr => write_depctr(out, arch, raw),
        ImmKind::Hwreg => write_hwreg(out, arch, raw),
        ImmKind::GprIdx => write_gpr_idx(out, raw),
        ImmKind::ExpTarget => write_exp_target(out, arch, raw),
        ImmKind::Param => {
            out.push_str(PARAMS.get(usize::from(raw)).unwrap_or(&"/*reserved*/"));
            Ok(())
        }
        ImmKind::Attribute => write!(out, "attr{}.{}", raw >> 2, CHANNELS[usize::from(raw & 3)]),
    }
}

/// The parameters that `v_interp_mov_f32` moves (Vega ISA, VINTRP).
pub(crate) const PARAMS: [&str; 3] = ["p10", "p20", "p0"];
/// The channels of an attribute.
pub(crate) const CHANNELS: [char; 4] = ['x', 'y', 'z', 'w'];

/// What exports go to: numbers in TGT, and LLVM's name, which is counted where there are several (Vega ISA,
/// EXP, TGT; RDNA 3 ISA, EXP, TARGET).
pub(crate) const fn exp_targets(generation: Generation) -> &'static [(Range<u16>, &'static str)] {
    match generation {
        Generation::Gfx8 | Generation::Gfx9 => {
            &[(0..8, "mrt"), (8..9, "mrtz"), (9..10, "null"), (12..16, "pos"), (32..64, "param")]
        }
        Generation::Gfx10 => &[
            (0..8, "mrt"),
            (8..9, "mrtz"),
            (9..10, "null"),
            (12..17, "pos"),
            (20..21, "prim"),
            (32..64, "param"),
        ],
        Generation::Gfx11 | Generation::Gfx12 => {
            &[(0..8, "mrt"), (8..9, "mrtz"), (12..17, "pos"), (20..21, "prim"), (21..23, "dual_src_blend")]
        }
    }
}

fn write_exp_target(out: &mut String, arch: Arch, raw: u16) -> fmt::Result {
    match exp_targets(arch.generation()).iter().find(|(numbers, _)| numbers.contains(&raw)) {
        Some((numbers, name)) if numbers.len() == 1 => write!(out, "{name}"),
        Some((numbers, name)) => write!(out, "{name}{}", raw - numbers.start),
        None => write!(out, "/*reserved*/"),
    }
}

/// LLVM's names of versions, and of the flags above them.
pub(crate) const VERSIONS: [(u16, &str); 4] =
    [(0, "UC_VERSION_GFX7"), (4, "UC_VERSION_GFX10"), (6, "UC_VERSION_GFX11"), (9, "UC_VERSION_GFX12")];
/// As [`VERSIONS`].
pub(crate) const VERSION_FLAGS: [(u16, &str); 3] =
    [(0x2000, "UC_VERSION_W64_BIT"), (0x4000, "UC_VERSION_W32_BIT"), (0x8000, "UC_VERSION_MDP_BIT")];

fn write_version(out: &mut String, raw: u16) -> fmt::Result {
    let flags = VERSION_FLAGS.iter().fold(0, |all, (bit, _)| all | bit);
    if raw & !(flags | 0xff) != 0 {
        return write!(out, "{raw:#x}");
    }
    let set = VERSION_FLAGS.iter().filter(|(bit, _)| raw & bit != 0);
    let count = set.clone().count();
    out.extend((1..count).map(|_| '('));
    match VERSIONS.iter().find(|(version, _)| *version == raw & 0xff) {
        Some((_, name)) => out.push_str(name),
        None => write!(out, "{}", raw & 0xff)?,
    }
    for (index, (_, name)) in set.enumerate() {
        write!(out, "{}|{name}", if index == 0 { "" } else { ")" })?;
    }
    Ok(())
}

/// Counters at their most are left out.
fn write_waitcnt(out: &mut String, arch: Arch, raw: u16) -> fmt::Result {
    let counters = waits::counts(arch.generation(), raw);
    let all_at_rest = counters.iter().all(|(_, count, most)| count == most);
    let mut separator = "";
    for (name, count, most) in counters {
        if count != most || all_at_rest {
            write!(out, "{separator}{name}({count})")?;
            separator = " ";
        }
    }
    Ok(())
}

/// RDNA 3 ISA, S_DELAY_ALU: what the instructions at two places behind it wait for: INSTID0 3:0, INSTSKIP
/// 6:4, INSTID1 10:7.
pub(crate) const DELAYS: [&str; 12] = [
    "",
    "VALU_DEP_1",
    "VALU_DEP_2",
    "VALU_DEP_3",
    "VALU_DEP_4",
    "TRANS32_DEP_1",
    "TRANS32_DEP_2",
    "TRANS32_DEP_3",
    "FMA_ACCUM_CYCLE_1",
    "SALU_CYCLE_1",
    "SALU_CYCLE_2",
    "SALU_CYCLE_3",
];
/// How many instructions stand between the two.
pub(crate) const SKIPS: [&str; 6] = ["", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"];
/// The fields of `s_delay_alu`: name, lowest bit, mask, names of its values.
pub(crate) const DELAY_ALU: [(&str, u32, u16, &[&str]); 3] =
    [("instid0", 0, 0xf, &DELAYS), ("instskip", 4, 0x7, &SKIPS), ("instid1", 7, 0xf, &DELAYS)];

/// Whether each field has a value with a name.
pub(crate) fn names_delays(raw: u16) -> bool {
    DELAY_ALU.iter().all(|(_, lsb, mask, names)| usize::from(raw >> lsb & mask) < names.len())
}

fn write_delay_alu(out: &mut String, raw: u16) -> fmt::Result {
    let mut separator = "";
    for (name, lsb, mask, names) in DELAY_ALU {
        let value = usize::from(raw >> lsb & mask);
        if value != 0 {
            write!(out, "{separator}{name}({})", names.get(value).unwrap_or(&"/*reserved*/"))?;
            separator = " | ";
        }
    }
    if separator.is_empty() {
        out.push('0');
    }
    Ok(())
}

/// RDNA 3 ISA, S_WAITCNT_DEPCTR: LLVM's names, lowest bit, mask. The first came with RDNA 2.
const DEPCTR: [(&str, u32, u16); 7] = [
    ("depctr_hold_cnt", 7, 0x1),
    ("depctr_sa_sdst", 0, 0x1),
    ("depctr_va_vdst", 12, 0xf),
    ("depctr_va_sdst", 9, 0x7),
    ("depctr_va_ssrc", 8, 0x1),
    ("depctr_va_vcc", 1, 0x1),
    ("depctr_vm_vsrc", 2, 0x7),
];

/// The counts of `s_waitcnt_depctr`, as [`DEPCTR`] has them.
pub(crate) fn dependency_counts(arch: Arch) -> &'static [(&'static str, u32, u16)] {
    if arch.has(Feature::ShaderCycles) { &DEPCTR } else { &DEPCTR[1..] }
}

/// Nothing is waited for.
pub(crate) fn dependencies_at_rest(arch: Arch) -> u16 {
    dependency_counts(arch).iter().fold(0, |all, (_, lsb, mask)| all | mask << lsb)
}

fn write_depctr(out: &mut String, arch: Arch, raw: u16) -> fmt::Result {
    let at_rest = dependencies_at_rest(arch);
    if raw & !at_rest != 0 {
        return write!(out, "{raw:#x}");
    }
    let mut separator = "";
    for (name, lsb, mask) in dependency_counts(arch) {
        let count = raw >> lsb & mask;
        if count != *mask || raw == at_rest {
            write!(out, "{separator}{name}({count})")?;
            separator = " ";
        }
    }
    Ok(())
}

/// RDNA 3 ISA, S_SENDMSG and S_SENDMSG_RTN: the message is the low byte.
const GFX11_MESSAGES: &[(u16, &str)] = &[
    (1, "MSG_INTERRUPT"),
    (2, "MSG_HS_TESSFACTOR"),
    (3, "MSG_DEALLOC_VGPRS"),
    (5, "MSG_STALL_WAVE_GEN"),
    (6, "MSG_HALT_WAVES"),
    (9, "MSG_GS_ALLOC_REQ"),
    (0x80, "MSG_RTN_GET_DOORBELL"),
    (0x81, "MSG_RTN_GET_DDID"),
    (0x82, "MSG_RTN_GET_TMA"),
    (0x83, "MSG_RTN_GET_REALTIME"),
    (0x84, "MSG_RTN_SAVE_WAVE"),
    (0x85, "MSG_RTN_GET_TBA"),
    (0x86, "MSG_RTN_GET_TBA_TO_PC"),
];

/// RDNA 4 ISA, S_SENDMSG and S_SENDMSG_RTN: the message is the low byte.
const GFX12_MESSAGES: &[(u16, &str)] = &[
    (1, "MSG_INTERRUPT"),
    (2, "MSG_HS_TESSFACTOR"),
    (3, "MSG_DEALLOC_VGPRS"),
    (9, "MSG_GS_ALLOC_REQ"),
    (0x80, "MSG_RTN_GET_DOORBELL"),
    (0x81, "MSG_RTN_GET_DDID"),
    (0x82, "MSG_RTN_GET_TMA"),
    (0x83, "MSG_RTN_GET_REALTIME"),
    (0x84, "MSG_RTN_SAVE_WAVE"),
    (0x85, "MSG_RTN_GET_TBA"),
    (0x86, "MSG_RTN_GET_TBA_TO_PC"),
    (0x87, "MSG_RTN_GET_SE_AID_ID"),
];

/// GCN 3 ISA, S_SENDMSG.
const GFX8_MESSAGES: &[(u16, &str)] = &[
    (1, "MSG_INTERRUPT"),
    (GS, "MSG_GS"),
    (GS_DONE, "MSG_GS_DONE"),
    (4, "MSG_SAVEWAVE"),
    (SYSTEM, "MSG_SYSMSG"),
];

/// Vega ISA and RDNA 2 ISA, S_SENDMSG.
const MESSAGES: &[(u16, &str)] = &[
    (1, "MSG_INTERRUPT"),
    (GS, "MSG_GS"),
    (GS_DONE, "MSG_GS_DONE"),
    (4, "MSG_SAVEWAVE"),
    (5, "MSG_STALL_WAVE_GEN"),
    (6, "MSG_HALT_WAVES"),
    (7, "MSG_ORDERED_PS_DONE"),
    (8, "MSG_EARLY_PRIM_DEALLOC"),
    (9, "MSG_GS_ALLOC_REQ"),
    (10, "MSG_GET_DOORBELL"),
    (SYSTEM, "MSG_SYSMSG"),
    (GET_DDID, "MSG_GET_DDID"),
];

/// Messages of geometry shaders, which have an operation and a stream.
const GS: u16 = 2;
const GS_DONE: u16 = 3;
/// A message that came with GFX10.
const GET_DDID: u16 = 11;
/// Messages to the system, which have an operation.
const SYSTEM: u16 = 15;

/// The operations of geometry shaders.
const GS_OPERATIONS: [&str; 4] = ["GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"];
/// The operations of messages to the system. SYSMSG_OP_HOST_TRAP_ACK has no name here.
const SYSTEM_OPERATIONS: [&str; 5] =
    ["", "SYSMSG_OP_ECC_ERR_INTERRUPT", "SYSMSG_OP_REG_RD", "", "SYSMSG_OP_TTRACE_PC"];

/// The messages of a generation: number, and LLVM's name.
pub(crate) fn messages(generation: Generation) -> &'static [(u16, &'static str)] {
    match generation {
        Generation::Gfx8 => GFX8_MESSAGES,
        // All but the last.
        Generation::Gfx9 => &MESSAGES[..MESSAGES.len() - 1],
        Generation::Gfx10 => MESSAGES,
        Generation::Gfx11 => GFX11_MESSAGES,
        Generation::Gfx12 => GFX12_MESSAGES,
    }
}

/// The operations of a message, by their numbers.
pub(crate) const fn operations(message: u16) -> &'static [&'static str] {
    match message {
        GS | GS_DONE => &GS_OPERATIONS,
        SYSTEM => &SYSTEM_OPERATIONS,
        _ => &[],
    }
}

/// Whether a message is a byte, without operation and stream.
pub(crate) const fn has_plain_messages(generation: Generation) -> bool {
    matches!(generation, Generation::Gfx11 | Generation::Gfx12)
}

fn name_of(generation: Generation, message: u16) -> Option<&'static str> {
    messages(generation).iter().find(|(known, _)| *known == message).map(|(_, name)| *name)
}

/// Vega ISA, S_SENDMSG: message 3:0, operation 6:4, stream 9:8.
fn write_sendmsg(out: &mut String, arch: Arch, raw: u16) -> fmt::Result {
    let generation = arch.generation();
    if has_plain_messages(generation) {
        return match name_of(generation, raw & 0xff) {
            Some(name) => write!(out, "sendmsg({name})"),
            None if raw > 0xff => write!(out, "{raw}"),
            None => write!(out, "sendmsg({raw}, 0, 0)"),
        };
    }
    let (message, operation, stream) = (raw & 0xf, raw >> 4 & 0x7, raw >> 8 & 0x3);
    if !names_message(generation, raw) {
        return match raw & !0x37f {
            0 => write!(out, "sendmsg({message}, {operation}, {stream})"),
            // Bits outside the three fields show only where no name hides them.
            _ => write!(out, "{raw}"),
        };
    }
    let name = name_of(generation, message).unwrap_or("");
    let named = operations(message).get(usize::from(operation)).unwrap_or(&"");
    match (message, operation) {
        (GS_DONE, 0) | (SYSTEM, _) => write!(out, "sendmsg({name}, {named})"),
        (GS | GS_DONE, _) => write!(out, "sendmsg({name}, {named}, {stream})"),
        _ => write!(out, "sendmsg({name})"),
    }
}

/// Whether a message, its operation and its stream have names together; other bits are then passed over.
pub(crate) fn names_message(generation: Generation, raw: u16) -> bool {
    if has_plain_messages(generation) {
        return name_of(generation, raw & 0xff).is_some();
    }
    match (raw & 0xf, raw >> 4 & 0x7, raw >> 8 & 0x3) {
        (GS | GS_DONE, 1..=3, _) | (GS_DONE, 0, 0) | (SYSTEM, 1 | 2 | 4, 0) => true,
        (GS | SYSTEM, ..) => false,
        (message, 0, 0) => name_of(generation, message).is_some(),
        _ => false,
    }
}

/// A hardware register: its number, LLVM's name, and the feature of the processors that have it.
pub(crate) type NamedHardwareRegister = (u16, &'static str, Option<Feature>);

/// Vega ISA and CDNA 3 ISA, "Hardware registers".
const GFX9_HWREGS: &[NamedHardwareRegister] = &[
    (1, "HW_REG_MODE", None),
    (2, "HW_REG_STATUS", None),
    (3, "HW_REG_TRAPSTS", None),
    (4, "HW_REG_HW_ID", None),
    (5, "HW_REG_GPR_ALLOC", None),
    (6, "HW_REG_LDS_ALLOC", None),
    (7, "HW_REG_IB_STS", None),
    (15, "HW_REG_SH_MEM_BASES", None),
    (16, "HW_REG_TBA_LO", None),
    (17, "HW_REG_TBA_HI", None),
    (18, "HW_REG_TMA_LO", None),
    (19, "HW_REG_TMA_HI", None),
    (20, "HW_REG_XCC_ID", Some(Feature::Dies)),
    (21, "HW_REG_SQ_PERF_SNAPSHOT_DATA", Some(Feature::Dies)),
    (22, "HW_REG_SQ_PERF_SNAPSHOT_DATA1", Some(Feature::Dies)),
    (23, "HW_REG_SQ_PERF_SNAPSHOT_PC_LO", Some(Feature::Dies)),
    (24, "HW_REG_SQ_PERF_SNAPSHOT_PC_HI", Some(Feature::Dies)),
];

/// How many of the first of these GFX8 has (GCN 3 ISA, "Hardware registers").
const GFX8_HWREGS: usize = 7;

/// RDNA 2 ISA, "Hardware registers".
const GFX10_HWREGS: &[NamedHardwareRegister] = &[
    (1, "HW_REG_MODE", None),
    (2, "HW_REG_STATUS", None),
    (3, "HW_REG_TRAPSTS", None),
    (5, "HW_REG_GPR_ALLOC", None),
    (6, "HW_REG_LDS_ALLOC", None),
    (7, "HW_REG_IB_STS", None),
    (15, "HW_REG_SH_MEM_BASES", None),
    (16, "HW_REG_TBA_LO", None),
    (17, "HW_REG_TBA_HI", None),
    (18, "HW_REG_TMA_LO", None),
    (19, "HW_REG_TMA_HI", None),
    (20, "HW_REG_FLAT_SCR_LO", None),
    (21, "HW_REG_FLAT_SCR_HI", None),
    (22, "HW_REG_XNACK_MASK", Some(Feature::Xnack)),
    (23, "HW_REG_HW_ID1", None),
    (24, "HW_REG_HW_ID2", None),
    (25, "HW_REG_POPS_PACKER", None),
    (29, "HW_REG_SHADER_CYCLES", Some(Feature::ShaderCycles)),
];

/// RDNA 3 ISA, "Hardware registers".
const GFX11_HWREGS: &[NamedHardwareRegister] = &[
    (1, "HW_REG_MODE", None),
    (2, "HW_REG_STATUS", None),
    (3, "HW_REG_TRAPSTS", None),
    (5, "HW_REG_GPR_ALLOC", None),
    (6, "HW_REG_LDS_ALLOC", None),
    (7, "HW_REG_IB_STS", None),
    (15, "HW_REG_SH_MEM_BASES", None),
    (18, "HW_REG_PERF_SNAPSHOT_PC_LO", None),
    (19, "HW_REG_PERF_SNAPSHOT_PC_HI", None),
    (20, "HW_REG_FLAT_SCR_LO", None),
    (21, "HW_REG_FLAT_SCR_HI", None),
    (23, "HW_REG_HW_ID1", None),
    (24, "HW_REG_HW_ID2", None),
    (27, "HW_REG_PERF_SNAPSHOT_DATA", None),
    (29, "HW_REG_SHADER_CYCLES", None),
];

/// RDNA 4 ISA, "Hardware registers".
const GFX12_HWREGS: &[NamedHardwareRegister] = &[
    (1, "HW_REG_WAVE_MODE", None),
    (2, "HW_REG_WAVE_STATUS", None),
    (4, "HW_REG_WAVE_STATE_PRIV", None),
    (5, "HW_REG_WAVE_GPR_ALLOC", None),
    (6, "HW_REG_WAVE_LDS_ALLOC", None),
    (7, "HW_REG_IB_STS", None),
    (10, "HW_REG_PERF_SNAPSHOT_DATA", None),
    (11, "HW_REG_PERF_SNAPSHOT_PC_LO", None),
    (12, "HW_REG_PERF_SNAPSHOT_PC_HI", None),
    (15, "HW_REG_PERF_SNAPSHOT_DATA1", None),
    (16, "HW_REG_PERF_SNAPSHOT_DATA2", None),
    (17, "HW_REG_WAVE_EXCP_FLAG_PRIV", None),
    (18, "HW_REG_WAVE_EXCP_FLAG_USER", None),
    (19, "HW_REG_WAVE_TRAP_CTRL", None),
    (20, "HW_REG_WAVE_SCRATCH_BASE_LO", None),
    (21, "HW_REG_WAVE_SCRATCH_BASE_HI", None),
    (23, "HW_REG_WAVE_HW_ID1", None),
    (24, "HW_REG_WAVE_HW_ID2", None),
    (26, "HW_REG_WAVE_SCHED_MODE", None),
    (29, "HW_REG_SHADER_CYCLES_LO", None),
    (30, "HW_REG_SHADER_CYCLES_HI", None),
    (31, "HW_REG_WAVE_DVGPR_ALLOC_LO", None),
    (32, "HW_REG_WAVE_DVGPR_ALLOC_HI", None),
];

/// The hardware registers of a processor: number, and LLVM's name.
pub(crate) fn hardware_registers(arch: Arch) -> impl Iterator<Item = (u16, &'static str)> {
    let all = match arch.generation() {
        Generation::Gfx8 => &GFX9_HWREGS[..GFX8_HWREGS],
        Generation::Gfx9 => GFX9_HWREGS,
        Generation::Gfx10 => GFX10_HWREGS,
        Generation::Gfx11 => GFX11_HWREGS,
        Generation::Gfx12 => GFX12_HWREGS,
    };
    let has_it =
        move |(.., feature): &&NamedHardwareRegister| feature.is_none_or(|feature| arch.has(feature));
    all.iter().filter(has_it).map(|&(id, name, _)| (id, name))
}

/// Vega ISA, S_GETREG: register 5:0, offset 10:6, size minus one 15:11.
fn write_hwreg(out: &mut String, arch: Arch, raw: u16) -> fmt::Result {
    let (id, offset, size) = (raw & 0x3f, raw >> 6 & 0x1f, (raw >> 11) + 1);
    out.push_str("hwreg(");
    match hardware_registers(arch).find(|(known, _)| *known == id) {
        None => write!(out, "{id}")?,
        Some((_, name)) => out.push_str(name),
    }
    if offset != 0 || size != 32 {
        write!(out, ", {offset}, {size}")?;
    }
    out.push(')');
    Ok(())
}

/// Vega ISA, S_SET_GPR_IDX_MODE: which operands are indexed.
fn write_gpr_idx(out: &mut String, raw: u16) -> fmt::Result {
    if raw > 0xf {
        return write!(out, "{raw:#x}");
    }
    out.push_str("gpr_idx(");
    let mut separator = "";
    for (bit, name) in ["SRC0", "SRC1", "SRC2", "DST"].into_iter().enumerate() {
        if raw & 1 << bit != 0 {
            out.push_str(separator);
            out.push_str(name);
            separator = ",";
        }
    }
    out.push(')');
    Ok(())
}
