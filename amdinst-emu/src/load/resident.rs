//! Programs made of code that is in device memory already, where another loader put it.

use std::collections::HashSet;
use std::ops::Range;

use amdgpu_isa::{Access, Arch, Encoding, Flow, Op, Operand, Target, Value};
use amdgpu_object::{Kernel, KernelDescriptor, KernelMetadata};

use super::{LoadError, lower};
use crate::memory::Memory;
use crate::program::{Elsewhere, Program};

/// A kernel in device memory.
#[derive(Clone)]
pub struct Resident<'a> {
    /// Device address of its descriptor (`kernel_object` of a dispatch packet).
    pub descriptor: u64,
    /// Its name, for messages.
    pub name: &'a str,
    /// Device address minus address in the code object, so that messages tell the latter; 0 if there is none.
    pub bias: u64,
    /// Device addresses of the code that it may jump to by an address in registers; `None` for all of the
    /// allocation.
    pub code: Option<Range<u64>>,
    /// Device addresses of other code objects' code. It is asked for where the kernel calls an address that
    /// it is given.
    pub elsewhere: &'a dyn Fn() -> Vec<Range<u64>>,
    /// It has no instructions: at its entry is other code.
    pub is_empty: bool,
}

/// Decode what a kernel can reach.
pub(crate) fn program(arch: Arch, memory: &Memory, resident: &Resident<'_>) -> Result<Program, LoadError> {
    let bytes = descriptor(memory, resident.descriptor)?;
    let entry = resident.descriptor.wrapping_add_signed(KernelDescriptor { bytes }.entry_offset());
    let (allocation, _) = memory.find(entry, 4).ok_or(LoadError::OutOfRange {
        what: "the kernel's entry",
        address: entry,
        outside: "every allocation",
    })?;
    let whole = allocation.address..allocation.address + allocation.bytes.len() as u64;
    let whole = match &resident.code {
        Some(code) => code.start.max(whole.start)..code.end.min(whole.end),
        None => whole,
    };
    let mut text = vec![0; whole.end.saturating_sub(whole.start) as usize & !3];
    memory.read(whole.start, &mut text)?;
    let at = entry.wrapping_sub(whole.start);
    let target = Target { arch, wave: KernelDescriptor { bytes }.wave_size(arch) };
    let range = usize::try_from(at).ok().and_then(|at| reached(target, &text, at));
    let calls_by_pointer = range.is_none() && calls_by_pointer(target, &text);
    let others = if calls_by_pointer { (resident.elsewhere)() } else { Vec::new() };
    let range = range.unwrap_or(0..text.len());
    text.truncate(range.end);
    text.drain(..range.start);
    let start = whole.start + range.start as u64;
    let name = resident.name;
    let first = entry.wrapping_sub(resident.bias);
    let end = start.wrapping_add(text.len() as u64 - resident.bias);
    let code = first..if resident.is_empty { first } else { end };
    let kernel = kernel(name, resident.descriptor.wrapping_sub(resident.bias), code, bytes);
    let mut elsewhere = Vec::new();
    for device in others {
        let offset = text.len();
        text.resize(offset + (device.end.saturating_sub(device.start) as usize & !3), 0);
        memory.read(device.start, &mut text[offset..])?;
        let device = device.start..device.start + (text.len() - offset) as u64;
        elsewhere.push(Elsewhere { device, offset });
    }
    let text_address = start.wrapping_sub(resident.bias);
    let program = lower::resident(target, kernel, text, text_address, resident.bias, elsewhere);
    Ok(Program { calls_by_pointer, ..program })
}

/// Whether code calls an address that it does not make itself. Compilers make the addresses of their own
/// functions by `s_getpc_b64`, or load them from a table at such an address. It is read from its first
/// instruction to its last, whatever jumps there are.
fn calls_by_pointer(target: Target, text: &[u8]) -> bool {
    let mut is_own = [false; 128];
    let mut at = 0;
    while let Some(bytes) = text.get(at..).filter(|bytes| bytes.len() >= 4) {
        let Ok(inst) = amdgpu_isa::decode(target, bytes) else {
            at += 4;
            continue;
        };
        at += usize::from(inst.size);
        let scalars = |operand: &Operand| match operand.value {
            Value::Scalar(first) => usize::from(first)..usize::from(first) + usize::from(operand.dwords),
            _ => 0..0,
        };
        let mut sources = inst.operands.iter().filter(|operand| operand.access != Access::Write);
        let from_own =
            sources.any(|operand| is_own.get(scalars(operand)).is_some_and(|own| own.contains(&true)));
        if inst.op == Op::s_swappc_b64 && !from_own {
            return true;
        }
        let keeps = match inst.op {
            Op::s_getpc_b64 => true,
            Op::s_add_u32 | Op::s_addc_u32 | Op::s_mov_b32 | Op::s_mov_b64 => from_own,
            _ => from_own && inst.encoding == Encoding::Smem,
        };
        for operand in inst.operands.iter().filter(|operand| operand.access != Access::Read) {
            if let Some(own) = is_own.get_mut(scalars(operand)) {
                own.fill(keeps);
            }
        }
    }
    false
}

/// Whether descriptor and code are in memory still as they were when the program was made.
pub(crate) fn is_current(program: &Program, memory: &Memory) -> bool {
    let Some(Kernel { descriptor_address, descriptor: old, .. }) = program.kernels.first() else {
        return false;
    };
    let code = program.device_address(program.text_address);
    descriptor(memory, program.device_address(*descriptor_address)).is_ok_and(|bytes| bytes == old.bytes)
        && memory.equals(code, program.own_text())
        && program.elsewhere.iter().all(|piece| {
            let text = &program.text[piece.offset..];
            memory.equals(piece.device.start, &text[..(piece.device.end - piece.device.start) as usize])
        })
}

fn descriptor(memory: &Memory, address: u64) -> Result<[u8; 64], LoadError> {
    let mut bytes = [0; 64];
    memory.read(address, &mut bytes)?;
    Ok(bytes)
}

/// The bytes from the first to the last instruction that code from `entry` can reach; `None` if it jumps to
/// where only registers tell.
fn reached(target: Target, text: &[u8], entry: usize) -> Option<Range<usize>> {
    let mut seen = HashSet::new();
    let mut open = vec![entry];
    let mut range = entry..entry;
    while let Some(mut at) = open.pop() {
        while seen.insert(at) {
            // What is no instruction ends the walk: it is an error when it is executed.
            let Some(Ok(inst)) = text.get(at..).map(|bytes| amdgpu_isa::decode(target, bytes)) else {
                range.end = range.end.max((at + 4).min(text.len()));
                break;
            };
            let next = at + usize::from(inst.size);
            range = range.start.min(at)..range.end.max(next);
            let goes_to = |offset: i32| next.checked_add_signed(offset as isize);
            match inst.flow() {
                Flow::Next | Flow::Trap => {}
                Flow::Branch { offset } => {
                    open.extend(goes_to(offset));
                    break;
                }
                Flow::CondBranch { offset, .. } => open.extend(goes_to(offset)),
                Flow::End => break,
                Flow::Call { .. } | Flow::Jump | Flow::Other => return None,
            }
            at = next;
        }
    }
    Some(range)
}

/// A kernel of which only the descriptor is known.
fn kernel(name: &str, address: u64, code: Range<u64>, bytes: [u8; 64]) -> Kernel {
    Kernel {
        name: name.to_owned(),
        symbol: String::new(),
        code,
        descriptor_address: address,
        descriptor: KernelDescriptor { bytes },
        metadata: KernelMetadata::default(),
    }
}
