//! One instruction in a loop, with the registers and the memory that it needs.

use amdgpu_isa::{Encoding, Generation, Inst, Slot, Target, Value};
use amdinst_emu::{Config, Machine, Snippet, Vectors, WaveState};

/// Copies of the instruction in a turn of the loop.
pub(crate) const COPIES: u32 = 16;
/// Bytes of the buffer that accesses go to.
const BUFFER: u64 = 1 << 16;
/// Bytes of LDS.
const LDS: usize = 1 << 16;
/// The loop's counter, which is zero at its end.
pub(crate) const COUNTER: usize = 0;

/// An instruction that can be tried.
pub(crate) struct Trial {
    /// The instruction.
    pub(crate) text: String,
    snippet: Snippet,
    state: WaveState,
    machine: Machine,
}

impl Trial {
    /// A trial of an instruction, in a mode; `None` if the instruction has no encoding.
    pub(crate) fn new(target: Target, inst: &Inst, vectors: Vectors, mode: u32) -> Option<Self> {
        let mut config = Config::default();
        config.vectors = vectors;
        let mut machine = Machine::new(target.arch, config);
        let buffer = machine.alloc(BUFFER, 256, "buffer").ok()?;
        let words = inst.encode(target).ok()?;
        Some(Self {
            text: inst.text(target),
            snippet: looped(target, &words.repeat(COPIES as usize))?,
            state: WaveState { mode, ..state(target, inst, buffer) },
            machine,
        })
    }

    /// Runs `turns` turns of the loop.
    pub(crate) fn run(&mut self, turns: u32) -> Result<WaveState, amdinst_emu::Fault> {
        self.state.sgprs[COUNTER] = turns;
        self.snippet.run(&mut self.machine, &self.state)
    }
}

/// A loop around instructions; around none, what each loop costs.
fn looped(target: Target, words: &[u32]) -> Option<Snippet> {
    let encode = |text: &str| amdgpu_isa::parse(target, text).ok()?.encode(target).ok();
    let mut body = words.to_vec();
    // GFX12 has another name for it.
    body.extend(encode("s_sub_u32 s0, s0, 1").or_else(|| encode("s_sub_co_u32 s0, s0, 1"))?.iter());
    body.extend(encode("s_cmp_lg_u32 s0, 0")?.iter());
    let back = 0x1_0000u32.checked_sub(body.len() as u32 + 1)?;
    body.extend(encode(&format!("s_cbranch_scc1 {back}"))?.iter());
    let bytes: Vec<u8> = body.iter().flat_map(|word| word.to_le_bytes()).collect();
    Some(Snippet::from_bytes(target, &bytes))
}

/// Registers that hold numbers of usual size as floats of 8 to 64 bits; and addresses where the instruction
/// has some.
fn state(target: Target, inst: &Inst, buffer: u64) -> WaveState {
    let mut state = WaveState { lds: vec![0; LDS], scratch: 256, ..WaveState::default() };
    let number = |register: usize, lane: usize| {
        let mixed = (register * 64 + lane) as u32;
        0x3c00_3c00 | mixed.wrapping_mul(0x9e37_79b9) & 0x0377_0377
    };
    for register in 0..64 {
        state.set_vgpr(register, std::array::from_fn(|lane| number(register, lane)));
        state.set_agpr(register, std::array::from_fn(|lane| number(register + 64, lane)));
    }
    if inst.encoding == Encoding::Ds {
        state.m0 = u32::MAX;
    }
    // A lane's data lie behind those of the lane before.
    let is_data = |slot: Slot| matches!(slot, Slot::Vdst | Slot::Vdata | Slot::Data0);
    let data =
        inst.operands.iter().filter(|operand| is_data(operand.slot)).map(|operand| u32::from(operand.dwords));
    let stride = 4 * data.max().unwrap_or(1).max(1);
    let offset = |lane: usize| lane as u32 * stride;
    for operand in &inst.operands {
        match (operand.value, operand.slot) {
            (Value::Vgpr(register), Slot::Vaddr) if operand.dwords == 2 => {
                let addresses = std::array::from_fn(|lane| buffer + u64::from(offset(lane)));
                state.set_vgpr_pair(register.into(), addresses);
            }
            (Value::Vgpr(register), Slot::Vaddr) => {
                let in_scratch = inst.encoding == Encoding::Scratch;
                state.set_vgpr(
                    register.into(),
                    std::array::from_fn(|lane| if in_scratch { 0 } else { offset(lane) }),
                );
            }
            (Value::Scalar(register), Slot::Sbase | Slot::Srsrc) => {
                let register = usize::from(register);
                state.set_sgpr_pair(register, buffer);
                if operand.dwords == 4 {
                    state.set_sgpr_pair(register + 2, BUFFER | u64::from(raw_buffer(target)) << 32);
                }
            }
            _ => {}
        }
    }
    state
}

/// The last dword of a buffer resource of raw dwords.
fn raw_buffer(target: Target) -> u32 {
    match target.arch.generation() {
        Generation::Gfx8 | Generation::Gfx9 => 0x0002_7000,
        Generation::Gfx10 => 0x3101_6000,
        Generation::Gfx11 | Generation::Gfx12 => 0x3100_4000,
    }
}
