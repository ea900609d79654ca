//! Instructions to be inserted, written down in order.

use amdgpu_isa::{DppCtrl, EncodeError, Encoding, Feature, MaskOp, Op, Value, Waits};

use super::assembler::{Assembled, Assembler, Modifiers};
use crate::analysis::modes::Modes;
use crate::instrument::registers::layout::ScratchSlots;

/// A scalar source: a register, or a small integer.
pub(crate) const fn sgpr(register: u8) -> Value {
    Value::Scalar(register)
}

/// The low half of FLAT_SCRATCH, by its number in operands.
pub(crate) use amdgpu_isa::scalar::FLAT_SCRATCH;

/// How instructions reach both of the [`ScratchSlots`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scratch {
    pub(crate) kept: Slot,
    pub(crate) image: Slot,
}

/// An address in private memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// SGPR that is added to the offset. Before gfx940 there must be one, for no VGPR is.
    address: Option<u8>,
    offset: u32,
}

/// Why there is no code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EmitError {
    /// An instruction has no encoding.
    #[error("the probe cannot be encoded: {0}")]
    Encode(#[from] EncodeError),
    /// A register that the plan gives wherever this code is asked for: a defect of ours.
    #[error("no {0}")]
    Missing(&'static str),
}

/// A sequence under construction. The first error sticks and comes out of [`Sequence::finish`].
#[derive(Clone, Debug)]
pub(crate) struct Sequence {
    assembler: Assembler,
    insts: Vec<Assembled>,
    error: Option<EmitError>,
}

/// Instructions of most sequences at most.
const TYPICAL: usize = 24;

impl Sequence {
    pub(crate) fn new(assembler: &Assembler) -> Self {
        Self { assembler: assembler.clone(), insts: Vec::new(), error: None }
    }

    pub(crate) fn finish(self) -> Result<Vec<Assembled>, EmitError> {
        match self.error {
            None => Ok(self.insts),
            Some(error) => Err(error),
        }
    }

    /// A register that the plan gives in every case that leads here; without it there is no code.
    pub(crate) fn required(&mut self, what: &'static str, register: Option<u8>) -> u8 {
        register.unwrap_or_else(|| {
            self.error.get_or_insert(EmitError::Missing(what));
            0
        })
    }

    /// Without modifiers.
    #[inline(always)]
    fn plain(&mut self, op: Op, encoding: Encoding, values: &[Value]) {
        self.push(op, encoding, values, Modifiers::None);
    }

    #[inline(always)]
    fn push(&mut self, op: Op, encoding: Encoding, values: &[Value], modifiers: Modifiers) {
        match self.assembler.assemble(op, encoding, values, modifiers) {
            Ok(inst) => {
                if self.insts.capacity() == 0 {
                    self.insts.reserve_exact(TYPICAL);
                }
                self.insts.push(inst);
            }
            Err(error) => {
                self.error.get_or_insert(EmitError::Encode(error));
            }
        }
    }

    /// SOP1: `op to, from`.
    pub(crate) fn sop1(&mut self, op: Op, to: Value, from: Value) {
        self.plain(op, Encoding::Sop1, &[to, from]);
    }

    /// SOP2: `op to, a, b`.
    pub(crate) fn sop2(&mut self, op: Op, to: u8, a: Value, b: Value) {
        self.plain(op, Encoding::Sop2, &[sgpr(to), a, b]);
    }

    /// SOPC: `op a, b`; the result is SCC.
    pub(crate) fn sopc(&mut self, op: Op, a: Value, b: Value) {
        self.plain(op, Encoding::Sopc, &[a, b]);
    }

    /// Copies a lane mask, or all bits of a constant. Leaves SCC alone.
    pub(crate) fn move_mask(&mut self, to: Value, from: Value) {
        self.mask_op(MaskOp::Move, Encoding::Sop1, &[to, from]);
    }

    /// The number of lanes in a mask. SCC says whether there are any.
    pub(crate) fn count_lanes(&mut self, to: u8, mask: Value) {
        self.mask_op(MaskOp::CountLanes, Encoding::Sop1, &[sgpr(to), mask]);
    }

    /// Selects one of two masks: the first if SCC is set.
    pub(crate) fn select_mask(&mut self, to: Value, if_scc: Value, otherwise: Value) {
        self.mask_op(MaskOp::Select, Encoding::Sop2, &[to, if_scc, otherwise]);
    }

    /// SCC says whether two masks are equal.
    pub(crate) fn are_equal(&mut self, a: Value, b: Value) {
        self.mask_op(MaskOp::Equal, Encoding::Sopc, &[a, b]);
    }

    /// SCC says whether a mask has any lane.
    pub(crate) fn has_lanes(&mut self, mask: Value) {
        self.mask_op(MaskOp::Differ, Encoding::Sopc, &[mask, Value::int(0)]);
    }

    /// Moves EXEC's lanes up. SCC is changed.
    pub(crate) fn shift_exec(&mut self, by: u32) {
        self.mask_op(MaskOp::ShiftUp, Encoding::Sop2, &[Value::EXEC, Value::EXEC, Value::int(by as i32)]);
    }

    /// Immediate offsets of memory instructions are below this.
    pub(crate) const fn offset_end(&self) -> u32 {
        self.assembler.arch().generation().offset_end()
    }

    /// Lanes of a wave.
    pub(crate) const fn lanes(&self) -> u32 {
        self.assembler.wave_size().lanes()
    }

    /// By so many bits an id is shifted to have the number of its wave.
    pub(crate) fn lane_bits(&self) -> Value {
        Value::int(self.lanes().ilog2() as i32)
    }

    /// Enables all lanes. Leaves SCC alone.
    pub(crate) fn enable_all_lanes(&mut self) {
        self.move_mask(Value::EXEC, Value::int(-1));
    }

    /// Enables so many lanes, from the lane `first` on, and no others. Leaves SCC alone.
    pub(crate) fn enable_lanes(&mut self, lanes: u32, first: u32) {
        if lanes >= self.lanes() {
            self.enable_all_lanes();
        } else {
            let values = [Value::EXEC, Value::int(lanes as i32), Value::int(first as i32)];
            self.mask_op(MaskOp::LanesFrom, Encoding::Sop2, &values);
        }
    }

    /// An operation on lane masks, as wide as the wave.
    fn mask_op(&mut self, what: MaskOp, encoding: Encoding, values: &[Value]) {
        match what.op(self.assembler.wave_size()) {
            Some(op) => self.plain(op, encoding, values),
            None => {
                let wave = self.assembler.wave_size();
                self.error.get_or_insert(EncodeError::NoMaskOp { what, wave }.into());
            }
        }
    }

    /// `v_writelane_b32 to, from, lane`: whatever EXEC is.
    pub(crate) fn writelane(&mut self, to: u8, from: Value, lane: u32) {
        let values = [Value::Vgpr(to), from, Value::int(lane as i32)];
        self.plain(Op::v_writelane_b32, Encoding::Vop3, &values);
    }

    /// `v_readlane_b32 to, from, lane`: whatever EXEC is.
    pub(crate) fn readlane(&mut self, to: u8, from: u8, lane: u32) {
        let values = [sgpr(to), Value::Vgpr(from), Value::int(lane as i32)];
        self.plain(Op::v_readlane_b32, Encoding::Vop3, &values);
    }

    /// `v_readfirstlane_b32 to, from`.
    pub(crate) fn readfirstlane(&mut self, to: u8, from: u8) {
        self.plain(Op::v_readfirstlane_b32, Encoding::Vop1, &[sgpr(to), Value::Vgpr(from)]);
    }

    /// `v_mov_b32 to, from`.
    pub(crate) fn v_mov(&mut self, to: u8, from: Value) {
        self.plain(Op::v_mov_b32, Encoding::Vop1, &[Value::Vgpr(to), from]);
    }

    /// `v_mov` of an SGPR pair to an even pair of VGPRs: `v_pk_mov_b32 to, from, from op_sel:[0,1]`, from
    /// gfx90a on.
    pub(crate) fn v_mov_pair(&mut self, to: u8, from: u8) {
        let values = [Value::Vgpr(to), sgpr(from), sgpr(from)];
        self.push(Op::v_pk_mov_b32, Encoding::Vop3p, &values, Modifiers::Halves);
    }

    /// `v_add_u32 to, a, b`, neither of them a VGPR.
    pub(crate) fn v_add(&mut self, to: u8, a: Value, b: Value) {
        self.plain(Op::v_add_u32, Encoding::Vop3, &[Value::Vgpr(to), a, b]);
    }

    /// VOP2 with two operands: `op to, a, vb`.
    pub(crate) fn vop2(&mut self, op: Op, to: u8, a: Value, b: u8) {
        self.plain(op, Encoding::Vop2, &[Value::Vgpr(to), a, Value::Vgpr(b)]);
    }

    /// `v_add_u32 to, to, what clamp`: a sum too large for 32 bits becomes the largest number.
    pub(crate) fn add_saturating(&mut self, to: u8, what: Value) {
        let values = [Value::Vgpr(to), Value::Vgpr(to), what];
        self.push(Op::v_add_u32, Encoding::Vop3, &values, Modifiers::Clamp);
    }

    /// The number of each lane, times four: `v_mbcnt_lo`, `v_mbcnt_hi`, `v_lshlrev`. EXEC must have the
    /// lanes.
    pub(crate) fn lane_offsets(&mut self, to: u8) {
        let all = Value::int(-1);
        let register = Value::Vgpr(to);
        self.plain(Op::v_mbcnt_lo_u32_b32, Encoding::Vop3, &[register, all, Value::int(0)]);
        self.plain(Op::v_mbcnt_hi_u32_b32, Encoding::Vop3, &[register, all, register]);
        self.vop2(Op::v_lshlrev_b32, to, Value::int(2), to);
    }

    /// The number of each of the lowest 32 lanes, times four: `v_mbcnt_lo`, `v_lshlrev`. EXEC must have the
    /// lanes that get it.
    pub(crate) fn low_lane_offsets(&mut self, to: u8) {
        let values = [Value::Vgpr(to), Value::int(-1), Value::int(0)];
        self.plain(Op::v_mbcnt_lo_u32_b32, Encoding::Vop3, &values);
        self.vop2(Op::v_lshlrev_b32, to, Value::int(2), to);
    }

    /// Lanes 0 to 7 of `from` go to lanes 8 to 15 of `to`. EXEC must have lanes 0 to 15.
    pub(crate) fn low_lanes_up(&mut self, to: u8, from: u8) {
        // row_shr:8, written in banks 2 and 3 of row 0.
        self.shift_in_row(to, from, 0x118, 0b1100);
    }

    /// Lanes 8 to 15 of `from` go to lanes 0 to 7 of `to`. EXEC must have lanes 0 to 15.
    pub(crate) fn lanes_back_down(&mut self, to: u8, from: u8) {
        // row_shl:8, written in banks 0 and 1 of row 0.
        self.shift_in_row(to, from, 0x108, 0b0011);
    }

    fn shift_in_row(&mut self, to: u8, from: u8, ctrl: u16, bank_mask: u8) {
        let dpp = DppCtrl { ctrl, row_mask: 0b0001, bank_mask, bound_ctrl: false };
        let values = [Value::Vgpr(to), Value::Vgpr(from)];
        self.push(Op::v_mov_b32, Encoding::Vop1Dpp, &values, Modifiers::Dpp(dpp));
    }

    /// `ds_add_u32 addresses, data offset:…` without return.
    pub(crate) fn ds_add(&mut self, addresses: u8, data: u8, offset: u32) {
        self.ds(Op::ds_add_u32, &[Value::Vgpr(addresses), Value::Vgpr(data)], offset);
    }

    /// `ds_write_b32 addresses, data offset:…`.
    pub(crate) fn ds_write(&mut self, addresses: u8, data: u8, offset: u32) {
        self.ds(Op::ds_write_b32, &[Value::Vgpr(addresses), Value::Vgpr(data)], offset);
    }

    /// `ds_read_b32 to, addresses offset:…`.
    pub(crate) fn ds_read(&mut self, to: u8, addresses: u8, offset: u32) {
        self.ds(Op::ds_read_b32, &[Value::Vgpr(to), Value::Vgpr(addresses)], offset);
    }

    /// `ds_inc_u32 addresses, limit offset:…` without return.
    pub(crate) fn ds_increment(&mut self, addresses: u8, limit: u8, offset: u32) {
        self.ds(Op::ds_inc_u32, &[Value::Vgpr(addresses), Value::Vgpr(limit)], offset);
    }

    /// `ds_write_b64 addresses, data offset:…`.
    pub(crate) fn ds_write_pair(&mut self, addresses: u8, data: u8, offset: u32) {
        self.ds(Op::ds_write_b64, &[Value::Vgpr(addresses), Value::Vgpr(data)], offset);
    }

    /// `ds_read_b64 to, addresses offset:…`.
    pub(crate) fn ds_read_pair(&mut self, to: u8, addresses: u8, offset: u32) {
        self.ds(Op::ds_read_b64, &[Value::Vgpr(to), Value::Vgpr(addresses)], offset);
    }

    fn ds(&mut self, op: Op, values: &[Value], offset: u32) {
        self.push(op, Encoding::Ds, values, Modifiers::Offset(offset as i32));
    }

    /// SMEM load of `dwords` (1, 2 or 8) from `base + offset`.
    pub(crate) fn load(&mut self, op: Op, to: u8, base: u8, offset: u32) {
        let values = [sgpr(to), sgpr(base), Value::Imm(offset as i32)];
        self.plain(op, Encoding::Smem, &values);
    }

    /// `s_getpc_b64 to`, and its sum with a distance that is filled in when it is known: `s_add_u32`,
    /// `s_addc_u32`. Where the highest bits of the program counter are missing, `s_sext_i32_i16` fills them
    /// in.
    pub(crate) fn address_of_variable(&mut self, to: u8) {
        const LATER: Value = Value::Literal(0x7fff_ffff);
        self.plain(Op::s_getpc_b64, Encoding::Sop1, &[sgpr(to)]);
        if self.assembler.arch().has(Feature::ShortProgramCounter) {
            self.sop1(Op::s_sext_i32_i16, sgpr(to + 1), sgpr(to + 1));
        }
        self.sop2(Op::s_add_u32, to, sgpr(to), LATER);
        self.sop2(Op::s_addc_u32, to + 1, sgpr(to + 1), LATER);
    }

    /// Has vector instructions do what they say, where these may be on: `s_set_gpr_idx_off`,
    /// `s_setvskip 0, 0`. A vector instruction may follow after two wait states (Vega ISA manual, "Manually
    /// Inserted Wait States").
    pub(crate) fn leave_modes(&mut self, on: Modes) {
        if on.has(Modes::SKIPPED) {
            self.sopc(Op::s_setvskip, Value::int(0), Value::int(0));
        }
        if on.has(Modes::INDEXED) {
            self.plain(Op::s_set_gpr_idx_off, Encoding::Sopp, &[]);
        }
        if !on.is_none() {
            self.plain(Op::s_nop, Encoding::Sopp, &[Value::Imm(1)]);
        }
    }

    /// `s_branch` to a byte of the sequence behind this one.
    pub(crate) fn branch_to(&mut self, byte: u64) {
        let dwords = (byte as i32 - self.bytes() as i32) / 4 - 1;
        self.plain(Op::s_branch, Encoding::Sopp, &[Value::Imm(dwords)]);
    }

    /// `s_nop` until the sequence has so many bytes.
    pub(crate) fn fill(&mut self, bytes: u64) {
        while self.error.is_none() && self.bytes() < bytes {
            self.plain(Op::s_nop, Encoding::Sopp, &[Value::Imm(0)]);
        }
    }

    fn bytes(&self) -> u64 {
        self.insts.iter().map(|inst| u64::from(inst.size)).sum()
    }

    /// Reads a clock into a pair: `s_memtime`, or `s_sendmsg_rtn_b64`. What is read has come when scalar
    /// loads have.
    pub(crate) fn read_clock(&mut self, to: u8) {
        match self.assembler.arch().generation().realtime_message() {
            None => self.plain(Op::s_memtime, Encoding::Smem, &[sgpr(to)]),
            Some(message) => {
                self.plain(Op::s_sendmsg_rtn_b64, Encoding::Sop1, &[sgpr(to), Value::Imm(message)]);
            }
        }
    }

    /// `s_waitcnt lgkmcnt(0)`, the other counters at their most; on GFX12 `s_wait_kmcnt 0`.
    pub(crate) fn wait_scalar_loads(&mut self) {
        self.wait(Waits::SCALAR);
    }

    /// `s_waitcnt lgkmcnt(0)`, the other counters at their most; on GFX12 `s_wait_dscnt 0`.
    pub(crate) fn wait_lds(&mut self) {
        self.wait(Waits::LDS);
    }

    /// `s_waitcnt vmcnt(0)`, the other counters at their most; on GFX12 `s_wait_loadcnt 0`.
    pub(crate) fn wait_vector_memory(&mut self) {
        self.wait(Waits::VECTOR);
    }

    /// `s_waitcnt 0`, or an instruction a counter: for everything.
    pub(crate) fn wait_for_all(&mut self) {
        self.wait(Waits::ALL);
    }

    fn wait(&mut self, waits: Waits) {
        for (op, immediate) in waits.instructions(self.assembler.arch().generation()) {
            self.plain(op, Encoding::Sopp, &[Value::Imm(immediate.into())]);
        }
    }

    /// `s_add_u32 flat_scratch_lo, init, offset`, `s_addc_u32 flat_scratch_hi, init + 1, 0`: where the wave's
    /// private memory is, where hardware does not set it. Hardware registers get it from a pair of SGPRs.
    pub(crate) fn set_flat_scratch(&mut self, init: u8, offset: u8, pair: u8) {
        let registers = self.assembler.arch().generation().flat_scratch_registers();
        let sum = if registers.is_some() { pair } else { FLAT_SCRATCH };
        self.sop2(Op::s_add_u32, sum, sgpr(init), sgpr(offset));
        self.sop2(Op::s_addc_u32, sum + 1, sgpr(init + 1), Value::int(0));
        for (half, register) in (sum..).zip(registers.into_iter().flatten()) {
            self.plain(Op::s_setreg_b32, Encoding::Sopk, &[Value::Imm(register.whole()), sgpr(half)]);
        }
    }

    /// How the slots are reached: by `s_mov_b32 address, …` where they are addressed by a register, else by
    /// offsets alone.
    pub(crate) fn scratch(&mut self, slots: ScratchSlots, address: Option<u8>) -> Scratch {
        let address = address.filter(|_| slots.by_register);
        let slot = |offset| Slot { address, offset };
        match address {
            None => Scratch { kept: slot(slots.kept), image: slot(slots.image()) },
            Some(address) => {
                self.sop1(Op::s_mov_b32, sgpr(address), Value::int(slots.kept as i32));
                Scratch { kept: slot(0), image: slot(slots.image() - slots.kept) }
            }
        }
    }

    /// `scratch_store_dword off, data, address offset:…`.
    pub(crate) fn scratch_store(&mut self, data: u8, to: Slot) {
        let values = [Value::Off, Value::Vgpr(data), to.address.map_or(Value::Off, sgpr)];
        self.push(Op::scratch_store_dword, Encoding::Scratch, &values, Modifiers::Offset(to.offset as i32));
    }

    /// `scratch_load_dword to, off, address offset:…`.
    pub(crate) fn scratch_load(&mut self, to: u8, from: Slot) {
        let values = [Value::Vgpr(to), Value::Off, from.address.map_or(Value::Off, sgpr)];
        self.push(Op::scratch_load_dword, Encoding::Scratch, &values, Modifiers::Offset(from.offset as i32));
    }

    /// `global_store_dword offsets, data, base offset:…`, one dword a lane.
    pub(crate) fn global_store(&mut self, offsets: u8, data: u8, base: u8, offset: i32) {
        let values = [Value::Vgpr(offsets), Value::Vgpr(data), sgpr(base)];
        self.push(Op::global_store_dword, Encoding::Global, &values, Modifiers::Offset(offset));
    }

    /// `global_store_dword offset, data, base offset:…`, of one to four dwords.
    pub(crate) fn global_store_words(&mut self, dwords: usize, offset: u8, data: u8, base: u8, imm: i32) {
        let op = match dwords {
            0 | 1 => Op::global_store_dword,
            2 => Op::global_store_dwordx2,
            3 => Op::global_store_dwordx3,
            _ => Op::global_store_dwordx4,
        };
        let values = [Value::Vgpr(offset), Value::Vgpr(data), sgpr(base)];
        self.push(op, Encoding::Global, &values, Modifiers::Offset(imm));
    }

    /// `global_store_dwordx2 address, data, off offset:…`, with `glc slc` or `scope:SCOPE_SYS`: the address
    /// is a pair of VGPRs.
    pub(crate) fn global_store_pair_through(&mut self, address: u8, data: u8, offset: i32) {
        self.global_at(Op::global_store_dwordx2, address, data, Modifiers::Through(offset));
    }

    /// An atomic without return, `op address, data, off offset:…`: the address is a pair of VGPRs.
    pub(crate) fn global_atomic_at(&mut self, op: Op, address: u8, data: u8, offset: i32) {
        self.global_at(op, address, data, Modifiers::Offset(offset));
    }

    fn global_at(&mut self, op: Op, address: u8, data: u8, modifiers: Modifiers) {
        let values = [Value::Vgpr(address), Value::Vgpr(data), Value::Off];
        self.push(op, Encoding::Global, &values, modifiers);
    }

    /// `global_atomic_add offsets, data, base offset:…` without return.
    pub(crate) fn global_atomic_add(&mut self, offsets: u8, data: u8, base: u8, offset: i32) {
        let values = [Value::Vgpr(offsets), Value::Vgpr(data), sgpr(base)];
        self.push(Op::global_atomic_add, Encoding::Global, &values, Modifiers::Offset(offset));
    }
}
