//! Programs made of code that is in device memory already, where another loader put it.

use std::collections::HashSet;
use std::ops::Range;

use amdgpu_isa::Flow;
use amdgpu_isa::{Arch, Target};
use amdgpu_object::Kernel;
use amdgpu_object::KernelDescriptor;

use super::{LoadError, Program, lower};
use crate::dispatch;
use crate::memory::Memory;

/// A kernel in device memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resident<'a> {
    /// Device address of its descriptor (`kernel_object` of a dispatch packet).
    pub descriptor: u64,
    /// Its name, for messages.
    pub name: &'a str,
    /// Device address minus address in the code object, so that messages tell the latter; 0 if there is none.
    pub bias: u64,
    /// Device addresses of the code that it may jump to by an address in registers; `None` for all of the allocation.
    pub code: Option<Range<u64>>,
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
    let range = range.unwrap_or(0..text.len());
    text.truncate(range.end);
    text.drain(..range.start);
    let start = whole.start + range.start as u64;
    let name = resident.name;
    let code = entry.wrapping_sub(resident.bias)..start.wrapping_add(text.len() as u64 - resident.bias);
    let kernel = dispatch::kernel(name, resident.descriptor.wrapping_sub(resident.bias), code, bytes);
    Ok(lower::resident(target, kernel, text, start.wrapping_sub(resident.bias), resident.bias))
}

/// Whether descriptor and code are in memory still as they were when the program was made.
pub(crate) fn is_current(program: &Program, memory: &Memory) -> bool {
    let Some(Kernel { descriptor_address, descriptor: old, .. }) = program.kernels.first() else {
        return false;
    };
    let code = program.device_address(program.text_address);
    descriptor(memory, program.device_address(*descriptor_address)).is_ok_and(|bytes| bytes == old.bytes)
        && memory.equals(code, &program.text)
}

fn descriptor(memory: &Memory, address: u64) -> Result<[u8; 64], LoadError> {
    let mut bytes = [0; 64];
    memory.read(address, &mut bytes)?;
    Ok(bytes)
}

/// The bytes from the first to the last instruction that code from `entry` can reach; `None` if it jumps to where only
/// registers tell.
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
