//! The new descriptor and metadata of a kernel, and its prologue.

use amdgpu_isa::{Arch, Encoding, Feature, FeatureState, LAST_SGPR, MemoryOperation, RegSet};
use amdgpu_object::rewrite::{KernelEdit, MetadataEdit};
use amdgpu_object::{
    CodeObject, Kernel, KernelArg, KernelDescriptor, KernelMetadata, Resources, UserSgpr, occupancy,
};
use amdinst_format::probes::{Cost, Occupancy};

use super::{DraftKernel, NoPlan, Planner};
use crate::analysis::program::Function;
use crate::counters::{ARGUMENT_BYTES, Packing, WaveIds};
use crate::instrument::emit::assembler::{Assembled, HighestRegisters};
use crate::instrument::emit::entry::{Buffer, Entry, Left};
use crate::instrument::emit::sequence::Sequence;
use crate::instrument::emit::stub::{self, STUB_BYTES, stub_bytes};
use crate::instrument::find::points::Point;
use crate::instrument::find::survey::Survey;
use crate::instrument::options::{Abi, BUFFER_ARGUMENT, STRIDES_ARGUMENT};
use crate::instrument::refusal::Reason;
use crate::instrument::registers::deferred::{SPECIAL_SGPRS, id_vgprs};
use crate::instrument::registers::layout::{BorrowedVgprs, Reserved};
use crate::instrument::registers::lds::{LdsImages, Start};
use crate::instrument::registers::scheme::{Scheme, SeedPlace};
use crate::instrument::seed::{self, SeedRegisters};

/// What stands at the entries of a kernel.
pub(super) struct Entries {
    /// The instruction that the prologue stands before.
    pub(super) at: usize,
    pub(super) prologue: Vec<Assembled>,
    /// For firmware that does not preload arguments: a stub in place of the original's, and its first
    /// instruction.
    pub(super) stub: Option<(usize, Vec<Assembled>)>,
}

/// The first instruction of a function at which probes can be: behind a kernel's stub for such firmware.
pub(super) fn start(survey: &Survey, object: &CodeObject, function: usize) -> usize {
    let Function { range, kernel, .. } = &survey.program.functions[function];
    let stub = kernel.map_or(0, |kernel| stub_bytes(&object.kernels[kernel].descriptor, object.target.arch));
    survey.program.insts.partition_point(|located| located.pc < range.start + stub)
}

/// Has a kernel get the ids of its workgroup and of its work-items, all of them.
pub(super) fn enable_ids(descriptor: &mut KernelDescriptor) {
    descriptor.set_enable_sgpr_workgroup_id_x(true);
    descriptor.set_enable_sgpr_workgroup_id_y(true);
    descriptor.set_enable_sgpr_workgroup_id_z(true);
    descriptor.set_enable_vgpr_workitem_id(2);
}

/// How a kernel counts.
pub(super) struct Counting<'a> {
    pub(super) scheme: Scheme,
    pub(super) reserved: &'a Reserved,
    /// Registers of a scheme of 2022, if it is one.
    pub(super) seed: Option<&'a SeedRegisters>,
    /// Points that its records have room for.
    pub(super) counted: u32,
    pub(super) packing: Option<Packing>,
    /// These points, with the functions that they stand in.
    pub(super) points: Vec<(usize, Point)>,
    /// The highest registers of what is inserted, prologues aside.
    pub(super) highest: HighestRegisters,
    /// What its prologue leaves for later.
    pub(super) left: Left,
}

/// The argument that an instrumented kernel takes.
struct Argument {
    /// Its byte, with the ABI that has one.
    buffer: Option<u32>,
    /// With strides behind that.
    wave_ids: Option<WaveIds>,
    /// Bytes of arguments with it.
    end: Option<u32>,
}

/// A kernel whose new descriptor and metadata are made.
struct Properties<'a, 'p> {
    planner: &'a Planner<'p>,
    function: usize,
    kernel: &'a Kernel,
    counting: &'a Counting<'a>,
    /// The new one.
    descriptor: KernelDescriptor,
}

impl Planner<'_> {
    /// The new descriptor and metadata of a kernel, and what stands at its entries.
    pub(super) fn kernel_edit(
        &self,
        function: usize,
        counting: Counting<'_>,
    ) -> Result<(DraftKernel, Entries), NoPlan> {
        let arch = self.object.target.arch;
        let kernel = self.kernel(function);
        let stride = match &counting.packing {
            Some(packing) => packing.record_stride(),
            None if counting.scheme.is_seed() => seed::stride(counting.counted),
            None => self.options.probe.record_stride(counting.counted),
        };
        let descriptor = kernel.descriptor;
        let mut new = Properties { planner: self, function, kernel, counting: &counting, descriptor };
        new.ask_for_ids()?;
        let lds = new.place_images(stride)?;
        new.ask_for_scratch()?;
        let at = new.entry()?;
        let argument = new.append_argument()?;
        let reserved = counting.reserved;
        let first_unused = arch.has(Feature::ScalarReadHazard).then(|| {
            let used = self.survey.sgprs(&self.survey.reachable[function]);
            used.min(u32::from(LAST_SGPR)) as u8
        });
        let entry = Entry {
            arch,
            assembler: &self.assembler,
            original: kernel.descriptor,
            instrumented: new.descriptor,
            reserved,
            keep_offsets: reserved.adds_to_memory && reserved.borrowed_vgprs == BorrowedVgprs::Neither,
            lds,
            buffer: argument.buffer.map_or(Buffer::Variable, Buffer::Argument),
            record_stride: stride,
            left: counting.left,
            first_unused,
        };
        let (prologue, makes_clause) = new.prologue(&entry, at)?;
        let stub = new.stub()?;
        let mut highest = counting.highest;
        highest.see(&prologue);
        let sgprs_needed = new.allot_sgprs(highest.sgprs.max(entry.sgprs()))?;
        let vgpr_count = new.allot_vgprs(highest.vgprs)?;
        new.check_allotment()?;
        let mut drafted = DraftKernel {
            scheme: counting.scheme,
            why: String::new(),
            stride,
            buffer_argument: argument.buffer,
            wave_ids: argument.wave_ids,
            site_forms: reserved.site_forms.clone(),
            packed_sites: if counting.packing.is_some() { counting.counted } else { 0 },
            cost: new.cost(vgpr_count, lds),
            edit: new.edit(vgpr_count, lds, &argument),
            entry: at,
            sgprs_needed,
            makes_clause,
            is_first_choice: false,
            points: counting.points,
        };
        drafted.count_sgprs(arch, &kernel.metadata);
        Ok((drafted, Entries { at, prologue, stub }))
    }
}

/// A descriptor has no room for what counters take.
fn limit(error: impl std::fmt::Display) -> NoPlan {
    NoPlan::Refused(Reason::DescriptorLimit, error.to_string())
}

impl Properties<'_, '_> {
    fn arch(&self) -> Arch {
        self.planner.object.target.arch
    }

    /// Bytes of private memory a work-item, if sites borrow by way of that.
    fn scratch_bytes(&self) -> Option<u32> {
        self.counting.reserved.scratch.map(|slots| slots.end)
    }

    /// Whether sites address private memory by a register.
    fn scratch_is_set_up(&self) -> bool {
        self.counting.reserved.scratch.is_some_and(|slots| slots.is_set_up)
    }

    /// What the prologue needs of what waves start with: the pointer to the arguments, if ours is one, and
    /// all ids.
    fn ask_for_ids(&mut self) -> Result<(), NoPlan> {
        let arch = self.arch();
        if self.planner.options.abi == Abi::Argument {
            self.descriptor
                .set_user_sgpr(arch, UserSgpr::KernargSegmentPtr, true)
                .map_err(|error| (Reason::KernargPointer, error.to_string()))?;
        }
        enable_ids(&mut self.descriptor);
        Ok(())
    }

    /// Places the records' images in LDS, if counters are there.
    fn place_images(&mut self, stride: u32) -> Result<Option<LdsImages>, NoPlan> {
        let Counting { scheme, counted, .. } = *self.counting;
        let what = (self.planner.options.probe, counted);
        let place =
            |bytes: u32| LdsImages::place(self.planner.survey, self.function, self.kernel, what, bytes);
        let images = match scheme {
            Scheme::Lds => place(stride)?,
            Scheme::Seed(SeedPlace::Lds) => {
                seed::behind_static_lds(place(seed::image_bytes(counted))?, self.kernel)
            }
            Scheme::Sgprs | Scheme::VgprLanes | Scheme::Memory | Scheme::Seed(_) => return Ok(None),
        };
        self.descriptor.set_group_segment_fixed_size(images.group_segment_size);
        if images.start == Start::AtEnd {
            let arch = self.arch();
            self.descriptor.set_user_sgpr(arch, UserSgpr::DispatchPtr, true).map_err(|error| {
                (Reason::LdsPlacement, format!("{error}: where its dynamic LDS ends cannot be read"))
            })?;
        }
        Ok(Some(images))
    }

    /// Makes room in private memory, if sites borrow by way of that.
    fn ask_for_scratch(&mut self) -> Result<(), NoPlan> {
        if self.scratch_is_set_up() {
            let arch = self.arch();
            self.descriptor.set_user_sgpr(arch, UserSgpr::FlatScratchInit, true).map_err(|error| {
                let detail =
                    format!("every VGPR is in use, and {error}: where scratch memory is cannot be read");
                (Reason::NoFreeVgpr, detail)
            })?;
        }
        if let Some(bytes) = self.scratch_bytes() {
            self.descriptor.set_private_segment_fixed_size(bytes);
            self.descriptor.set_enable_private_segment(true);
        }
        Ok(())
    }

    /// The instruction that the prologue stands before. Nothing before that is counted.
    fn entry(&self) -> Result<usize, NoPlan> {
        let program = &self.planner.survey.program;
        let entry = program.functions[self.function].range.start;
        let at = program.at(entry + stub_bytes(&self.kernel.descriptor, self.arch())).ok_or_else(|| {
            let detail = format!("no code follows the {STUB_BYTES} bytes for firmware that does not preload");
            (Reason::KernargPreload, detail)
        })?;
        let in_stub = |&(from, point): &(usize, Point)| from == self.function && point.inst < at;
        if self.counting.points.iter().any(in_stub) {
            let detail = "a branch stands in the code for firmware that does not preload".to_owned();
            return Err(NoPlan::Refused(Reason::KernargPreload, detail));
        }
        Ok(at)
    }

    /// Appends our argument, if there is one.
    fn append_argument(&mut self) -> Result<Argument, NoPlan> {
        let kernarg = self.kernel.metadata.kernarg_segment_size.max(self.kernel.descriptor.kernarg_size());
        if kernarg > KernelMetadata::MAX_KERNARG_SEGMENT {
            return Err(limit(format_args!("a kernarg segment of {kernarg} bytes")));
        }
        let buffer = (self.planner.options.abi == Abi::Argument).then_some(kernarg.next_multiple_of(8));
        let packed = self.arch().has(Feature::PackedWorkItemIds);
        let ids = if packed { WaveIds::Together } else { WaveIds::Apart };
        let Counting { scheme, reserved, .. } = self.counting;
        let wave_ids = (reserved.deferred.is_some() || scheme.is_seed()).then_some(ids);
        let bytes = if wave_ids.is_some() { ARGUMENT_BYTES } else { 8 };
        let end = buffer.map(|offset| offset + bytes);
        if let Some(end) = end {
            self.descriptor.set_kernarg_size(end);
        }
        Ok(Argument { buffer, wave_ids, end })
    }

    /// The prologue, and whether it has to be kept apart from what is behind it if loads may be issued again.
    fn prologue(&self, entry: &Entry<'_>, at: usize) -> Result<(Vec<Assembled>, bool), NoPlan> {
        let mut prologue = match self.counting.seed {
            Some(seed) => seed.prologue(entry)?,
            None => entry.code()?,
        };
        let makes_clause = self.planner.makes_clause(&prologue, at);
        if makes_clause && self.planner.may_replay() {
            let mut code = Sequence::new(&self.planner.assembler);
            code.fill(4);
            prologue.extend(code.finish()?);
        }
        Ok((prologue, makes_clause))
    }

    /// A stub in place of the original's, if that loads other registers now, and its first instruction.
    fn stub(&self) -> Result<Option<(usize, Vec<Assembled>)>, NoPlan> {
        let original = &self.kernel.descriptor;
        if !stub::must_change(original, &self.descriptor, self.arch()) {
            return Ok(None);
        }
        let program = &self.planner.survey.program;
        let entry = program.functions[self.function].range.start;
        let first = stub::understand(program, entry, original).map_err(|what| {
            let detail = format!("the code for firmware that does not preload is not understood: {what}");
            (Reason::KernargPreload, detail)
        })?;
        Ok(Some((first, stub::code(&self.planner.assembler, &self.descriptor)?)))
    }

    /// Allots as many SGPRs as inserted code uses. How many the kernel needs with the special ones.
    fn allot_sgprs(&mut self, used: u32) -> Result<u32, NoPlan> {
        let arch = self.arch();
        let survey = self.planner.survey;
        // FLAT_SCRATCH is one of the last that are allotted, where a kernel without it may have others.
        let own = match self.scratch_is_set_up() {
            true => survey.sgprs(&survey.reachable[self.function]),
            false => 0,
        };
        let needed = used.max(own) + SPECIAL_SGPRS;
        if needed > self.kernel.descriptor.sgpr_count(arch) {
            self.descriptor.set_sgpr_count(arch, needed).map_err(limit)?;
        }
        Ok(needed)
    }

    /// Allots as many VGPRs as inserted code uses. How many the metadata tells of. AGPRs start after the
    /// VGPRs, where they share the file.
    fn allot_vgprs(&mut self, used: u32) -> Result<u32, NoPlan> {
        let arch = self.arch();
        let original = self.kernel.descriptor;
        let needed = used.max(id_vgprs(arch).into());
        let registers = original.vector_registers(arch);
        let metadata = &self.kernel.metadata;
        if needed <= registers.vgprs {
            let is_told = metadata.agpr_count == 0 || original.accum_offset(arch).is_none();
            return Ok(if is_told { metadata.vgpr_count.max(needed) } else { metadata.vgpr_count });
        }
        let survey = self.planner.survey;
        let agprs = match original.accum_offset(arch) {
            // The note knows how many of the allotted AGPRs are used.
            Some(_) if metadata.agpr_count > 0 => metadata.agpr_count.min(registers.agprs),
            Some(_) => survey.agprs(&survey.reachable[self.function]).min(registers.agprs),
            None => 0,
        };
        let offset = needed.next_multiple_of(4);
        if original.accum_offset(arch).is_some() {
            self.descriptor.set_accum_offset(arch, offset).map_err(limit)?;
        }
        let all = if agprs > 0 { offset + agprs } else { needed };
        self.descriptor.set_vgpr_count(arch, all.max(original.vgpr_count(arch))).map_err(limit)?;
        Ok(metadata.vgpr_count.max(all))
    }

    /// A kernel that reads how many registers it has must have as many as before.
    fn check_allotment(&self) -> Result<(), NoPlan> {
        let arch = self.arch();
        let allotted = |descriptor: &KernelDescriptor| {
            let registers = descriptor.vector_registers(arch);
            (descriptor.sgpr_count(arch), registers.vgprs, registers.agprs)
        };
        let changes = allotted(&self.descriptor) != allotted(&self.kernel.descriptor);
        if changes && self.planner.survey.reads_allotment(self.function) {
            return Err(limit(
                "it reads how many registers it has (HW_REG_GPR_ALLOC), and counters need more",
            ));
        }
        Ok(())
    }

    /// What the kernel has of VGPRs, private memory and LDS, before and after.
    fn cost(&self, vgpr_count: u32, lds: Option<LdsImages>) -> Cost {
        let metadata = &self.kernel.metadata;
        let lds_before = Resources::of(self.arch(), metadata).lds_bytes;
        let scratch_before = metadata.private_segment_fixed_size;
        Cost {
            vgprs: [metadata.vgpr_count, vgpr_count],
            scratch: [scratch_before, self.scratch_bytes().unwrap_or(scratch_before)],
            lds: [lds_before, lds.map_or(lds_before, |images| images.group_segment_size)],
            ..Cost::default()
        }
    }

    fn edit(&self, vgpr_count: u32, lds: Option<LdsImages>, argument: &Argument) -> KernelEdit {
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
        let strides = argument.buffer.filter(|_| argument.wave_ids.is_some()).map(strides);
        KernelEdit {
            kernel: self.kernel.name.clone(),
            descriptor: self.descriptor,
            metadata: MetadataEdit {
                kernarg_segment_size: argument.end,
                vgpr_count: Some(vgpr_count),
                private_segment_fixed_size: self.scratch_bytes(),
                group_segment_fixed_size: lds.map(|images| images.group_segment_size),
                append_args: argument.buffer.map(address).into_iter().chain(strides).collect(),
                ..MetadataEdit::default()
            },
        }
    }
}

impl Planner<'_> {
    /// Whether scalar loads right behind each other may be issued again (XNACK). A plan depends on nothing
    /// else that the target says beside its processor.
    pub(super) fn may_replay(&self) -> bool {
        matches!(self.object.target.xnack, FeatureState::Any | FeatureState::On)
    }

    /// Whether something must stand between a prologue and the kernel's first instructions if loads may be
    /// issued again: then none may write what another reads, nor be a store ("XNACK" in the AMDGPU user
    /// guide; LLVM's `checkSoftClauseHazards`).
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
