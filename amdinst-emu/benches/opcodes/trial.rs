//! One opcode in a loop: its plainest form, the registers and the memory that it needs, and the work that it does.

use amdgpu_isa::{Encoding, Inst, Opcode, Slot, Target, Value};
use amdinst_emu::{Config, Machine, Snippet, Vectors, WaveState};

/// Copies of the instruction in a turn of the loop.
pub(crate) const COPIES: u32 = 16;
/// Bytes of the buffer that accesses go to.
const BUFFER: u64 = 1 << 16;
/// Bytes of LDS.
const LDS: usize = 1 << 16;
/// Bytes from a lane's data to the next one's.
const STRIDE: u32 = 16;
/// The loop's counter.
const COUNTER: usize = 0;

/// An opcode that can be tried.
pub(crate) struct Trial {
    /// The instruction.
    pub(crate) text: String,
    /// Operations of a wave's instruction: one for each lane, multiply-adds of a matrix instruction, dwords of an access.
    pub(crate) operations: u32,
    snippet: Snippet,
    state: WaveState,
    machine: Machine,
}

/// Why an opcode is not tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Left {
    /// It is not executed, or not in this form.
    NotExecuted,
    /// It goes elsewhere, waits or ends the wave.
    Control,
}

impl Trial {
    /// A trial of `opcode`.
    ///
    /// # Errors
    /// Why it can't be tried in a loop.
    pub(crate) fn of(opcode: Opcode, vectors: Vectors) -> Result<Self, Left> {
        let inst = opcode.plain().map_err(|_| Left::NotExecuted)?;
        let mut trial =
            Self::new(opcode.target(), &inst, vectors, WaveState::KERNEL_MODE).ok_or(Left::NotExecuted)?;
        trial.is_complete()?;
        Ok(trial)
    }

    /// A trial of an instruction, in a mode; `None` if there is no loop of it.
    pub(crate) fn new(target: Target, inst: &Inst, vectors: Vectors, mode: u32) -> Option<Self> {
        let mut config = Config::default();
        config.vectors = vectors;
        let mut machine = Machine::new(target.arch, config);
        let buffer = machine.alloc(BUFFER, 256, "buffer").ok()?;
        let words = inst.encode(target).ok()?;
        Some(Self {
            text: inst.text(target),
            operations: operations(target, inst),
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

    /// Whether a loop of it ends where it should.
    fn is_complete(&mut self) -> Result<(), Left> {
        match self.run(2) {
            Ok(after) if after.sgprs[COUNTER] == 0 => Ok(()),
            Ok(_) => Err(Left::Control),
            Err(_) => Err(Left::NotExecuted),
        }
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

/// Registers that hold numbers of usual size as halves, singles and doubles; and addresses where the instruction has some.
fn state(target: Target, inst: &Inst, buffer: u64) -> WaveState {
    let mut state = WaveState { lds: vec![0; LDS], scratch: 256, ..WaveState::default() };
    let number = |register: usize, lane: usize| {
        let mixed = (register * 64 + lane) as u32;
        0x3c00_3c00 | mixed.wrapping_mul(0x9e37_79b9) & 0x03ff_03ff
    };
    for register in 0..64 {
        state.set_vgpr(register, std::array::from_fn(|lane| number(register, lane)));
        state.set_agpr(register, std::array::from_fn(|lane| number(register + 64, lane)));
    }
    if inst.encoding == Encoding::Ds {
        state.m0 = u32::MAX;
    }
    let offset = |lane: usize| lane as u32 * STRIDE;
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
    use amdgpu_isa::Generation;
    match target.arch.generation() {
        Generation::Gfx9 => 0x0002_7000,
        Generation::Gfx10 => 0x3101_6000,
        Generation::Gfx11 | Generation::Gfx12 => 0x3100_4000,
    }
}

/// Operations of one instruction of a wave.
fn operations(target: Target, inst: &Inst) -> u32 {
    let lanes = target.wave.lanes();
    if let Some(multiply_adds) = multiply_adds(inst, lanes) {
        return multiply_adds;
    }
    let accesses = matches!(
        inst.encoding,
        Encoding::Ds
            | Encoding::Flat
            | Encoding::Global
            | Encoding::Scratch
            | Encoding::Mubuf
            | Encoding::Mtbuf
    );
    let data = |slot: Slot| matches!(slot, Slot::Vdst | Slot::Vdata | Slot::Data0 | Slot::Data1);
    let dwords =
        inst.operands.iter().filter(|operand| data(operand.slot)).map(|operand| u32::from(operand.dwords));
    if accesses { lanes * dwords.sum::<u32>().max(1) } else { lanes }
}

/// Of a matrix instruction: what it multiplies for each of its results, whose name has rows, columns and depth, `32x32x4`.
fn multiply_adds(inst: &Inst, lanes: u32) -> Option<u32> {
    let name = inst.op.name();
    let has_blocks = name.starts_with("v_mfma") || name.starts_with("v_smfmac");
    if !has_blocks && !name.starts_with("v_wmma") && !name.starts_with("v_swmmac") {
        return None;
    }
    let sizes = name.split('_').find(|part| part.matches('x').count() == 2)?;
    let number = |text: &str| -> Option<u32> {
        text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
    };
    let [rows, columns, depth] = sizes.split('x').map(number).collect::<Option<Vec<u32>>>()?[..] else {
        return None;
    };
    let dwords = u32::from(inst.operands.first()?.dwords);
    let of_blocks = lanes * dwords / if name.contains("_f64_") { 2 } else { 1 };
    Some(depth * if has_blocks { of_blocks } else { rows * columns })
}
