//! `amd_kernel_code_t`, 256 bytes in front of a kernel's code (`AMDKernelCodeT.h` of LLVM and of the HSA
//! runtime).

use crate::{KernelDescriptor, KernelProblem};

/// Bytes of it.
pub(crate) const HEADER_SIZE: usize = 256;

/// Offsets of its fields.
const ENTRY_OFFSET: usize = 16;
const RSRC1: usize = 48;
const RSRC2: usize = 52;
const PROPERTIES: usize = 56;
const PRIVATE_SIZE: usize = 60;
const GROUP_SIZE: usize = 64;
const KERNARG_SIZE: usize = 72;
const SGPR_COUNT: usize = 84;
const VGPR_COUNT: usize = 86;
const WAVEFRONT_SIZE: usize = 103;

/// The bits of the code properties that a descriptor has too, at the same place: `ENABLE_SGPR_*`.
const USER_SGPRS: u32 = 0x7f;
/// `ENABLE_SGPR_GRID_WORKGROUP_COUNT_X`, `_Y` and `_Z`.
const WORKGROUP_COUNTS: u32 = 7 << 7;
/// `PRIVATE_ELEMENT_SIZE` above 4 bytes.
const LARGE_ELEMENTS: u32 = 1 << 18;
/// `IS_DYNAMIC_CALLSTACK`.
const DYNAMIC_STACK: u32 = 1 << 20;

/// An `amd_kernel_code_t`. What is not understood survives a rewrite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The bytes.
    pub(crate) bytes: [u8; HEADER_SIZE],
}

impl Header {
    fn word(&self, at: usize) -> u32 {
        u32::from_le_bytes([self.bytes[at], self.bytes[at + 1], self.bytes[at + 2], self.bytes[at + 3]])
    }

    fn long(&self, at: usize) -> u64 {
        u64::from(self.word(at)) | u64::from(self.word(at + 4)) << 32
    }

    fn set(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// The descriptor that says the same of a kernel.
    ///
    /// # Errors
    /// What no descriptor can say: [`KernelProblem::CodeHeader`].
    pub(crate) fn descriptor(&self) -> Result<KernelDescriptor, KernelProblem> {
        let unknown = |what: String| Err(KernelProblem::CodeHeader { what });
        let (major, machine) = (self.word(0), u16::from_le_bytes([self.bytes[8], self.bytes[9]]));
        if (major, machine) != (1, 1) {
            return unknown(format!(
                "major version {major} for machine kind {machine}, expected 1 and 1 (AMDGPU)"
            ));
        }
        if self.bytes[WAVEFRONT_SIZE] != 6 {
            return unknown(format!("a wave of 2^{} lanes, GFX9 has 64", self.bytes[WAVEFRONT_SIZE]));
        }
        let properties = self.word(PROPERTIES);
        if properties & WORKGROUP_COUNTS != 0 {
            return unknown("numbers of workgroups in user SGPRs, which no runtime fills".to_owned());
        }
        if properties & LARGE_ELEMENTS != 0 {
            return unknown("scratch memory in elements of more than 4 bytes".to_owned());
        }
        let Ok(kernarg) = u32::try_from(self.long(KERNARG_SIZE)) else {
            return unknown(format!("a kernarg segment of {:#x} bytes", self.long(KERNARG_SIZE)));
        };
        let mut descriptor = KernelDescriptor { bytes: [0; 64] };
        descriptor.set_group_segment_fixed_size(self.word(GROUP_SIZE));
        descriptor.set_private_segment_fixed_size(self.word(PRIVATE_SIZE));
        descriptor.set_kernarg_size(kernarg);
        descriptor.set_entry_offset(self.long(ENTRY_OFFSET) as i64);
        descriptor.set_compute_pgm_rsrc1(self.word(RSRC1));
        descriptor.set_compute_pgm_rsrc2(self.word(RSRC2));
        for bit in (0..7).filter(|bit| properties >> bit & 1 != 0) {
            descriptor.set_property(bit, true);
        }
        descriptor.set_uses_dynamic_stack(properties & DYNAMIC_STACK != 0);
        Ok(descriptor)
    }

    /// Says what a descriptor says, and that the kernel uses at least so many registers.
    pub(crate) fn update(&mut self, descriptor: &KernelDescriptor, sgprs: Option<u32>, vgprs: Option<u32>) {
        let user = (0..7).filter(|&bit| descriptor.property(bit)).fold(0, |all, bit| all | 1u32 << bit);
        let stack = if descriptor.uses_dynamic_stack() { DYNAMIC_STACK } else { 0 };
        let properties = self.word(PROPERTIES) & !(USER_SGPRS | DYNAMIC_STACK) | user | stack;
        self.set(ENTRY_OFFSET, &descriptor.entry_offset().to_le_bytes());
        self.set(RSRC1, &descriptor.compute_pgm_rsrc1().to_le_bytes());
        self.set(RSRC2, &descriptor.compute_pgm_rsrc2().to_le_bytes());
        self.set(PROPERTIES, &properties.to_le_bytes());
        self.set(PRIVATE_SIZE, &descriptor.private_segment_fixed_size().to_le_bytes());
        self.set(GROUP_SIZE, &descriptor.group_segment_fixed_size().to_le_bytes());
        self.set(KERNARG_SIZE, &u64::from(descriptor.kernarg_size()).to_le_bytes());
        for (at, count) in [(SGPR_COUNT, sgprs), (VGPR_COUNT, vgprs)] {
            let before = u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]);
            // No wave has more than 512 of either.
            let count = count.and_then(|count| u16::try_from(count).ok()).unwrap_or(0).max(before);
            self.set(at, &count.to_le_bytes());
        }
    }
}
