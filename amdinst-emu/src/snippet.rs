//! A few instructions on one wave, from a given state to the state afterwards: what tests of single
//! instructions use.
//!
//! The instructions go the same way as a kernel's: decoded, lowered to steps, executed by the same handlers.
//!
//! ```
//! use amdgpu_isa::Arch;
//! use amdinst_emu::{Config, Machine, Snippet, WaveState};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let snippet = Snippet::assemble(Arch::Gfx90a, "v_add_u32 v0, v0, s2 ; comments are skipped")?;
//! let mut state = WaveState { exec: 0b1, ..WaveState::default() };
//! state.sgprs[2] = 40;
//! state.set_vgpr(0, [2; 64]);
//! let after = snippet.run(&mut Machine::new(Arch::Gfx90a, Config::default()), &state)?;
//! assert_eq!(after.vgpr(0)[..2], [42, 2]);
//! # Ok(())
//! # }
//! ```

use amdgpu_isa::{Arch, Encoding, Op, Opcode, ParseError, Target};

use crate::check::{Fault, FaultKind, Trap};
use crate::dispatch::run_slice;
use crate::fast;
use crate::lds::Lds;
use crate::load;
use crate::machine::Machine;
use crate::memory::SCRATCH_BASE;
use crate::program::{Context, Program};
use crate::record::MaskCounters;
use crate::rules::Rules;
use crate::vectors::Vectors;
use crate::watch::Watch;
use crate::wave::{EXEC, LANES, M0, REGISTERS, Registers, Status, VCC, Wave};

/// One 32-bit vector register: a value a lane.
pub type VectorRegister = [u32; LANES];

/// VGPRs, and AGPRs, that a wave has.
const BANK: usize = REGISTERS / 2;

/// The state of one wave as a program sees it.
///
/// The default is what a kernel of today's compilers starts with, but for its arguments: all 64 lanes active,
/// rounding to nearest, subnormals kept, DX10_CLAMP and IEEE set, everything else zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaveState {
    /// s0 to s101.
    pub sgprs: [u32; 102],
    /// v0 upward, 256 at most; registers that are not listed are zero. Afterwards there are at least as many
    /// as the snippet names.
    pub vgprs: Vec<VectorRegister>,
    /// a0 upward, in the same way.
    pub agprs: Vec<VectorRegister>,
    /// The active lanes.
    pub exec: u64,
    /// VCC.
    pub vcc: u64,
    /// FLAT_SCRATCH.
    pub flat_scratch: u64,
    /// M0.
    pub m0: u32,
    /// SCC.
    pub scc: bool,
    /// The MODE register (Vega ISA manual, "MODE register").
    pub mode: u32,
    /// The workgroup's LDS.
    pub lds: Vec<u8>,
    /// Bytes of private memory that each lane has, zero at the start. Not part of the state afterwards.
    pub scratch: u32,
}

impl WaveState {
    /// MODE as a kernel starts with it: FP_ROUND to nearest (bits 0-3), FP_DENORM all kept (bits 4-7),
    /// DX10_CLAMP (bit 8), IEEE (bit 9).
    pub const KERNEL_MODE: u32 = 0x3f0;

    /// A VGPR; zero if it is not listed.
    pub fn vgpr(&self, number: usize) -> VectorRegister {
        self.vgprs.get(number).copied().unwrap_or([0; LANES])
    }

    /// Set a VGPR, listing those before it.
    pub fn set_vgpr(&mut self, number: usize, lanes: VectorRegister) {
        put(&mut self.vgprs, number, lanes);
    }

    /// An AGPR; zero if it is not listed.
    pub fn agpr(&self, number: usize) -> VectorRegister {
        self.agprs.get(number).copied().unwrap_or([0; LANES])
    }

    /// Set an AGPR, listing those before it.
    pub fn set_agpr(&mut self, number: usize, lanes: VectorRegister) {
        put(&mut self.agprs, number, lanes);
    }

    /// A 64-bit value of each lane: a pair of VGPRs, the low half first.
    pub fn vgpr_pair(&self, first: usize) -> [u64; 64] {
        let (low, high) = (self.vgpr(first), self.vgpr(first + 1));
        std::array::from_fn(|lane| u64::from(low[lane]) | u64::from(high[lane]) << 32)
    }

    /// Set a pair of VGPRs.
    pub fn set_vgpr_pair(&mut self, first: usize, lanes: [u64; 64]) {
        self.set_vgpr(first, lanes.map(|value| value as u32));
        self.set_vgpr(first + 1, lanes.map(|value| (value >> 32) as u32));
    }

    /// A 64-bit value in a pair of SGPRs.
    ///
    /// # Panics
    /// If there are no such registers.
    pub fn sgpr_pair(&self, first: usize) -> u64 {
        u64::from(self.sgprs[first]) | u64::from(self.sgprs[first + 1]) << 32
    }

    /// Set a pair of SGPRs.
    ///
    /// # Panics
    /// If there are no such registers.
    pub fn set_sgpr_pair(&mut self, first: usize, value: u64) {
        self.sgprs[first] = value as u32;
        self.sgprs[first + 1] = (value >> 32) as u32;
    }
}

impl Default for WaveState {
    fn default() -> Self {
        Self {
            sgprs: [0; 102],
            vgprs: Vec::new(),
            agprs: Vec::new(),
            exec: u64::MAX,
            vcc: 0,
            flat_scratch: 0,
            m0: 0,
            scc: false,
            mode: Self::KERNEL_MODE,
            lds: Vec::new(),
            scratch: 0,
        }
    }
}

fn put(registers: &mut Vec<VectorRegister>, number: usize, lanes: VectorRegister) {
    if registers.len() <= number {
        registers.resize(number + 1, [0; LANES]);
    }
    registers[number] = lanes;
}

/// Why a text is no snippet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, `{text}`: {reason}")]
pub struct SnippetError {
    /// The line, counted from 1.
    pub line: usize,
    /// Its text.
    pub text: String,
    /// Its problem.
    pub reason: ParseError,
}

/// A few instructions, ready to run. They lie at address 0; `s_endpgm` follows them.
#[derive(Debug)]
pub struct Snippet {
    program: Program,
}

impl Snippet {
    /// From text, an instruction a line, in the syntax of [`amdgpu_isa::parse`]. What follows `;` or `//` is
    /// a comment.
    ///
    /// # Errors
    /// A line that is no instruction of the processor.
    pub fn assemble(target: impl Into<Target>, text: &str) -> Result<Self, SnippetError> {
        let target = target.into();
        let mut bytes = Vec::new();
        for (index, whole) in text.lines().enumerate() {
            let line = whole.split(';').next().unwrap_or("").split("//").next().unwrap_or("").trim();
            if line.is_empty() {
                continue;
            }
            let words = amdgpu_isa::parse(target, line).and_then(|inst| Ok(inst.encode(target)?));
            let words =
                words.map_err(|reason| SnippetError { line: index + 1, text: line.to_owned(), reason })?;
            bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        }
        Ok(Self::from_bytes(target, &bytes))
    }

    /// From instructions' bytes. A word that is no instruction is a fault when it is reached.
    pub fn from_bytes(target: impl Into<Target>, bytes: &[u8]) -> Self {
        let target = target.into();
        let mut text = bytes.to_vec();
        text.resize(text.len().next_multiple_of(4), 0);
        let end = Opcode::find(target, Encoding::Sopp, Op::s_endpgm).expect("every processor has it");
        let end = end.plain().and_then(|inst| inst.encode(target)).expect("it has an encoding");
        text.extend(end.iter().flat_map(|word| word.to_le_bytes()));
        Self { program: load::bare(target, text) }
    }

    /// The processor it is for.
    pub fn arch(&self) -> Arch {
        self.program.target.arch
    }

    /// Run to the end, from `state`, with the memory of `machine`.
    ///
    /// # Errors
    /// A [`Fault`]: of an instruction, at its offset in the snippet; a state with more registers than a wave
    /// has; a machine of another processor; or [`Config::budget`](crate::Config) instructions without an end.
    pub fn run(&self, machine: &mut Machine, state: &WaveState) -> Result<WaveState, Fault> {
        let bad = |message: String| Err(Fault::dispatch(NAME, message));
        if machine.arch() != self.arch() {
            return bad(format!("the snippet is for {}, the machine is a {}", self.arch(), machine.arch()));
        }
        if state.vgprs.len() > BANK || state.agprs.len() > BANK {
            return bad(format!("a wave has {BANK} VGPRs and AGPRs"));
        }
        if state.scratch > 1 << 24 {
            return bad(format!("{} bytes of private memory a lane", state.scratch));
        }
        let mut wave = self.wave(state, machine.config().vectors);
        let mut lds = Lds::from(state.lds.clone());
        self.execute(machine, &mut wave, &mut lds)?;
        Ok(self.state(state, &wave, lds.into_bytes()))
    }

    /// A wave in a state.
    fn wave(&self, state: &WaveState, vectors: Vectors) -> Wave {
        let target = self.program.target;
        let mut wave = Wave::new(target, vectors);
        let rules = Rules::of(target.arch.generation());
        let all = Registers::all(rules);
        wave.reset(all, all, 0, &Wave::scalars(rules, 0));
        wave.s[..102].copy_from_slice(&state.sgprs);
        wave.rows[..state.vgprs.len()].copy_from_slice(&state.vgprs);
        wave.rows[BANK..BANK + state.agprs.len()].copy_from_slice(&state.agprs);
        wave.set_s64(VCC, state.vcc);
        wave.set_s64(wave.rules.flat_scratch, state.flat_scratch);
        wave.s[usize::from(M0)] = state.m0;
        wave.scc = state.scc;
        wave.set_mode(state.mode);
        wave.place.scratch = state.scratch > 0;
        wave.scratch.reset(state.scratch.next_multiple_of(4), SCRATCH_BASE, 0);
        wave.set_s64(EXEC, state.exec);
        wave.sync_exec();
        wave
    }

    fn execute(&self, machine: &Machine, wave: &mut Wave, lds: &mut Lds) -> Result<(), Fault> {
        let config = machine.config();
        let hot = fast::steps(&self.program, config.vectors);
        let mut budget = config.budget;
        loop {
            wave.status = Status::Running;
            let mut context = Context {
                wave: &mut *wave,
                lds: &mut *lds,
                memory: machine.memory(),
                watch: Watch::Nobody,
                round: None,
                program: &self.program,
                counters: MaskCounters::default(),
                tally: None,
                trap: None,
            };
            let (used, mut outcome) = run_slice(&mut context, config, hot, budget, &mut []);
            budget -= used;
            let waits = matches!(wave.status, Status::Running | Status::Yielded | Status::AtBarrier);
            if outcome.is_ok() && waits && budget == 0 {
                outcome = Err(Trap::new(FaultKind::Budget { budget: config.budget, waiting: 0 }));
            }
            if let Err(trap) = outcome {
                return Err(self.locate(wave, *trap));
            }
            // A barrier of one wave lets it pass.
            if !waits {
                return Ok(());
            }
        }
    }

    fn locate(&self, wave: &Wave, trap: Trap) -> Fault {
        let step = &self.program.steps[wave.current as usize];
        Fault {
            kind: trap.kind,
            kernel: NAME.to_owned(),
            workgroup: [0; 3],
            wave: 0,
            lane: trap.lane,
            pc: Some(self.program.pc(step)),
            instruction: self.program.text_of(step),
            calls: Vec::new(),
            lane_state: None,
            earlier: None,
            waves: Vec::new(),
        }
    }

    /// The state of a wave; `before` tells how many registers to list at least.
    fn state(&self, before: &WaveState, wave: &Wave, lds: Vec<u8>) -> WaveState {
        let Registers { vgprs, agprs, .. } = self.program.registers;
        let (vgprs, agprs) = (usize::from(vgprs), usize::from(agprs));
        let (vgprs, agprs) = (vgprs.max(before.vgprs.len()), agprs.max(before.agprs.len()));
        let mut sgprs = [0; 102];
        sgprs.copy_from_slice(&wave.s[..102]);
        WaveState {
            sgprs,
            vgprs: wave.rows[..vgprs].to_vec(),
            agprs: wave.rows[BANK..BANK + agprs].to_vec(),
            exec: wave.exec,
            vcc: wave.s64(VCC),
            flat_scratch: wave.s64(wave.rules.flat_scratch),
            m0: wave.s[usize::from(M0)],
            scc: wave.scc,
            mode: wave.mode,
            lds,
            scratch: before.scratch,
        }
    }
}

/// What faults call it.
const NAME: &str = "snippet";
