//! SIMM16 fields that LLVM prints by meaning.

use std::fmt::{self, Write as _};

use crate::signature::ImmKind;
use crate::{Arch, Feature, waits};

/// Writes a SIMM16 (or SSRC1 mode) operand.
pub(super) fn write(out: &mut String, arch: Arch, kind: ImmKind, value: i64) -> fmt::Result {
    let raw = value as u16;
    match kind {
        // LLVM prints what an inline constant could hold in decimal.
        ImmKind::Decimal if raw > 64 => write!(out, "{raw:#x}"),
        ImmKind::Decimal | ImmKind::Target | ImmKind::Optional => write!(out, "{raw}"),
        ImmKind::Hex | ImmKind::SignedHex => write!(out, "{raw:#x}"),
        ImmKind::Waitcnt => write_waitcnt(out, arch, raw),
        ImmKind::Sendmsg => write_sendmsg(out, raw),
        ImmKind::Hwreg => write_hwreg(out, arch, raw),
        ImmKind::GprIdx => write_gpr_idx(out, raw),
        ImmKind::ExpTarget => write_exp_target(out, raw),
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

/// Vega ISA, EXP, TGT.
fn write_exp_target(out: &mut String, raw: u16) -> fmt::Result {
    match raw {
        0..8 => write!(out, "mrt{raw}"),
        8 => write!(out, "mrtz"),
        9 => write!(out, "null"),
        12..16 => write!(out, "pos{}", raw - 12),
        32..64 => write!(out, "param{}", raw - 32),
        _ => write!(out, "/*reserved*/"),
    }
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

/// Vega ISA, S_SENDMSG: message 3:0, operation 6:4, stream 9:8.
fn write_sendmsg(out: &mut String, raw: u16) -> fmt::Result {
    let (message, operation, stream) = (raw & 0xf, raw >> 4 & 0x7, raw >> 8 & 0x3);
    if !names_message(raw) {
        return match raw & !0x37f {
            0 => write!(out, "sendmsg({message}, {operation}, {stream})"),
            // Bits outside the three fields show only where no name hides them.
            _ => write!(out, "{raw}"),
        };
    }
    let name = match message {
        1 => "MSG_INTERRUPT",
        2 => "MSG_GS",
        3 => "MSG_GS_DONE",
        4 => "MSG_SAVEWAVE",
        5 => "MSG_STALL_WAVE_GEN",
        6 => "MSG_HALT_WAVES",
        7 => "MSG_ORDERED_PS_DONE",
        8 => "MSG_EARLY_PRIM_DEALLOC",
        9 => "MSG_GS_ALLOC_REQ",
        10 => "MSG_GET_DOORBELL",
        15 => "MSG_SYSMSG",
        _ => "",
    };
    const GS: [&str; 4] = ["GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"];
    const SYSTEM: [&str; 5] = [
        "",
        "SYSMSG_OP_ECC_ERR_INTERRUPT",
        "SYSMSG_OP_REG_RD",
        // SYSMSG_OP_HOST_TRAP_ACK has no name on GFX9.
        "",
        "SYSMSG_OP_TTRACE_PC",
    ];
    let op = usize::from(operation);
    match message {
        3 if op == 0 => write!(out, "sendmsg({name}, {})", GS[0]),
        2 | 3 => write!(out, "sendmsg({name}, {}, {stream})", GS[op & 3]),
        15 => write!(out, "sendmsg({name}, {})", SYSTEM.get(op).unwrap_or(&"")),
        _ => write!(out, "sendmsg({name})"),
    }
}

/// Whether a message, its operation and its stream have names together; other bits are then passed over.
pub(crate) const fn names_message(raw: u16) -> bool {
    matches!(
        (raw & 0xf, raw >> 4 & 0x7, raw >> 8 & 0x3),
        (2 | 3, 1..=3, _) | (3, 0, 0) | (15, 1 | 2 | 4, 0) | (1 | 4..=10, 0, 0)
    )
}

/// Vega ISA, S_GETREG: register 5:0, offset 10:6, size minus one 15:11.
fn write_hwreg(out: &mut String, arch: Arch, raw: u16) -> fmt::Result {
    let (id, offset, size) = (raw & 0x3f, raw >> 6 & 0x1f, (raw >> 11) + 1);
    const NAMES: [&str; 8] = [
        "",
        "HW_REG_MODE",
        "HW_REG_STATUS",
        "HW_REG_TRAPSTS",
        "HW_REG_HW_ID",
        "HW_REG_GPR_ALLOC",
        "HW_REG_LDS_ALLOC",
        "HW_REG_IB_STS",
    ];
    let name = match id {
        0..8 => NAMES[usize::from(id)],
        15 => "HW_REG_SH_MEM_BASES",
        16 => "HW_REG_TBA_LO",
        17 => "HW_REG_TBA_HI",
        18 => "HW_REG_TMA_LO",
        19 => "HW_REG_TMA_HI",
        20 if arch.has(Feature::Dies) => "HW_REG_XCC_ID",
        21 if arch.has(Feature::Dies) => "HW_REG_SQ_PERF_SNAPSHOT_DATA",
        22 if arch.has(Feature::Dies) => "HW_REG_SQ_PERF_SNAPSHOT_DATA1",
        23 if arch.has(Feature::Dies) => "HW_REG_SQ_PERF_SNAPSHOT_PC_LO",
        24 if arch.has(Feature::Dies) => "HW_REG_SQ_PERF_SNAPSHOT_PC_HI",
        _ => "",
    };
    out.push_str("hwreg(");
    match name {
        "" => write!(out, "{id}")?,
        _ => out.push_str(name),
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
