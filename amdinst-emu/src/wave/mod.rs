//! The state of one wave: registers, mode, program counter and private memory.

mod calls;
mod lanes;
mod operand;
mod rows;
mod scratch;
mod stage;
mod unwritten;

pub(crate) use calls::Calls;
pub(crate) use lanes::{
    CHUNK, Elem, Half, LANES, Row, accumulate, lanes_of, map, map1, map1_or, map2, map2_bit, map3, map3_bits,
    masks, merge, packed, read, remake, test2, test2_bit, unpacked, write,
};
pub(crate) use operand::{Registers, Src};
pub(crate) use rows::{File, GROUP, MASK_ROW, REGISTERS, RESULT_ROW, ROOMS, ROWS, RowAt, Rows, SOURCE_ROWS};
pub(crate) use scratch::{Scratch, fill_dwords};
pub(crate) use stage::Stage;
pub(crate) use unwritten::UnwrittenRead;

use std::collections::BTreeMap;

use amdgpu_isa::{Op, Special, Target, Value, WaveSize};

use crate::check::{FaultKind, Outcome, Passed, RegisterBank, Stand, Trap};
use crate::memory::{GlobalSync, SCRATCH_BASE, Ticket};
use crate::rules::Rules;
use crate::vectors::Vectors;

pub(crate) use amdgpu_isa::scalar::{EXEC, FLAT_SCRATCH, M0, VCC};

/// FLAT_SCRATCH counts steps of 256 bytes where it is an offset (AMDGPU user guide, "Flat Scratch").
const SCRATCH_STEP: u32 = 8;

/// MODE.FP16_OVFL: "an overflowed FP16 result is clamped to +/- MAX_FP16, regardless of round mode, while
/// still preserving true INF values" (Vega ISA manual, "Mode register"). A result that is rounded twice
/// (`v_mad_f16`) is clamped twice.
pub(crate) const SATURATE: u32 = 4;

/// No scalar operand.
pub(crate) const NO_SCALAR: u8 = 255;

/// What a wave is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Running,
    /// Waits at a barrier.
    AtBarrier,
    /// Waits for waves of other workgroups (global wave sync).
    AtSync,
    /// Gave up its time slice.
    Yielded,
    /// Halted by `s_sethalt`: nothing wakes it.
    Halted,
    Ended,
}

impl Status {
    /// It has a next step that nothing keeps it from.
    pub(crate) const fn runs(self) -> bool {
        matches!(self, Self::Running | Self::Yielded)
    }

    /// As a fault tells it.
    pub(crate) const fn stand(self) -> Stand {
        match self {
            Self::Running | Self::Yielded => Stand::Runs,
            Self::AtBarrier => Stand::AtBarrier,
            Self::AtSync => Stand::AtSync,
            Self::Halted => Stand::Halted,
            Self::Ended => Stand::Ended,
        }
    }
}

/// What minima and maxima make of NaNs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nans {
    /// A NaN loses against the other operand.
    Lose,
    /// As that, but one that signals is the result, quiet (MODE.IEEE).
    Signal,
    /// A NaN loses against a number; of two NaNs the first is the result, quiet (IEEE 754-2019,
    /// minimumNumber).
    Number,
}

/// A wave's part in a barrier that is signalled and waited at by two instructions (`s_barrier_signal`,
/// `s_barrier_wait`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// It has not signalled since it last waited.
    None,
    /// It has signalled, with these lanes, and others have not.
    Given(u64),
    /// All have signalled: it need not wait.
    Complete,
}

/// MODE.FP16_OVFL.
const FP16_OVFL: u32 = 23;
/// VGPR relative addressing (`s_set_gpr_idx_on`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GprIndex {
    /// MODE.GPR_IDX_EN. M0 says which operands it is for.
    pub(crate) enable: u8,
}

impl GprIndex {
    /// Bits of M0.
    pub(crate) const SRC0: u32 = 12;
    pub(crate) const SRC1: u32 = 13;
    pub(crate) const SRC2: u32 = 14;
    pub(crate) const DST: u32 = 15;
}

/// A wave's place, as far as `s_getreg_b32` tells it. The default is a workgroup of one wave without private
/// memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    /// Number in its workgroup.
    pub(crate) number: u32,
    /// The workgroup has other waves.
    pub(crate) in_group: bool,
    /// The wave has private memory.
    pub(crate) scratch: bool,
    /// Lanes that it began with.
    pub(crate) work_items: u64,
}

#[derive(Debug)]
pub(crate) struct Wave {
    pub(crate) rows: Box<Rows>,
    /// How many lanes it has.
    size: WaveSize,
    /// What waves of its generation do in their own way.
    pub(crate) rules: &'static Rules,
    /// By operand number: SGPRs, FLAT_SCRATCH, VCC, M0, EXEC.
    pub(crate) s: [u32; 128],
    pub(crate) scc: bool,
    /// EXEC, as of the last instruction that wrote it; `s[126..128]` is where it is written.
    pub(crate) exec: u64,
    /// Lanes in `exec`.
    pub(crate) active: u64,
    /// EXEC, while a step with DPP runs whose lanes the fast layer has permuted, and has left out those that
    /// it does not write.
    pub(crate) permuting: Option<u64>,
    /// The mask that [`MASK_ROW`] holds.
    mask_row: u64,
    /// The MODE register.
    pub(crate) mode: u32,
    /// Index of the step that runs.
    pub(crate) current: u32,
    /// Index of the next step.
    pub(crate) next: u32,
    pub(crate) status: Status,
    /// Its part in a barrier that is signalled and waited at by two instructions.
    pub(crate) signal: Signal,
    /// What it waits for, where that is other workgroups.
    pub(crate) ticket: Option<Ticket>,
    pub(crate) gpr_index: GprIndex,
    /// MODE.VSKIP: vector instructions are not executed.
    pub(crate) skips_vectors: bool,
    /// Registers that it has.
    pub(crate) allotted: Registers,
    /// What the hardware registers say of its place.
    pub(crate) place: Place,
    /// TRAPSTS, as it was written.
    pub(crate) trap_status: u32,
    /// The functions of `exec` may use the host's AVX2 ([`Wave::new`]).
    pub(crate) avx2: bool,
    /// Rows of the current instruction's sources and result.
    pub(crate) src: [u16; 4],
    pub(crate) dst: u16,
    /// The current instruction clamps its result.
    pub(crate) clamp: bool,
    pub(crate) scratch: Scratch,
    pub(crate) calls: Calls,
    /// By step: that it asked for a lane which only larger waves have, the first time.
    pub(crate) missing_lanes: BTreeMap<u32, Passed>,
    /// Global wave index.
    pub(crate) index: u64,
    /// Lane-instructions so far.
    pub(crate) lanes_run: u64,
    /// Instructions so far, those of the time slice under way left out.
    pub(crate) steps_run: u64,
    /// Instructions before the one that reads a clock.
    pub(crate) clock: u64,
    /// Readings of the clock so far.
    pub(crate) clock_reads: u64,
}

/// What a wave's next steps can depend on, besides memory.
#[derive(Debug)]
pub(crate) struct Held {
    vgprs: Vec<Row>,
    agprs: Vec<Row>,
    s: [u32; 128],
    scc: bool,
    exec: u64,
    mode: u32,
    gpr_index: u8,
    skips_vectors: bool,
    trap_status: u32,
    scratch: Vec<u8>,
}

impl Wave {
    /// An ended wave of a program's kind. The functions of `exec` may use a level's vector extensions, as far
    /// as the host has them.
    pub(crate) fn new(target: Target, vectors: Vectors) -> Self {
        Self {
            rows: Rows::zeroed(),
            size: target.wave,
            rules: Rules::of(target.arch.generation()),
            s: [0; 128],
            scc: false,
            exec: 0,
            active: 0,
            permuting: None,
            mask_row: 0,
            mode: 0,
            current: 0,
            next: 0,
            status: Status::Ended,
            signal: Signal::None,
            ticket: None,
            gpr_index: GprIndex::default(),
            skips_vectors: false,
            allotted: Registers::default(),
            place: Place::default(),
            trap_status: 0,
            avx2: vectors.min(Vectors::detect()) >= Vectors::Avx2,
            src: [0; 4],
            dst: 0,
            clamp: false,
            scratch: Scratch::default(),
            calls: Calls::default(),
            missing_lanes: BTreeMap::new(),
            index: 0,
            lanes_run: 0,
            steps_run: 0,
            clock: 0,
            clock_reads: 0,
        }
    }

    /// Whether a lane is one that waves of 64 have, and this one has not: its code takes it for one of those.
    /// Numbers beyond that, such as that of no lane, mean something else.
    pub(crate) fn lacks_lane(&self, lane: u32) -> bool {
        self.size == WaveSize::Wave32 && (self.size.lanes()..WaveSize::Wave64.lanes()).contains(&lane)
    }

    /// Notes that the wave asks for a lane that it lacks, in all lanes or from one on.
    #[cold]
    pub(crate) fn note_missing_lane(&mut self, step: u32, lane: u32, of: Option<usize>) {
        let (index, calls, lanes) = (self.index, &self.calls, self.size.lanes());
        self.missing_lanes.entry(step).or_insert_with(|| {
            let kind = FaultKind::NoSuchLane { lane, lanes };
            let trap = of.map_or_else(|| Trap::new(kind.clone()), |of| Trap::at_lane(kind.clone(), of));
            Passed { wave: index, calls: calls.steps().collect(), trap }
        });
    }

    /// What it holds now.
    pub(crate) fn held(&self) -> Held {
        let [vgprs, agprs] = self.banks();
        Held {
            vgprs: vgprs.to_vec(),
            agprs: agprs.to_vec(),
            s: self.s,
            scc: self.scc,
            exec: self.exec,
            mode: self.mode,
            gpr_index: self.gpr_index.enable,
            skips_vectors: self.skips_vectors,
            trap_status: self.trap_status,
            scratch: self.scratch.touched().to_vec(),
        }
    }

    /// Whether it holds the same as then.
    pub(crate) fn holds(&self, held: &Held) -> bool {
        let [vgprs, agprs] = self.banks();
        self.s == held.s
            && (self.scc, self.exec, self.mode) == (held.scc, held.exec, held.mode)
            && (self.gpr_index.enable, self.skips_vectors, self.trap_status)
                == (held.gpr_index, held.skips_vectors, held.trap_status)
            && vgprs == held.vgprs
            && agprs == held.agprs
            && self.scratch.touched() == held.scratch
    }

    /// The rows of its VGPRs and of its AGPRs.
    fn banks(&self) -> [&[Row]; 2] {
        let Registers { vgprs, agprs, .. } = self.allotted;
        [&self.rows[..usize::from(vgprs)], &self.rows[REGISTERS / 2..][..usize::from(agprs)]]
    }

    /// What scalar registers hold that nothing has been put into: `uninitialised`, but for those that no
    /// instruction names, and EXEC.
    pub(crate) fn scalars(rules: &Rules, uninitialised: u32) -> [u32; 128] {
        let mut scalars = [0; 128];
        scalars[..usize::from(rules.sgprs) + 2].fill(uninitialised);
        for register in [VCC, VCC + 1, M0] {
            scalars[usize::from(register)] = uninitialised;
        }
        scalars
    }

    /// Back to the state of a new wave, which has the registers `allotted`; `used` are those that the program
    /// can touch. Vector registers hold `uninitialised`, scalar ones what `scalars` says.
    pub(crate) fn reset(
        &mut self,
        allotted: Registers,
        used: Registers,
        uninitialised: u32,
        scalars: &[u32; 128],
    ) {
        self.allotted = allotted;
        let (vgprs, agprs) = self.rows.split_at_mut(REGISTERS / 2);
        let used = [&mut vgprs[..usize::from(used.vgprs)], &mut agprs[..usize::from(used.agprs)]];
        match self.size {
            // What is behind the wave's lanes stays zero.
            WaveSize::Wave32 => {
                const LANES32: usize = WaveSize::Wave32.lanes() as usize;
                used.into_iter().flatten().for_each(|row| row[..LANES32].fill(uninitialised));
            }
            WaveSize::Wave64 => used.into_iter().for_each(|rows| rows.fill([uninitialised; LANES])),
        }
        self.s = *scalars;
        self.scc = false;
        self.set_mode(0);
        self.place = Place::default();
        self.trap_status = 0;
        self.status = Status::Running;
        self.signal = Signal::None;
        self.ticket = None;
        self.lanes_run = 0;
        self.steps_run = 0;
        self.clock = 0;
        self.clock_reads = 0;
        self.clamp = false;
        self.calls.clear();
    }

    /// The site of a step: by which an access that it makes is remembered.
    #[inline(always)]
    pub(crate) fn site(&self, step: u32) -> u32 {
        self.calls.first_site() + step
    }

    /// Scalar register pair.
    #[inline(always)]
    pub(crate) fn s64(&self, register: u8) -> u64 {
        let at = usize::from(register & 127);
        u64::from(self.s[at]) | u64::from(self.s[(at + 1) & 127]) << 32
    }

    /// Write a scalar register pair. EXEC takes effect when the step ends ([`Wave::sync_exec`]).
    #[inline(always)]
    pub(crate) fn set_s64(&mut self, register: u8, value: u64) {
        let at = usize::from(register & 127);
        self.s[at] = value as u32;
        self.s[(at + 1) & 127] = (value >> 32) as u32;
    }

    #[inline(always)]
    pub(crate) fn set_s32(&mut self, register: u8, value: u32) {
        self.s[usize::from(register & 127)] = value;
    }

    /// How many lanes it has. Rows have room for [`LANES`]; those behind the wave's are never active.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> usize {
        self.size.lanes() as usize
    }

    /// The lanes with which it has arrived at a barrier that is not complete.
    pub(crate) fn arrived(&self) -> Option<u64> {
        match (self.status, self.signal) {
            (Status::Halted | Status::Ended, _) | (_, Signal::Complete) => None,
            (_, Signal::Given(lanes)) => Some(lanes),
            (Status::AtBarrier, Signal::None) if !self.rules.split_barriers => Some(self.exec),
            _ => None,
        }
    }

    /// Where it is among its workgroup's barriers.
    #[inline(always)]
    pub(crate) fn stage(&self) -> Stage {
        match self.signal {
            Signal::None => Stage::Between,
            Signal::Given(_) => Stage::Signalled,
            Signal::Complete => Stage::NotWaited,
        }
    }

    /// The barrier that it has arrived at is complete.
    pub(crate) fn pass_barrier(&mut self) {
        if self.signal != Signal::None {
            self.signal = Signal::Complete;
        }
        if self.status == Status::AtBarrier && !self.rules.split_barriers {
            self.status = Status::Running;
        }
        self.leave_barrier();
    }

    /// It goes on if it waits for what is complete.
    pub(crate) fn leave_barrier(&mut self) {
        if (self.status, self.signal) == (Status::AtBarrier, Signal::Complete) {
            (self.status, self.signal) = (Status::Running, Signal::None);
        }
    }

    /// It goes on if other workgroups let it. Whether it does.
    pub(crate) fn leave_sync(&mut self, sync: &GlobalSync) -> bool {
        let leaves = self.ticket.take_if(|ticket| sync.pass(*ticket)).is_some();
        if leaves {
            self.status = Status::Running;
        }
        leaves
    }

    /// A mask of the wave's lanes in scalar registers, the first of which is `register`.
    #[inline(always)]
    pub(crate) fn mask(&self, register: u8) -> u64 {
        self.s64(register) & self.size.all_lanes()
    }

    /// Write a mask of the wave's lanes to as many scalar registers as it takes. EXEC takes effect when the
    /// step ends ([`Wave::sync_exec`]).
    #[inline(always)]
    pub(crate) fn set_mask(&mut self, register: u8, mask: u64) {
        match self.size {
            WaveSize::Wave32 => self.set_s32(register, mask as u32),
            WaveSize::Wave64 => self.set_s64(register, mask),
        }
    }

    /// A mask of the wave's lanes as a scalar operand.
    #[inline(always)]
    pub(crate) fn scalar_mask(&self, src: Src) -> u64 {
        self.scalar64(src) & self.size.all_lanes()
    }

    /// Where the wave's scratch memory begins, as private addresses count.
    #[inline(always)]
    pub(crate) fn flat_scratch(&self) -> u64 {
        if self.rules.scratch_by_offset {
            let offset = u64::from(self.s[usize::from(self.rules.flat_scratch) + 1]);
            return SCRATCH_BASE.wrapping_add(offset << SCRATCH_STEP);
        }
        self.s64(self.rules.flat_scratch)
    }

    /// Say where the wave's scratch memory begins, in the form that FLAT_SCRATCH has.
    pub(crate) fn set_flat_scratch(&mut self, address: u64) {
        let register = self.rules.flat_scratch;
        if self.rules.scratch_by_offset {
            self.set_s32(register, self.scratch.per_lane());
            self.set_s32(register + 1, (address.wrapping_sub(SCRATCH_BASE) >> SCRATCH_STEP) as u32);
        } else {
            self.set_s64(register, address);
        }
    }

    /// How many bytes of LDS an instruction reaches, whatever there are.
    #[inline(always)]
    pub(crate) fn lds_limit(&self) -> usize {
        if self.rules.lds_limit_in_m0 { self.s[usize::from(M0)] as usize } else { usize::MAX }
    }

    /// Take over what was written to EXEC.
    #[inline]
    pub(crate) fn sync_exec(&mut self) {
        self.exec = self.mask(EXEC);
        self.active = u64::from(self.exec.count_ones());
        self.refresh_masks();
    }

    /// Bring [`MASK_ROW`] up to EXEC. The fast layer reads EXEC's bits and leaves the row behind.
    #[inline]
    pub(crate) fn refresh_masks(&mut self) {
        if self.mask_row == self.exec {
            return;
        }
        let exec = self.exec;
        for (lane, mask) in self.rows[usize::from(MASK_ROW)].iter_mut().enumerate() {
            *mask = 0u32.wrapping_sub((exec >> lane) as u32 & 1);
        }
        self.mask_row = exec;
    }

    /// A 32-bit scalar operand. A vector register as a scalar operand does not occur.
    #[inline(always)]
    pub(crate) fn scalar32(&self, src: Src) -> u32 {
        match src {
            Src::Scalar(register) => self.s[usize::from(register & 127)],
            Src::Const(value) => value as u32,
            Src::Special(special) => self.special(special) as u32,
            Src::Row(_) | Src::None => 0,
        }
    }

    /// A 64-bit scalar operand.
    #[inline(always)]
    pub(crate) fn scalar64(&self, src: Src) -> u64 {
        match src {
            Src::Scalar(register) => self.s64(register),
            Src::Const(value) => value,
            Src::Special(special) => self.special(special),
            Src::Row(_) | Src::None => 0,
        }
    }

    /// SHARED_BASE and the other special sources (Vega ISA manual, "Scalar operands").
    fn special(&self, special: Special) -> u64 {
        match special {
            Special::SharedBase => crate::memory::SHARED_APERTURE,
            Special::SharedLimit => crate::memory::SHARED_APERTURE | 0xffff_ffff,
            Special::PrivateBase => crate::memory::PRIVATE_APERTURE,
            Special::PrivateLimit => crate::memory::PRIVATE_APERTURE | 0xffff_ffff,
            Special::Vccz => u64::from(self.mask(VCC) == 0),
            Special::Execz => u64::from(self.mask(EXEC) == 0),
            Special::Scc => u64::from(self.scc),
            // Graphics have the one; LDS_DIRECT is refused when the program is loaded. NULL is zero.
            Special::PopsExitingWaveId | Special::LdsDirect | Special::Null => 0,
        }
    }

    /// The rows of a vector operand of the current instruction: a register's own, or the value spread over
    /// the rows kept for source `slot`.
    #[inline(always)]
    pub(crate) fn spread(&mut self, slot: usize, src: Src, dwords: u8) -> u16 {
        let value = match src {
            Src::Row(row) => return row,
            Src::Scalar(_) if dwords < 2 => u64::from(self.scalar32(src)),
            other => self.scalar64(other),
        };
        let row = SOURCE_ROWS + 2 * slot as u16;
        self.rows[usize::from(row)] = [value as u32; LANES];
        if dwords >= 2 {
            self.rows[usize::from(row) + 1] = [(value >> 32) as u32; LANES];
        }
        row
    }

    /// Reads a clock, of which there is one: it moves by 1 with each of the wave's instructions and by 64
    /// with each reading.
    pub(crate) fn read_clock(&mut self) -> u64 {
        self.clock_reads += 1;
        self.clock + 64 * self.clock_reads
    }

    /// The first active lane, or lane 0 when there is none (`v_readfirstlane_b32`).
    pub(crate) fn first_lane(&self) -> usize {
        if self.exec == 0 { 0 } else { self.exec.trailing_zeros() as usize }
    }

    #[inline(always)]
    pub(crate) fn active(&self, lane: usize) -> bool {
        self.exec >> lane & 1 != 0
    }

    /// FP round mode of `f32` (0 nearest even, 1 up, 2 down, 3 towards zero).
    #[inline(always)]
    pub(crate) fn round32(&self) -> u32 {
        self.mode & 3
    }

    /// FP round mode of `f64` (and of `f16` but for FP16_OVFL).
    #[inline(always)]
    pub(crate) fn round64(&self) -> u32 {
        self.mode >> 2 & 3
    }

    /// FP round mode of `f16`, with [`SATURATE`] where MODE.FP16_OVFL is set.
    #[inline(always)]
    pub(crate) fn round16(&self) -> u32 {
        let saturate = if self.mode >> FP16_OVFL & 1 != 0 { SATURATE } else { 0 };
        self.round64() | saturate
    }

    /// MODE.IEEE, where there is such a bit.
    #[inline(always)]
    fn ieee(&self) -> bool {
        self.mode & 1 << 9 != 0 && !self.rules.fixed_ieee_mode
    }

    /// What minima and maxima make of NaNs.
    #[inline(always)]
    pub(crate) fn nans(&self) -> Nans {
        match () {
            () if self.rules.fixed_ieee_mode => Nans::Number,
            () if self.ieee() => Nans::Signal,
            () => Nans::Lose,
        }
    }

    /// Whether a result keeps subnormals where MODE says that results do or do not, and the power of two that
    /// the output modifier multiplies it by. The modifier is ignored in IEEE mode, and where output
    /// subnormals are kept (Vega ISA manual, "Output modifiers"); on GFX12 it flushes them (RDNA4 ISA,
    /// section 7.2.3.1).
    #[inline(always)]
    pub(crate) fn output(&self, omod: u8, keeps_subnormals: bool) -> (bool, i32) {
        let power = [0, 1, 2, -1][usize::from(omod & 3)];
        let keeps = keeps_subnormals && (power == 0 || !self.rules.omod_flushes);
        (keeps, if keeps || self.ieee() { 0 } else { power })
    }

    /// MODE.DX10_CLAMP, or that there is no such bit: clamping turns NaN into zero.
    #[inline(always)]
    pub(crate) fn dx10_clamp(&self) -> bool {
        self.mode & 1 << 8 != 0 || self.rules.fixed_ieee_mode
    }

    /// Whether arithmetic of singles needs nothing but IEEE defaults.
    #[inline(always)]
    pub(crate) fn plain32(&self) -> bool {
        self.mode & 0x33 == 0x30
    }

    /// Whether arithmetic of singles is rounded to the nearest.
    #[inline(always)]
    pub(crate) fn nearest32(&self) -> bool {
        self.mode & 3 == 0
    }

    /// Whether arithmetic of doubles and halves needs nothing but IEEE defaults.
    #[inline(always)]
    pub(crate) fn plain64(&self) -> bool {
        self.mode & 0xcc == 0xc0
    }

    /// Whether arithmetic of halves needs nothing but IEEE defaults.
    #[inline(always)]
    pub(crate) fn plain16(&self) -> bool {
        self.mode & (0xcc | 1 << FP16_OVFL) == 0xc0
    }

    /// Whether singles that are subnormal are kept, as sources and as results.
    #[inline(always)]
    pub(crate) fn keeps_subnormals32(&self) -> bool {
        self.mode & 0x30 == 0x30
    }

    /// Whether halves and doubles that are subnormal are kept, as sources and as results.
    #[inline(always)]
    pub(crate) fn keeps_subnormals64(&self) -> bool {
        self.mode & 0xc0 == 0xc0
    }

    /// Write MODE.
    pub(crate) fn set_mode(&mut self, mode: u32) {
        self.mode = mode;
        self.gpr_index.enable = u8::from(mode & self.rules.gpr_index != 0);
        self.skips_vectors = mode & self.rules.vskip != 0;
    }

    /// Whether MODE asks for what the fast layer does not do: every step then runs by its own function in
    /// `exec`.
    #[inline(always)]
    pub(crate) fn needs_reference_path(&self) -> bool {
        self.gpr_index.enable != 0 || self.skips_vectors
    }

    /// Switch VGPR indexing on or off.
    pub(crate) fn set_gpr_index(&mut self, on: bool) {
        let bit = self.rules.gpr_index;
        self.set_mode(self.mode & !bit | if on { bit } else { 0 });
    }

    /// The row of a vector register of one dword after VGPR indexing, which the bit of M0 asks for.
    #[inline]
    pub(crate) fn indexed(&self, row: u16, bit: u32) -> Outcome<u16> {
        let m0 = self.s[usize::from(M0)];
        if self.gpr_index.enable == 0 || m0 >> bit & 1 == 0 {
            return Ok(row);
        }
        self.checked_row(row, m0 & 0xff, 1)
    }

    /// The row of a register of some dwords that an index is added to.
    pub(crate) fn checked_row(&self, first: u16, index: u32, dwords: u8) -> Outcome<u16> {
        const BANK: u16 = REGISTERS as u16 / 2;
        let (bank, base, there) = match first {
            BANK.. => (RegisterBank::Agpr, BANK, self.allotted.agprs),
            _ => (RegisterBank::Vgpr, 0, self.allotted.vgprs),
        };
        let last = u32::from(first - base) + index + u32::from(dwords.max(1)) - 1;
        if last >= u32::from(there) {
            return Err(Trap::new(FaultKind::RegisterIndex {
                bank,
                index: last.into(),
                available: there.into(),
            }));
        }
        Ok(first + index as u16)
    }
}

/// The row of a vector register operand.
pub(crate) fn register_row(value: Value) -> Option<u16> {
    match value {
        Value::Vgpr(register) => Some(u16::from(register)),
        Value::Agpr(register) => Some(u16::from(register) + 256),
        _ => None,
    }
}

/// A trap for an operand that no table should give.
pub(crate) fn odd_operand(op: Op) -> Box<Trap> {
    Trap::unimplemented(op, "an operand of an unexpected kind")
}
