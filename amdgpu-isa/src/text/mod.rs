//! An instruction as text, character for character as LLVM's disassembler prints it.

pub(super) mod immediate;
pub(crate) mod modifiers;
mod names;

use std::fmt::{self, Write as _};

use super::value::{double_twin, has_inline_twin, inline_f16, inline_float, inline_integer};
use super::{Encoding, Inst, Mods, Operand, Slot, Value};
use crate::encoding::operand;
use crate::encoding::table::{Entry, Tables};
use crate::signature::{Class, ImmKind, MIX, Spec, Ty};
use crate::{Arch, Target};

pub(super) use names::scalar_name;

impl Inst {
    /// The instruction as `llvm-objdump -d` prints it for the processor: mnemonic, operands, modifiers.
    pub fn text(&self, target: impl Into<Target>) -> String {
        let mut out = String::with_capacity(64);
        self.write_text(target, &mut out);
        out
    }

    /// Appends [`Self::text`].
    pub fn write_text(&self, target: impl Into<Target>, out: &mut String) {
        let target = target.into();
        let arch = target.arch;
        // Writing to a String cannot fail.
        let _ = match Tables::of(target).by_ops(self.op, self.mods.dual, self.encoding) {
            Some(entry) => write(out, arch, self, entry),
            None => write!(out, "{} /* not on {arch} */", self.op),
        };
    }

    /// Whether an operand of 16 bits is a literal with others above them, which mean nothing. LLVM's
    /// assembler reads none of those.
    pub fn has_wide_half(&self, target: impl Into<Target>) -> bool {
        let Some(entry) = Tables::of(target.into()).by_ops(self.op, self.mods.dual, self.encoding) else {
            return false;
        };
        let is_wide = |operand: &Operand| matches!(operand.value, Value::Literal(0x1_0000..));
        entry.specs.iter().zip(&self.operands).any(|(spec, operand)| spec.ty.is_half() && is_wide(operand))
    }
}

fn write(out: &mut String, arch: Arch, inst: &Inst, entry: &Entry) -> fmt::Result {
    out.push_str(entry.name);
    out.push_str(entry.suffix);
    write_operands(out, arch, inst, entry)?;
    modifiers::write(out, arch, inst, entry)
}

fn write_operands(out: &mut String, arch: Arch, inst: &Inst, entry: &Entry) -> fmt::Result {
    let mut operands = inst.operands.iter().peekable();
    // One register is no list where an address is always named.
    let is_several = inst.operands.iter().any(|operand| operand.slot == Slot::Vaddr1);
    let lists_addresses = entry.encoding.is_named_image() && (is_several || entry.has_named_form());
    // So LLVM has it where a sampler follows named addresses.
    let is_apart = entry.has_named_form() && entry.specs.iter().any(|spec| spec.slot == Slot::Ssamp);
    let mut separator = if is_apart { "  " } else { " " };
    let present = entry.specs.iter().filter(|&&spec| operand::is_present(entry, spec, &inst.mods));
    for &spec in present {
        let Some(operand) = operands.next() else { break };
        if is_silent(entry, spec, operand) {
            continue;
        }
        if spec.slot == Slot::VdstY {
            write!(out, " :: {}", entry.dual_name)?;
            separator = " ";
        }
        out.push_str(separator);
        // The target of an export stands apart.
        separator = if spec.class == Class::Imm(ImmKind::ExpTarget) { " " } else { ", " };
        let is_named =
            lists_addresses && matches!(spec.class, Class::ImageAddress(_) | Class::ImageAddresses(_));
        if is_named && spec.slot == Slot::Vaddr {
            out.push('[');
        }
        if spec.class == Class::SmemOffset {
            write_smem_offset(out, arch, operand, operands.next())?;
        } else {
            write_operand(out, arch, entry, spec, operand, &inst.mods)?;
        }
        if is_named && operands.peek().is_none_or(|next| next.slot == Slot::Srsrc) {
            out.push(']');
        }
    }
    Ok(())
}

/// Operands that the text leaves out.
fn is_silent(entry: &Entry, spec: Spec, operand: &Operand) -> bool {
    entry.encoding == Encoding::Vopd && spec.class == Class::Vcc
        || matches!(spec.class, Class::Imm(ImmKind::Optional)) && operand.value == Value::Imm(0)
}

fn write_smem_offset(out: &mut String, arch: Arch, first: &Operand, second: Option<&Operand>) -> fmt::Result {
    write_smem_part(out, arch, first)?;
    if let Some(offset) = second {
        out.push_str(" offset:");
        write_smem_part(out, arch, offset)?;
    }
    Ok(())
}

fn write_smem_part(out: &mut String, arch: Arch, operand: &Operand) -> fmt::Result {
    match operand.value {
        // An offset of zero beside no register.
        Value::Imm(0) if arch.generation().model().bits.has_null_offset() => {
            out.push_str("null");
            Ok(())
        }
        Value::Imm(offset) if offset < 0 => write!(out, "-{:#x}", offset.unsigned_abs()),
        Value::Imm(offset) => write!(out, "{offset:#x}"),
        value => write_value(out, arch, value, 1, Ty::I32),
    }
}

fn write_operand(
    out: &mut String,
    arch: Arch,
    entry: &Entry,
    spec: Spec,
    operand: &Operand,
    mods: &Mods,
) -> fmt::Result {
    let source = match spec.slot {
        Slot::Src0 => 0,
        Slot::Src1 => 1,
        Slot::Src2 => 2,
        _ => {
            write_plain(out, arch, spec, operand)?;
            if entry.named_halves(mods) & 8 != 0 && spec.slot == Slot::Vdst {
                out.push_str(if mods.op_sel & 8 != 0 { ".h" } else { ".l" });
            }
            return Ok(());
        }
    };
    let bit = 1_u8 << source;
    let mixes = entry.flags.has(MIX);
    let (neg, abs) = match entry.encoding {
        Encoding::Vop3px => (false, false),
        encoding if encoding.is_vop3p() && !mixes => (false, false),
        encoding if encoding.is_vop3p() => (mods.neg & bit != 0, mods.neg_hi & bit != 0),
        _ if entry.flags.has(crate::signature::BITOP3) => (false, false),
        _ => (mods.neg & bit != 0, mods.abs & bit != 0),
    };
    let sext = mods.sdwa.is_some_and(|sdwa| sdwa.sext.get(source).copied().unwrap_or(false));
    // `-1` is another number than the negation of 1; `lit(…)` is none.
    let constant = match operand.value {
        Value::Literal(value) => !has_inline_twin(value, spec.ty),
        value => matches!(value, Value::Inline(_)),
    };
    let (open, close) = match (neg, abs) {
        _ if sext => ("sext(", ")"),
        (true, true) => ("-|", "|"),
        (false, true) => ("|", "|"),
        (true, false) if constant => ("neg(", ")"),
        (true, false) => ("-", ""),
        (false, false) => ("", ""),
    };
    out.push_str(open);
    write_plain(out, arch, spec, operand)?;
    if entry.named_halves(mods) & bit != 0 && matches!(operand.value, Value::Vgpr(_)) {
        out.push_str(if mods.op_sel & bit != 0 { ".h" } else { ".l" });
    }
    out.push_str(close);
    Ok(())
}

fn write_plain(out: &mut String, arch: Arch, spec: Spec, operand: &Operand) -> fmt::Result {
    match (spec.class, operand.value) {
        (Class::Imm(kind), Value::Imm(value)) => immediate::write(out, arch, kind, value.into()),
        // The literal of `s_setreg_imm32_b32` is printed as a number, that of `v_madmk_f32` as bits.
        (Class::Literal, Value::Literal(value)) if spec.ty == Ty::I32 => match inline_code(value) {
            Some(code) => write_inline(out, code, spec.ty),
            None => write!(out, "{value:#x}"),
        },
        (Class::Literal, Value::Literal(value)) => write!(out, "{value:#x}"),
        (_, value) => write_value(out, arch, value, operand.dwords, spec.ty),
    }
}

fn write_value(out: &mut String, arch: Arch, value: Value, dwords: u8, ty: Ty) -> fmt::Result {
    match value {
        Value::Scalar(first) => names::write_scalar(out, arch.generation().registers(), first, dwords),
        Value::Vgpr(first) => names::write_tuple(out, 'v', first, dwords),
        Value::Vgprs(registers) => {
            let named = registers.into_iter().take(dwords.into());
            named.enumerate().try_for_each(|(index, register)| {
                write!(out, "{}v{register}", if index == 0 { "" } else { ", " })
            })
        }
        Value::Agpr(first) => names::write_tuple(out, 'a', first, dwords),
        Value::Inline(code) => write_inline(out, code, ty),
        Value::Special(special) => {
            let found = arch.generation().registers().code_and_name(special);
            out.push_str(found.map_or("/*reserved*/", |(_, name)| name));
            Ok(())
        }
        Value::Literal(value) => write_literal(out, value, ty),
        Value::Imm(value) => write!(out, "{value}"),
        Value::Off => {
            out.push_str("off");
            Ok(())
        }
    }
}

fn write_inline(out: &mut String, code: u8, ty: Ty) -> fmt::Result {
    if let Some(value) = inline_integer(code) {
        return write!(out, "{value}");
    }
    if ty == Ty::I16 {
        return write!(out, "{:#x}", inline_f16(code).unwrap_or(0));
    }
    match inline_float(code) {
        // 1/(2π) is printed with the digits of the operand's precision; four doubles are a matrix's.
        Some(_) if code == 248 && matches!(ty, Ty::I64 | Ty::F64 | Ty::B256) => {
            out.push_str("0.15915494309189532")
        }
        Some(_) if code == 248 => out.push_str("0.15915494"),
        Some(value) => write!(out, "{value:?}")?,
        None => out.push_str("/*reserved*/"),
    }
    Ok(())
}

/// The inline constant with these 32 bits.
fn inline_code(value: u32) -> Option<u8> {
    (128..=208).chain(240..=248).find(|&code| Value::Inline(code).as_u32() == Some(value))
}

/// A literal whose number also exists as an inline constant is marked, so that it assembles to the same
/// bytes.
fn write_literal(out: &mut String, value: u32, ty: Ty) -> fmt::Result {
    if ty == Ty::F64 {
        return match double_twin(value) {
            _ if value == 0 => write!(out, "0"),
            Some(value) => write!(out, "{value:?}"),
            None => write!(out, "{value:#x}"),
        };
    }
    match ty {
        _ if has_inline_twin(value, ty) => write!(out, "lit({value:#x})"),
        Ty::F16 | Ty::Exponent16 | Ty::I16 => write!(out, "{:#x}", value as u16),
        _ => write!(out, "{value:#x}"),
    }
}
