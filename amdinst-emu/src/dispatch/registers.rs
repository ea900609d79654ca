//! The registers a wave starts with (AMDGPU user guide, "Initial Kernel Execution State").

use amdgpu_isa::{Arch, Feature, Target, WaveSize};
use amdgpu_object::{KernargPreload, Kernel, KernelDescriptor, SystemSgprs};

use super::{Launch, kernarg};
use crate::check::Fault;
use crate::memory::{PRIVATE_APERTURE, SCRATCH_BASE, SHARED_APERTURE};
use crate::program::Program;
use crate::rules::{Buffers, LAUNCH_WAVE, LAUNCH_X, LAUNCH_Y_Z, Rules};
use crate::wave::{EXEC, LANES, Place, Row, Wave};

/// What every wave of a launch starts from.
#[derive(Debug)]
pub(crate) struct Setup {
    /// Address of the first instruction, in the code object.
    pub(crate) entry: u64,
    /// What user SGPRs hold, from s0 on.
    user: Vec<u32>,
    system: SystemSgprs,
    /// Workgroups' ids in y and z are passed, where trap temporaries have them.
    passes_y_z: bool,
    /// How many registers above those that the descriptor names they are: it may count too few user SGPRs.
    system_shift: usize,
    mode: u32,
    /// Scratch bytes a work-item.
    scratch: u32,
    /// Device address of the kernarg segment.
    pub(super) kernarg: u64,
    arch: Arch,
    /// Workgroups in x, y, z.
    grid: [u32; 3],
    /// By wave of a workgroup, for each size of workgroups: bit n of the index is set for those at the grid's
    /// end in dimension n, if they have fewer work-items than the others. Empty where there is no such
    /// workgroup.
    lanes: [Vec<Lanes>; 8],
    /// Rows of work-item ids that are not packed into one.
    id_rows: usize,
}

/// Where a launch's packet, queue and kernarg segment are in device memory, and what they say.
pub(super) struct Places<'a> {
    pub(super) packet: u64,
    pub(super) queue: u64,
    pub(super) kernarg: u64,
    /// The bytes at `kernarg`, as many as the kernel preloads.
    pub(super) kernarg_bytes: &'a [u8],
    /// Scratch bytes a work-item.
    pub(super) scratch: u32,
    /// Work-items of the grid in x, y, z.
    pub(super) items: [u32; 3],
}

/// The lanes of one wave of a workgroup: the same in every workgroup, so worked out once.
#[derive(Debug)]
struct Lanes {
    exec: u64,
    /// v0 to v2.
    ids: [Row; 3],
}

impl Lanes {
    /// Lanes of a workgroup's wave `number`: which are active, and their work-item ids. Lanes beyond the
    /// workgroup's end are inactive, their ids zero.
    fn new(block: [u32; 3], number: u32, target: Target, id_rows: usize) -> Self {
        let total: u32 = block.iter().product();
        let mut lanes = Self { exec: 0, ids: [[0; LANES]; 3] };
        let in_wave = target.wave.lanes();
        for (lane, flat) in (number * in_wave..total).take(in_wave as usize).enumerate() {
            lanes.exec |= 1 << lane;
            let id = [flat % block[0], flat / block[0] % block[1], flat / (block[0] * block[1])];
            if target.arch.has(Feature::PackedWorkItemIds) {
                // Code that asks for x alone takes v0 as it is, without masking: what is not asked for must
                // be zero.
                lanes.ids[0][lane] = id.iter().take(id_rows).zip([0, 10, 20]).map(|(id, at)| id << at).sum();
            } else {
                for (row, id) in lanes.ids.iter_mut().zip(id).take(id_rows) {
                    row[lane] = id;
                }
            }
        }
        lanes
    }
}

/// Bytes of prologue that hardware which preloads kernel arguments skips.
const PRELOAD_PROLOGUE: u64 = 256;

impl Setup {
    /// Work out the registers.
    pub(super) fn new(
        program: &Program,
        kernel: &Kernel,
        launch: &Launch,
        places: &Places<'_>,
    ) -> Result<Self, Fault> {
        let descriptor = &kernel.descriptor;
        let target = program.target;
        let arch = target.arch;
        // Kernels of another size are not in a program; what remains is a processor that has only one.
        if descriptor.enable_wavefront_size32() && target.wave == WaveSize::Wave64 {
            return Err(Fault::dispatch(
                &launch.kernel,
                format!("the descriptor asks for waves of 32 lanes, {arch} has waves of 64 only"),
            ));
        }
        let most = 1 << 16;
        let too_many =
            [("y", launch.grid[1]), ("z", launch.grid[2])].into_iter().find(|(_, count)| *count > most);
        if let (true, Some((axis, count))) = (arch.has(Feature::WorkgroupIdsInTtmps), too_many) {
            let problem =
                format!("{count} workgroups in {axis}: {arch} numbers {most} there: put them into x");
            return Err(Fault::dispatch(&launch.kernel, problem));
        }
        let Places { packet, queue, kernarg, kernarg_bytes, scratch, items } = *places;

        let layout = descriptor.user_sgprs(arch);
        let mut user = vec![0; layout.count.into()];
        let mut fill = |first: Option<u8>, words: &[u32]| {
            if let Some(first) = first {
                user[first.into()..][..words.len()].copy_from_slice(words);
            }
        };
        let pair = |value: u64| [value as u32, (value >> 32) as u32];
        fill(layout.private_segment_buffer, &scratch_resource(target));
        fill(layout.dispatch_ptr, &pair(packet));
        fill(layout.queue_ptr, &pair(queue));
        fill(layout.kernarg_segment_ptr, &pair(kernarg));
        fill(layout.dispatch_id, &pair(1));
        let scratch_init =
            if Rules::of(arch.generation()).scratch_by_offset { [0, scratch] } else { pair(SCRATCH_BASE) };
        fill(layout.flat_scratch_init, &scratch_init);
        fill(layout.private_segment_size, &[scratch]);
        let mut entry = kernel.descriptor_address.wrapping_add_signed(descriptor.entry_offset());
        if let Some(KernargPreload { first, count, offset }) = layout.kernarg_preload {
            for dword in 0..count {
                let at = 4 * (usize::from(offset) + usize::from(dword));
                let bytes = kernarg_bytes
                    .get(at..at + 4)
                    .map_or([0; 4], |bytes| [bytes[0], bytes[1], bytes[2], bytes[3]]);
                fill(Some(first + dword), &[u32::from_le_bytes(bytes)]);
            }
            entry += PRELOAD_PROLOGUE;
        }
        let id_rows = usize::from(descriptor.enable_vgpr_workitem_id().min(2)) + 1;
        let lanes = std::array::from_fn(|size| {
            let mut block = launch.block;
            for axis in 0..3 {
                if size & 1 << axis != 0 {
                    block[axis] = items[axis] % block[axis];
                }
            }
            let waves = block.iter().product::<u32>().div_ceil(target.wave.lanes());
            (0..waves).map(|number| Lanes::new(block, number, target, id_rows)).collect()
        });
        Ok(Self {
            entry,
            user,
            system: descriptor.system_sgprs(arch),
            passes_y_z: descriptor.enable_sgpr_workgroup_id_y() || descriptor.enable_sgpr_workgroup_id_z(),
            system_shift: layout.count.saturating_sub(descriptor.user_sgpr_count()).into(),
            mode: initial_mode(descriptor, arch),
            scratch,
            kernarg,
            arch,
            grid: launch.grid,
            lanes,
            id_rows,
        })
    }

    /// Scratch bytes a work-item that a kernel is given which asks for `asked`, and `dynamic` for a stack
    /// that grows: whole dwords of each lane, and some for the stack pointer's alignment.
    ///
    /// # Errors
    /// More than the processor has.
    pub(super) fn scratch_bytes(arch: Arch, asked: u32, dynamic: u32) -> Result<u32, String> {
        let most = arch.limits().scratch_bytes;
        if asked > most {
            return Err(format!("{asked} bytes of scratch memory a work-item; {arch} has {most}"));
        }
        Ok(asked.saturating_add(dynamic).next_multiple_of(16).min(most))
    }

    /// Waves of a workgroup: fewer at the grid's end, if it has a part of a workgroup there.
    pub(crate) fn waves(&self, workgroup: [u32; 3]) -> usize {
        self.lanes_of(workgroup).len()
    }

    fn lanes_of(&self, workgroup: [u32; 3]) -> &[Lanes] {
        let ends = (0..3)
            .filter(|&axis| workgroup[axis] + 1 == self.grid[axis] && !self.lanes[1 << axis].is_empty());
        &self.lanes[ends.map(|axis| 1 << axis).sum::<usize>()]
    }

    /// Bytes of the workgroup's scratch that one wave has: room for as many lanes as a row has.
    pub(super) fn wave_scratch(&self) -> u32 {
        self.scratch * LANES as u32
    }

    /// What the scalar registers of every wave start with, before [`Setup::start`] says which wave it is.
    pub(super) fn scalars(&self, rules: &Rules, uninitialised: u32) -> [u32; 128] {
        let mut scalars = Wave::scalars(rules, uninitialised);
        for (register, value) in self.user.iter().take(rules.sgprs.into()).enumerate() {
            scalars[register] = *value;
        }
        scalars
    }

    /// Put a wave whose registers are fresh into its initial state.
    pub(crate) fn start(&self, wave: &mut Wave, workgroup: [u32; 3], number: u32, uninitialised: u32) {
        let lanes = self.lanes_of(workgroup);
        let offset = self.wave_scratch() * number;
        let base = SCRATCH_BASE + u64::from(offset);
        wave.scratch.reset(self.scratch, base, uninitialised);
        wave.set_mode(self.mode);
        wave.place = Place {
            number,
            in_group: lanes.len() > 1,
            scratch: self.scratch > 0,
            work_items: lanes[number as usize].exec,
        };
        let sgprs = usize::from(wave.rules.sgprs);
        let SystemSgprs { workgroup_id_x, workgroup_id_y, workgroup_id_z, .. } = self.system;
        let mut system = |register: Option<u8>, value: u32| {
            let register = register.map(|register| usize::from(register) + self.system_shift);
            if let Some(register) = register.filter(|&register| register < sgprs) {
                wave.s[register] = value;
            }
        };
        for (register, id) in [workgroup_id_x, workgroup_id_y, workgroup_id_z].into_iter().zip(workgroup) {
            system(register, id);
        }
        let info = lanes.len() as u32 | number << 6 | u32::from(number == 0) << 31;
        system(self.system.workgroup_info, info);
        system(self.system.private_segment_wavefront_offset, offset);
        if self.arch.has(Feature::WorkgroupIdsInTtmps) {
            self.put_ids(wave, workgroup, number, uninitialised);
        }
        if self.arch.has(Feature::ArchitectedFlatScratch) {
            wave.set_flat_scratch(base);
        }

        let lanes = &lanes[number as usize];
        let rows = if self.arch.has(Feature::PackedWorkItemIds) { 1 } else { self.id_rows };
        wave.rows[..rows].copy_from_slice(&lanes.ids[..rows]);
        wave.set_s64(EXEC, lanes.exec);
        wave.sync_exec();
    }

    /// Puts the ids of a wave and its workgroup where kernels read them in trap temporaries (RDNA4 ISA,
    /// section 3.5.3.4).
    fn put_ids(&self, wave: &mut Wave, [x, y, z]: [u32; 3], number: u32, uninitialised: u32) {
        const Y_Z_VALID: u32 = 1 << 30;
        wave.set_s32(LAUNCH_X, x);
        wave.set_s32(LAUNCH_Y_Z, if self.passes_y_z { y | z << 16 } else { uninitialised });
        wave.set_s32(LAUNCH_WAVE, number << 25 | if self.passes_y_z { Y_Z_VALID } else { 0 });
    }
}

/// MODE as the descriptor sets it up (AMDGPU user guide, "compute_pgm_rsrc1" and "compute_pgm_rsrc2"; Vega
/// ISA manual, "Mode register").
fn initial_mode(descriptor: &KernelDescriptor, arch: Arch) -> u32 {
    let floats = u32::from(descriptor.float_mode()) | u32::from(descriptor.fp16_overflow()) << 23;
    if Rules::of(arch.generation()).fixed_ieee_mode {
        // The other bits have become those of the scheduler, and exceptions are TRAP_CTRL's.
        return floats;
    }
    floats
        | u32::from(descriptor.enable_dx10_clamp()) << 8
        | u32::from(descriptor.enable_ieee_mode()) << 9
        | u32::from(descriptor.exceptions()) << 12
}

/// The resource that private accesses of `buffer_*` instructions go through: swizzled, dword elements, as
/// many indices as a wave has lanes, the lane added to the index (Vega ISA manual, "Buffer resource
/// descriptor"; RDNA2 ISA, section 8.1.8). Its range is not checked.
fn scratch_resource(target: Target) -> [u32; 4] {
    const SWIZZLE_ENABLE: u32 = 1 << 31;
    const ADD_TID_ENABLE: u32 = 1 << 23;
    let index_stride = match target.wave {
        WaveSize::Wave32 => 2 << 21,
        WaveSize::Wave64 => 3 << 21,
    };
    let form = match Rules::of(target.arch.generation()).buffers {
        Buffers::TwoFormats => DATA_FORMAT_32,
        Buffers::OneFormat | Buffers::SizedElements | Buffers::ScaledStride => {
            FORMAT_32_UINT | RESOURCE_LEVEL | UNCHECKED
        }
    };
    const DATA_FORMAT_32: u32 = 4 << 15;
    const FORMAT_32_UINT: u32 = 20 << 12;
    const RESOURCE_LEVEL: u32 = 1 << 24;
    // OOB_SELECT 2.
    const UNCHECKED: u32 = 2 << 28;
    let high = (SCRATCH_BASE >> 32) as u32 & 0xffff;
    [SCRATCH_BASE as u32, high | SWIZZLE_ENABLE, u32::MAX, form | index_stride | ADD_TID_ENABLE]
}

/// The parts of `amd_queue_t` that kernels read: the apertures, at bytes 64 and 68.
pub(super) fn queue_descriptor() -> [u8; 256] {
    let mut queue = [0; 256];
    queue[64..68].copy_from_slice(&((SHARED_APERTURE >> 32) as u32).to_le_bytes());
    queue[68..72].copy_from_slice(&((PRIVATE_APERTURE >> 32) as u32).to_le_bytes());
    queue
}

/// An AQL kernel dispatch packet (HSA runtime specification, `hsa_kernel_dispatch_packet_t`).
pub(super) fn packet(
    launch: &Launch,
    scratch: u32,
    static_lds: u32,
    kernel_object: u64,
    kernarg: u64,
) -> Vec<u8> {
    const KERNEL_DISPATCH: u16 = 2;
    let mut packet = Vec::with_capacity(64);
    packet.extend(KERNEL_DISPATCH.to_le_bytes());
    packet.extend(kernarg::dimensions(launch).to_le_bytes());
    for size in launch.block {
        packet.extend((size as u16).to_le_bytes());
    }
    packet.extend([0; 2]);
    for (groups, size) in launch.grid.iter().zip(launch.block) {
        packet.extend((groups * size).to_le_bytes());
    }
    packet.extend(scratch.to_le_bytes());
    packet.extend((static_lds + launch.dynamic_lds).to_le_bytes());
    packet.extend(kernel_object.to_le_bytes());
    packet.extend(kernarg.to_le_bytes());
    packet.resize(64, 0);
    packet
}
