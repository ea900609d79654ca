//! The new descriptor and metadata of a kernel, and its prologue.

use amdgpu_isa::{Arch, Encoding, Feature, FeatureState, MemoryOperation, RegSet};
use amdgpu_object::rewrite::{KernelEdit, MetadataEdit};
use amdgpu_object::{
    CodeObject, KernelArg, KernelDescriptor, KernelMetadata, Resources, UserSgpr, occupancy,
};
use amdinst_format::probes::{Cost, Occupancy};

use super::{DraftKernel, NoPlan, Planner};
use crate::analysis::program::Function;
use crate::counters::{ARGUMENT_BYTES, Packing, WaveIds};
use crate::instrument::allocate::Scheme;
use crate::instrument::assembler::{Assembled, HighestRegisters};
use crate::instrument::deferred::SPECIAL_SGPRS;
use crate::instrument::entry::{Buffer, Entry, Left};
use crate::instrument::layout::{BorrowedVgprs, Reserved};
use crate::instrument::lds::{LdsImages, Start};
use crate::instrument::options::{Abi, BUFFER_ARGUMENT, STRIDES_ARGUMENT};
use crate::instrument::points::Point;
use crate::instrument::refusal::Reason;
use crate::instrument::seed::{self, SeedPlace};
use crate::instrument::sequence::Sequence;
use crate::instrument::stub::{self, STUB_BYTES, stub_bytes};
use crate::instrument::survey::Survey;

/// What stands at the entries of a kernel.
pub(super) struct Entries {
    /// The instruction that the prologue stands before.
    pub(super) at: usize,
    pub(super) prologue: Vec<Assembled>,
    /// For firmware that does not preload arguments: a stub in place of the original's, and its first instruction.
    pub(super) stub: Option<(usize, Vec<Assembled>)>,
}

/// The first instruction of a function at which probes can be: behind a kernel's stub for such firmware.
pub(super) fn start(survey: &Survey, object: &CodeObject, function: usize) -> usize {
    let Function { range, kernel, .. } = &survey.program.functions[function];
    let stub = kernel.map_or(0, |kernel| stub_bytes(&object.kernels[kernel].descriptor));
    survey.program.insts.partition_point(|located| located.pc < range.start + stub)
}

/// Has a kernel get the ids of its workgroup and of its work-items, all of them.
pub(super) fn enable_ids(descriptor: &mut KernelDescriptor) {
    descriptor.set_enable_sgpr_workgroup_id_x(true);
    descriptor.set_enable_sgpr_workgroup_id_y(true);
    descriptor.set_enable_sgpr_workgroup_id_z(true);
    descriptor.set_enable_vgpr_workitem_id(2);
}

impl Planner<'_> {
    /// The new descriptor and metadata of a kernel, and what stands at its entries.
    pub(super) fn kernel_edit(
        &self,
        function: usize,
        scheme: Scheme,
        reserved: &Reserved,
        (counted, packing, points): (u32, Option<Packing>, Vec<(usize, Point)>),
        highest: &HighestRegisters,
        left: Left,
    ) -> Result<(DraftKernel, Entries), NoPlan> {
        let arch = self.object.target.arch;
        let survey = self.survey;
        let kernel = self.kernel(function);
        let original = kernel.descriptor;
        let mut descriptor = original;
        let limit = |error: &dyn std::fmt::Display| (Reason::DescriptorLimit, error.to_string());
        let abi = self.options.abi;
        if abi == Abi::Argument {
            descriptor
                .set_user_sgpr(UserSgpr::KernargSegmentPtr, true)
                .map_err(|error| (Reason::KernargPointer, error.to_string()))?;
        }
        enable_ids(&mut descriptor);

        let stride = match &packing {
            Some(packing) => packing.record_stride(),
            None if scheme.is_seed() => seed::stride(counted),
            None => self.options.probe.record_stride(counted),
        };
        let lds = match scheme {
            Scheme::Lds | Scheme::Seed(SeedPlace::Lds) => {
                let what = (self.options.probe, counted);
                let bytes = if scheme.is_seed() { seed::image_bytes(counted) } else { stride };
                let images = LdsImages::place(survey, function, kernel, what, bytes)?;
                Some(if scheme.is_seed() { images.behind_static_lds(kernel) } else { images })
            }
            Scheme::Sgprs | Scheme::VgprLanes | Scheme::Memory | Scheme::Seed(_) => None,
        };
        if let Some(images) = &lds {
            descriptor.set_group_segment_fixed_size(images.group_segment_size);
            if images.start == Start::AtEnd {
                descriptor.set_user_sgpr(UserSgpr::DispatchPtr, true).map_err(|error| {
                    (Reason::LdsPlacement, format!("{error}: where its dynamic LDS ends cannot be read"))
                })?;
            }
        }

        let by_register = reserved.scratch.is_some_and(|slots| slots.by_register);
        if by_register {
            descriptor.set_user_sgpr(UserSgpr::FlatScratchInit, true).map_err(|error| {
                let detail =
                    format!("every VGPR is in use, and {error}: where scratch memory is cannot be read");
                (Reason::NoFreeVgpr, detail)
            })?;
        }
        let scratch = reserved.scratch.map(|slots| slots.end);
        if let Some(bytes) = scratch {
            descriptor.set_private_segment_fixed_size(bytes);
            descriptor.set_enable_private_segment(true);
        }

        let entry_pc = survey.program.functions[function].range.start;
        let at = survey.program.at(entry_pc + stub_bytes(&original)).ok_or_else(|| {
            let detail = format!("no code follows the {STUB_BYTES} bytes for firmware that does not preload");
            (Reason::KernargPreload, detail)
        })?;
        let in_stub = |&(from, point): &(usize, Point)| from == function && point.inst < at;
        if points.iter().any(in_stub) {
            let detail = "a branch stands in the code for firmware that does not preload".to_owned();
            return Err(NoPlan::Refused(Reason::KernargPreload, detail));
        }

        let kernarg = kernel.metadata.kernarg_segment_size.max(original.kernarg_size());
        if kernarg > KernelMetadata::MAX_KERNARG_SEGMENT {
            return Err(NoPlan::Refused(
                Reason::DescriptorLimit,
                format!("a kernarg segment of {kernarg} bytes"),
            ));
        }
        let buffer_argument = (abi == Abi::Argument).then_some(kernarg.next_multiple_of(8));
        let ids = if arch.has(Feature::PackedWorkItemIds) { WaveIds::Together } else { WaveIds::Apart };
        let wave_ids = (reserved.deferred.is_some() || scheme.is_seed()).then_some(ids);
        let argument_bytes = if wave_ids.is_some() { ARGUMENT_BYTES } else { 8 };
        let kernarg_end = buffer_argument.map(|offset| offset + argument_bytes);
        if let Some(end) = kernarg_end {
            descriptor.set_kernarg_size(end);
        }
        let entry = Entry {
            arch,
            assembler: &self.assembler,
            original,
            instrumented: descriptor,
            reserved,
            keep_offsets: scheme == Scheme::Memory && reserved.borrowed_vgprs == BorrowedVgprs::Neither,
            lds,
            buffer: buffer_argument.map_or(Buffer::Variable, Buffer::Argument),
            record_stride: stride,
            left,
        };
        let mut prologue = entry.code()?;
        let makes_clause = self.makes_clause(&prologue, at);
        if makes_clause && self.may_replay() {
            let mut code = Sequence::new(&self.assembler);
            code.fill(4);
            prologue.extend(code.finish()?);
        }
        let stub = if stub::must_change(&original, &descriptor) {
            let unknown = |what| {
                let detail = format!("the code for firmware that does not preload is not understood: {what}");
                (Reason::KernargPreload, detail)
            };
            let first = stub::understand(&survey.program, entry_pc, &original).map_err(unknown)?;
            Some((first, stub::code(&self.assembler, &descriptor)?))
        } else {
            None
        };
        let mut highest = *highest;
        highest.see(&prologue);

        // SGPRs. FLAT_SCRATCH is one of the last that are allotted, where a kernel without it may have others.
        let own_sgprs = if by_register { survey.sgprs(&survey.reachable[function]) } else { 0 };
        let sgprs_needed = highest.sgprs.max(entry.sgprs()).max(own_sgprs) + SPECIAL_SGPRS;
        let allotted_sgprs = original.sgpr_count(arch);
        if sgprs_needed > allotted_sgprs {
            descriptor.set_sgpr_count(arch, sgprs_needed).map_err(|error| limit(&error))?;
        }

        // VGPRs: the AGPRs, where they share the file, start after the VGPRs.
        let ids = if arch.has(Feature::PackedWorkItemIds) { 1 } else { 3 };
        let vgprs_needed = highest.vgprs.max(ids);
        let registers = original.vector_registers(arch);
        let metadata = &kernel.metadata;
        let mut vgpr_count = metadata.vgpr_count;
        if vgprs_needed > registers.vgprs {
            let agprs = match original.accum_offset(arch) {
                // The note knows how many of the allotted AGPRs are used.
                Some(_) if metadata.agpr_count > 0 => metadata.agpr_count.min(registers.agprs),
                Some(_) => survey.agprs(&survey.reachable[function]).min(registers.agprs),
                None => 0,
            };
            let offset = vgprs_needed.next_multiple_of(4);
            if original.accum_offset(arch).is_some() {
                descriptor.set_accum_offset(arch, offset).map_err(|error| limit(&error))?;
            }
            let all = if agprs > 0 { offset + agprs } else { vgprs_needed };
            descriptor
                .set_vgpr_count(arch, all.max(original.vgpr_count(arch)))
                .map_err(|error| limit(&error))?;
            vgpr_count = vgpr_count.max(all);
        } else if metadata.agpr_count == 0 || original.accum_offset(arch).is_none() {
            vgpr_count = vgpr_count.max(vgprs_needed);
        }

        let allotted = |descriptor: &KernelDescriptor| {
            let registers = descriptor.vector_registers(arch);
            (descriptor.sgpr_count(arch), registers.vgprs, registers.agprs)
        };
        if survey.reads_allotment(function) && allotted(&descriptor) != allotted(&original) {
            let detail = "it reads how many registers it has (HW_REG_GPR_ALLOC), and counters need more";
            return Err(NoPlan::Refused(Reason::DescriptorLimit, detail.to_owned()));
        }

        let lds_before = Resources::of(arch, metadata).lds_bytes;
        let cost = Cost {
            vgprs: [metadata.vgpr_count, vgpr_count],
            scratch: [
                metadata.private_segment_fixed_size,
                scratch.unwrap_or(metadata.private_segment_fixed_size),
            ],
            lds: [lds_before, lds.map_or(lds_before, |images| images.group_segment_size)],
            ..Cost::default()
        };
        let address = |offset| KernelArg {
            name: Some(BUFFER_ARGUMENT.to_owned()),
            offset,
            size: 8,
            value_kind: "global_buffer".to_owned(),
            address_space: Some("global".to_owned()),
        };
        let strides = |offset| KernelArg {
            name: Some(STRIDES_ARGUMENT.to_owned()),
            offset: offset + 8,
            size: ARGUMENT_BYTES - 8,
            value_kind: "by_value".to_owned(),
            address_space: None,
        };
        let strides = buffer_argument.filter(|_| wave_ids.is_some()).map(strides);
        let edit = KernelEdit {
            kernel: kernel.name.clone(),
            descriptor,
            metadata: MetadataEdit {
                kernarg_segment_size: kernarg_end,
                vgpr_count: Some(vgpr_count),
                private_segment_fixed_size: scratch,
                group_segment_fixed_size: lds.map(|images| images.group_segment_size),
                append_args: buffer_argument.map(address).into_iter().chain(strides).collect(),
                ..MetadataEdit::default()
            },
        };
        let mut drafted = DraftKernel {
            scheme,
            why: String::new(),
            stride,
            buffer_argument,
            wave_ids,
            site_forms: reserved.site_forms.clone(),
            packed_sites: if packing.is_some() { counted } else { 0 },
            cost,
            points,
            edit,
            entry: at,
            sgprs_needed,
            makes_clause,
            is_first_choice: false,
        };
        drafted.count_sgprs(arch, metadata);
        Ok((drafted, Entries { at, prologue, stub }))
    }
}

impl Planner<'_> {
    /// Whether scalar loads right behind each other may be issued again (XNACK). A plan depends on nothing else that the target says
    /// beside its processor.
    pub(super) fn may_replay(&self) -> bool {
        matches!(self.object.target.xnack, FeatureState::Any | FeatureState::On)
    }

    /// Whether something must stand between a prologue and the kernel's first instructions if loads may be issued again: then none
    /// may write what another reads, nor be a store ("XNACK" in the AMDGPU user guide; LLVM's `checkSoftClauseHazards`).
    fn makes_clause(&self, prologue: &[Assembled], first: usize) -> bool {
        let arch = self.object.target.arch;
        let is_scalar_load = |inst: &&Assembled| inst.encoding == Encoding::Smem;
        let mut read = RegSet::EMPTY;
        prologue
            .iter()
            .rev()
            .take_while(is_scalar_load)
            .for_each(|inst| read.union_with(&inst.effects(arch).reads));
        let program = &self.survey.program;
        let behind =
            (first..program.insts.len()).take_while(|&index| program.insts[index].encoding == Encoding::Smem);
        read != RegSet::EMPTY
            && behind.map(|index| program.effects(index)).any(|effects| {
                let loads = effects.memory.is_some_and(|memory| memory.operation == MemoryOperation::Load);
                effects.memory.is_some() && !loads || effects.changes().share_scalars(&read)
            })
    }
}

impl DraftKernel {
    /// Tells how many SGPRs a kernel of this metadata has, and how many waves fit with these.
    pub(super) fn count_sgprs(&mut self, arch: Arch, metadata: &KernelMetadata) {
        let count = metadata.sgpr_count.max(self.sgprs_needed);
        let (before, cost) = (Resources::of(arch, metadata), &mut self.cost);
        let after = Resources { sgprs: count, vgprs: cost.vgprs[1], lds_bytes: cost.lds[1], ..before };
        cost.sgprs = [metadata.sgpr_count, count];
        cost.occupancy = waves(occupancy(arch, &before), occupancy(arch, &after));
        self.edit.metadata.sgpr_count = Some(count);
    }

    /// Whether as many waves fit as before.
    pub(super) fn keeps_occupancy(&self) -> bool {
        self.cost.occupancy.after >= self.cost.occupancy.before
    }
}

/// How many waves fit before and after.
fn waves(before: amdgpu_object::Occupancy, after: amdgpu_object::Occupancy) -> Occupancy {
    Occupancy {
        before: before.waves_per_simd,
        after: after.waves_per_simd,
        limiter_before: crate::limiter(before.limiter),
        limiter_after: crate::limiter(after.limiter),
    }
}
