//! What a register or a byte of memory has its value from.

use std::rc::Rc;

use amdgpu_isa::{Access, Families, Inst, MemoryOperation, Op, Operand, Reg, Slot, Value};
use amdinst_emu::MemorySpace;
use amdinst_emu::trace::{Moment, TracedAccess, TracedStep, WrittenPlace};

use super::rerun::{Lost, Rerun};

/// A value that an instruction made.
#[derive(Clone, Debug)]
pub(super) struct Made {
    /// The lane, before the instruction.
    pub(super) at: Moment,
    /// The instruction, with what it read and wrote.
    pub(super) step: Rc<TracedStep>,
    /// The register that has the value.
    pub(super) reg: Reg,
    /// Its 32 bits; of a mask, the lane's bit.
    pub(super) value: u32,
    /// It is the lane's bit of a mask.
    pub(super) is_mask: bool,
}

/// What a value comes from.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// An instruction.
    Made(Made),
    /// Memory, which nothing in the launch had written.
    Memory,
    /// A register, as the launch begins.
    Register,
}

/// What an instruction computed with.
#[derive(Clone, Debug, Default)]
pub(super) struct Inputs {
    pub(super) values: Vec<Source>,
    /// What it found its place in memory by.
    pub(super) addresses: Vec<Source>,
}

/// The registers of an operand.
pub(super) fn registers(operand: &Operand) -> Vec<Reg> {
    let run = |first: u8, reg: fn(u8) -> Reg| {
        (0..operand.dwords.max(1)).map(|dword| reg(first.saturating_add(dword))).collect()
    };
    match operand.value {
        Value::Scalar(first) => run(first, Reg::scalar),
        Value::Vgpr(first) => run(first, Reg::vgpr),
        Value::Agpr(first) => run(first, Reg::agpr),
        Value::Vgprs(all) => all.into_iter().take(operand.dwords.into()).map(Reg::vgpr).collect(),
        _ => Vec::new(),
    }
}

const fn is_read(operand: &Operand) -> bool {
    matches!(operand.access, Access::Read | Access::ReadWrite)
}

/// Whether an operand of an access holds what is stored.
const fn is_data(slot: Slot) -> bool {
    matches!(slot, Slot::Vdata | Slot::Data0 | Slot::Data1 | Slot::Sdata)
}

/// The registers that an instruction may take from another lane, and those that say from which.
fn exchanged(inst: &Inst) -> (Vec<Reg>, Vec<Reg>) {
    let vectors = inst.operands.iter().filter(|operand| is_read(operand)).map(registers);
    let mut vectors = vectors.filter(|registers| registers.first().is_some_and(|reg| is_vector(*reg)));
    let (first, second) = (vectors.next().unwrap_or_default(), vectors.next());
    match second {
        // Exchanges through the hardware of LDS name the lane first.
        Some(second) if inst.op.is_of(Families::MOVES_LANES) => (second, first),
        _ => (first, Vec::new()),
    }
}

const fn is_vector(reg: Reg) -> bool {
    reg.as_vgpr().is_some() || reg.as_agpr().is_some()
}

/// The registers that an access finds its place in memory by.
pub(super) fn addresses(inst: &Inst) -> Vec<Reg> {
    let finds = |operand: &&Operand| is_read(operand) && !is_data(operand.slot);
    inst.operands.iter().filter(finds).flat_map(registers).collect()
}

/// The register that a store or an atomic takes from what it writes at an address.
fn stored_from(step: &TracedStep, address: u64) -> Result<Reg, Lost> {
    let (Some(inst), Some(access)) = (&step.inst, &step.access) else {
        return Err(Lost::Internal("a store without an address"));
    };
    let reads = |operand: &&Operand| is_data(operand.slot) && is_read(operand);
    let data: Vec<&Operand> = inst.operands.iter().filter(reads).collect();
    let within = |first: u64| (first..first + u64::from(access.bytes)).contains(&address);
    let (operand, dword) = match access.second {
        Some(second) if within(second) && !within(access.address) => (data.get(1), (address - second) / 4),
        _ => (data.first(), address.saturating_sub(access.address) / 4),
    };
    let reg = operand.and_then(|operand| registers(operand).get(dword as usize).copied());
    reg.ok_or(Lost::Internal("a store without data"))
}

/// Whether an instruction gives a register what another one has, or a constant.
pub(super) fn is_move(inst: &Inst) -> bool {
    const MOVES: [Op; 6] = [
        Op::s_mov_b32,
        Op::s_mov_b64,
        Op::s_movk_i32,
        Op::v_mov_b32,
        Op::v_accvgpr_read_b32,
        Op::v_accvgpr_write_b32,
    ];
    MOVES.contains(&inst.op)
}

/// The register that a move copies to another one; `None` of other instructions, and of constants.
fn copied(inst: &Inst, reg: Reg) -> Option<Reg> {
    let changes = inst.mods.sdwa.is_some() || inst.mods.dpp.is_some() || inst.mods.dpp8.is_some();
    let [to, from] = &inst.operands[..] else { return None };
    if !is_move(inst) || changes {
        return None;
    }
    let dword = registers(to).iter().position(|own| *own == reg)?;
    registers(from).get(dword).copied()
}

impl Rerun<'_> {
    /// What a register of a lane has its value from, before a moment. Copies are looked through: moves, and
    /// what was kept in private memory.
    pub(super) fn of_register(&mut self, at: Moment, reg: Reg, is_mask: bool) -> Result<Source, Lost> {
        let (mut at, mut reg) = (at, reg);
        loop {
            let wrote = |step: &TracedStep| step.writes.iter().any(|(written, _)| *written == reg);
            let Some(step) = self.last(at, wrote)? else { return Ok(Source::Register) };
            at.number = step.number;
            let before = match step.inst.as_deref() {
                Some(inst) if step.from_lane.is_none() => match copied(inst, reg) {
                    Some(source) => Some((at, source)),
                    None => self.kept(at, &step, inst, reg)?,
                },
                _ => None,
            };
            match before {
                Some(before) => (at, reg) = before,
                None => {
                    let written = step.writes.iter().find(|(written, _)| *written == reg);
                    let written = written.map_or(0, |(_, value)| *value);
                    let value = if is_mask { written >> (at.lane % 32) & 1 } else { written };
                    return Ok(Source::Made(Made { at, step, reg, value, is_mask }));
                }
            }
        }
    }

    /// Whether something in the launch has written into a dword of device memory.
    ///
    /// # Errors
    /// What led there cannot be followed.
    pub fn writes(&mut self, dword: u64) -> Result<bool, Lost> {
        Ok(self.of_dword(dword)?.is_some())
    }

    /// What a dword of device memory has its value from, at the end of the launch; `None` if nothing in it
    /// has written there.
    pub(super) fn of_dword(&mut self, dword: u64) -> Result<Option<Source>, Lost> {
        // Of an element of less than a dword, the store may be to any of its bytes.
        for byte in dword..dword + 4 {
            if let Some(writer) = self.last_write(WrittenPlace::Device(byte), None)? {
                return self.stored(writer, dword).map(Some);
            }
        }
        Ok(None)
    }

    /// What a store or an atomic has written at an address.
    pub(super) fn stored(&mut self, writer: Moment, address: u64) -> Result<Source, Lost> {
        let step = self.step(writer)?;
        let reg = stored_from(&step, address)?;
        self.of_register(writer, reg, false)
    }

    /// The allocation that a value was loaded from, and the offset in it, or the work-item that it was taken
    /// from; `None` of one that was neither.
    pub(super) fn taken_from(&self, made: &Made) -> Option<(String, u64)> {
        if let Some(lane) = made.step.from_lane {
            let (work_item, _) = self.work_item(Moment { lane, ..made.at });
            return Some(("work-item".to_owned(), work_item));
        }
        let memory = made.step.inst.as_ref()?.effects(self.target()).memory?;
        let access = made.step.access.as_ref().filter(|_| memory.operation != MemoryOperation::Store)?;
        Some(match access.space {
            MemorySpace::Lds | MemorySpace::Scratch => (access.space.to_string(), access.address),
            MemorySpace::Global | MemorySpace::Scalar => {
                access.inside.clone().unwrap_or_else(|| self.allocation(access.address))
            }
        })
    }

    /// What an instruction made a value from.
    pub(super) fn inputs(&mut self, made: &Made) -> Result<Inputs, Lost> {
        let Some(inst) = made.step.inst.clone() else { return Ok(Inputs::default()) };
        let memory = inst.effects(self.target()).memory;
        match (memory, made.step.access.clone()) {
            (Some(memory), Some(access)) if memory.operation != MemoryOperation::Store => {
                self.loaded(made, &inst, &access)
            }
            _ => self.computed(made, &inst),
        }
    }

    /// What a load found, and where.
    fn loaded(&mut self, made: &Made, inst: &Inst, access: &TracedAccess) -> Result<Inputs, Lost> {
        let result = inst.operands.first().map(registers).unwrap_or_default();
        let dword = result.iter().position(|reg| *reg == made.reg).unwrap_or(0);
        let address = match access.second {
            Some(second) if dword >= result.len() / 2 => second + 4 * (dword - result.len() / 2) as u64,
            _ => access.address + 4 * dword as u64,
        };
        let value = match access.space {
            // What was stored there in parts, or never.
            MemorySpace::Scratch => Source::Memory,
            MemorySpace::Lds => {
                let group = made.at.wave / self.waves_of_group();
                let place = WrittenPlace::Lds { group, offset: address };
                self.found(made, place, address)?
            }
            MemorySpace::Global | MemorySpace::Scalar => {
                self.found(made, WrittenPlace::Device(address), address)?
            }
        };
        let mut inputs = Inputs { values: vec![value], addresses: Vec::new() };
        for reg in addresses(inst) {
            inputs.addresses.push(self.of_register(made.at, reg, false)?);
        }
        Ok(inputs)
    }

    /// What a load has from memory that work-items share.
    fn found(&mut self, made: &Made, place: WrittenPlace, address: u64) -> Result<Source, Lost> {
        match self.last_write(place, Some(made.at))? {
            Some(writer) => self.stored(writer, address),
            None => Ok(Source::Memory),
        }
    }

    /// The register that a lane has stored to its private memory what a load finds there, and when; `None` of
    /// another instruction, and of what was never stored.
    fn kept(
        &mut self,
        at: Moment,
        step: &TracedStep,
        inst: &Inst,
        reg: Reg,
    ) -> Result<Option<(Moment, Reg)>, Lost> {
        let target = self.target();
        let access = step.access.as_ref().filter(|access| access.space == MemorySpace::Scratch);
        let is_load = |inst: &Inst| {
            let memory = inst.effects(target).memory;
            memory.is_some_and(|memory| memory.operation == MemoryOperation::Load)
        };
        let Some(access) = access.filter(|access| access.bytes >= 4 && is_load(inst)) else {
            return Ok(None);
        };
        let dword = inst.operands.first().map(registers).unwrap_or_default();
        let dword = dword.iter().position(|own| *own == reg).unwrap_or(0);
        let address = access.address + 4 * dword as u64;
        let stores = move |step: &TracedStep| {
            let covers = |access: &TracedAccess| {
                access.space == MemorySpace::Scratch
                    && (access.address..access.address + u64::from(access.bytes)).contains(&address)
            };
            step.active
                && step.access.as_ref().is_some_and(covers)
                && step.inst.as_deref().is_some_and(|inst| !is_load(inst))
        };
        match self.last(at, stores)? {
            Some(store) if store.access.as_ref().is_some_and(|access| access.bytes >= 4) => {
                let reg = stored_from(&store, address)?;
                Ok(Some((Moment { number: store.number, ..at }, reg)))
            }
            _ => Ok(None),
        }
    }

    /// What an instruction read in registers.
    fn computed(&mut self, made: &Made, inst: &Inst) -> Result<Inputs, Lost> {
        let masks = inst.lane_masks(self.target());
        let is_mask_operand = |reg: Reg| {
            let operands = inst.operands.iter().enumerate();
            let mut masks = operands.filter(|(index, _)| masks >> index & 1 != 0);
            masks.any(|(_, operand)| is_read(operand) && registers(operand).contains(&reg))
        };
        // Scalar instructions that combine masks do so for each lane by itself.
        let combines = made.is_mask && inst.encoding.is_scalar();
        let (moved, selector) = exchanged(inst);
        let mut inputs = Inputs::default();
        for &(reg, _) in &made.step.reads {
            let is_mask = combines && reg != Reg::SCC || is_mask_operand(reg);
            let half = reg.as_scalar().map_or(0, |code| code % 2);
            // The other dword of a mask has other lanes' bits.
            if is_mask && self.wave().lanes() > 32 && made.at.lane / 32 != half {
                continue;
            }
            let lane = match made.step.from_lane {
                Some(from) if moved.contains(&reg) => from,
                _ => made.at.lane,
            };
            let source = self.of_register(Moment { lane, ..made.at }, reg, is_mask)?;
            // Which lane is asked is a question of its own.
            match selector.contains(&reg) {
                true => inputs.addresses.push(source),
                false => inputs.values.push(source),
            }
        }
        Ok(inputs)
    }
}
