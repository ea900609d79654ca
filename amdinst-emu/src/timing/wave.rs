//! A resident wave: the emulator's state, and what its next instruction waits for.

use super::counter::Counter;
use super::instructions::{Instruction, REGISTERS, Work};
use super::outcome::WaveTime;
use super::parameters::Parameters;
use super::stall::Stall;
use amdgpu_isa::Target;

use crate::vectors::Vectors;
use crate::wave::Wave;

/// Operations that VM_CNT, LGKM_CNT and EXP_CNT count at most on GFX9.
const MOST: [u8; 3] = [63, 15, 7];

/// A wave on a SIMD.
#[derive(Debug)]
pub(super) struct Resident {
    pub(super) wave: Wave,
    /// Its workgroup's slot.
    pub(super) group: usize,
    pub(super) unit: usize,
    pub(super) simd: usize,
    /// From when on each register can be read.
    registers: Box<[u64; REGISTERS]>,
    /// Registers whose value comes from the matrix core.
    from_matrix: Box<[bool; REGISTERS]>,
    /// Scalar registers whose value comes from the vector ALU.
    from_vector: u128,
    pub(super) vector: Counter,
    pub(super) local: Counter,
    pub(super) export: Counter,
    /// From when on its next instruction could issue, as far as its own slot goes.
    pub(super) since: u64,
    /// From when on nothing of its own holds it back.
    pub(super) ready: u64,
    /// What holds it back until then.
    pub(super) cause: Stall,
    /// Line of the instruction cache that it is in.
    pub(super) line: u64,
    pub(super) time: WaveTime,
}

impl Resident {
    pub(super) fn new(target: Target, vectors: Vectors) -> Self {
        Self {
            wave: Wave::new(target, vectors),
            group: 0,
            unit: 0,
            simd: 0,
            registers: Box::new([0; REGISTERS]),
            from_matrix: Box::new([false; REGISTERS]),
            from_vector: 0,
            vector: Counter::default(),
            local: Counter::default(),
            export: Counter::default(),
            since: 0,
            ready: 0,
            cause: Stall::Fetch,
            line: u64::MAX,
            time: WaveTime::default(),
        }
    }

    /// Begins at a time; the emulator's part has been started.
    pub(super) fn begin(&mut self, group: usize, unit: usize, simd: usize, start: u64) {
        (self.group, self.unit, self.simd) = (group, unit, simd);
        self.registers.fill(0);
        self.from_matrix.fill(false);
        self.from_vector = 0;
        self.vector.clear();
        self.local.clear();
        self.export.clear();
        (self.since, self.ready, self.cause) = (start, start, Stall::Fetch);
        self.line = u64::MAX;
        self.time = WaveTime { compute_unit: unit as u32, simd: simd as u32, start, end: start };
    }

    /// Wait, if nothing else takes as long.
    pub(super) fn wait(&mut self, until: u64, cause: Stall) {
        if until > self.ready {
            (self.ready, self.cause) = (until, cause);
        }
    }

    /// What an instruction's results are ready for.
    pub(super) fn results(&mut self, instruction: &Instruction, ready: u64) {
        let vector = matches!(instruction.work, Work::Vector);
        let matrix = matches!(instruction.work, Work::Matrix { .. });
        for &register in &instruction.writes {
            self.registers[usize::from(register)] = ready;
            self.from_matrix[usize::from(register)] = matrix;
            if register < 128 {
                let bit = 1 << register;
                self.from_vector = if vector { self.from_vector | bit } else { self.from_vector & !bit };
            }
        }
    }

    /// Wait for what the next instruction needs: registers, counters.
    pub(super) fn need(&mut self, next: &Instruction, p: &Parameters) {
        let matrix = matches!(next.work, Work::Matrix { .. });
        for &register in &next.reads {
            let mut ready = self.registers[usize::from(register)];
            if next.scalar_reader && register < 128 && self.from_vector >> register & 1 != 0 {
                ready += p.vector_to_scalar;
            }
            if matrix && self.from_matrix[usize::from(register)] {
                ready = ready.saturating_sub(p.mfma_forward);
            }
            self.wait(ready, Stall::Dependency);
        }
        if let Work::Wait(waits) = next.work {
            let counters = [
                (&self.vector, waits.vector),
                // One counter for both.
                (&self.local, [waits.scalar, waits.lds].into_iter().flatten().min()),
                (&self.export, waits.exports),
            ];
            for (counter, left) in counters {
                let Some(left) = left else { continue };
                let (until, cause) = counter.at_most(left);
                if until > self.ready {
                    (self.ready, self.cause) = (until, cause);
                }
            }
        }
        let counts =
            [(next.vm_cnt, &self.vector), (next.lgkm_cnt, &self.local), (next.exp_cnt, &self.export)];
        for ((counted, counter), most) in counts.into_iter().zip(MOST) {
            let (until, _) = counter.at_most(most - 1);
            if counted && until > self.ready {
                (self.ready, self.cause) = (until, Stall::CounterFull);
            }
        }
    }

    /// When everything that it has begun is done.
    pub(super) fn settled(&self) -> u64 {
        self.vector.at_most(0).0.max(self.local.at_most(0).0).max(self.export.at_most(0).0)
    }
}
