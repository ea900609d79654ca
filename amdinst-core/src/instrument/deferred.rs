//! Counters in SGPRs, without waiting for what tells where they go.
//!
//! The record's address is needed when the wave ends, and takes two loads to know, one after the other. So at entry only the
//! first is begun, and the ids are put by, which the program overwrites. The program waits for its own arguments soon: with
//! them the buffer's address has come, and counters are cleared meanwhile. The second load, of the head of the buffer, and
//! what follows from it are left until the program waits for vector memory anyway, if there is such a place outside of loops;
//! waves that do not come by do it when they end, which a flag tells.
//!
//! That a scalar load is under way meanwhile makes no wait of the program too short: see [`site_code`](super::site_code).

use super::layout::RecordPlace;
use super::sequence::{Sequence, sgpr};
use super::wave_index::WaveIndex;
use crate::Arch;
use crate::analysis::program::{Block, Exit, Program};
use crate::isa::{Op, Value};

/// Registers that hold a wave's ids, and the head of the buffer, until they are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deferred {
    /// What of it the number follows from. Its index is the workgroup's id in z.
    pub(super) wave: WaveIndex,
    /// Ids of the workgroup in x and y.
    pub(super) workgroup: [u8; 2],
    /// Not zero until the record's address is worked out.
    pub(super) flag: u8,
}

/// Where it goes on, by number of instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Places {
    /// The program waits for its arguments.
    pub(super) arguments: usize,
    /// Behind the first, or at the start of its block, the head of the buffer can be fetched; at the second, in the same block,
    /// the program waits for vector memory, at most once a wave, and SCC is dead.
    pub(super) memory: Option<(Fetch, usize)>,
    /// What is left to do when a wave ends.
    pub(super) at_end: AtEnd,
}

/// Where the head of the buffer is fetched, by number of instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fetch {
    /// Behind this one.
    Behind(usize),
    /// Before this one, which begins a block.
    Before(usize),
}

/// What of working out the address is left to do when a wave ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtEnd {
    /// Nothing: every wave comes by where it is done.
    Nothing,
    /// All, if the flag tells that it has not been done.
    Perhaps,
    /// All but the load, which was begun long before.
    Work,
}

/// The lowest SGPR that it may take: those below are filled when a wave starts.
const LOWEST: u8 = 24;

impl Deferred {
    /// Takes registers from an ascending list, and a pair for the address; none where there are too few that cost no occupancy.
    pub(super) fn take(arch: Arch, sgprs: &mut Vec<u8>) -> Option<(Self, RecordPlace)> {
        // Of 800 a SIMD, 8 waves or 10 take a share each, 6 of it for special registers.
        let highest = if arch.is_gfx90a_plus() { 90 } else { 74 };
        let mut left: Vec<u8> =
            sgprs.iter().copied().filter(|&register| (LOWEST..highest).contains(&register)).collect();
        let mut tuple = |count: u8, align: u8| {
            let whole = |run: &[u8]| run[0].is_multiple_of(align) && run[run.len() - 1] == run[0] + count - 1;
            let at = left.windows(usize::from(count)).position(whole)?;
            left.drain(at..at + usize::from(count)).next()
        };
        let (header, record) = (tuple(8, 4)?, tuple(2, 2)?);
        let mut single = || tuple(1, 1);
        let ids = [single()?, single()?, single()?];
        let wave = WaveIndex { header, ids, index: single()? };
        let deferred = Self { wave, workgroup: [single()?, single()?], flag: single()? };
        sgprs.retain(|register| !(LOWEST..highest).contains(register) || left.contains(register));
        Some((deferred, RecordPlace::Sgprs(record)))
    }

    /// At entry: puts the ids by.
    pub(super) fn keep(&self, code: &mut Sequence, arch: Arch, workgroup: [u8; 3]) {
        let vgprs = if arch.is_gfx90a_plus() { 1 } else { 3 };
        for (vgpr, &id) in (0..vgprs).zip(&self.wave.ids) {
            code.readfirstlane(id, vgpr);
        }
        let [x, y] = self.workgroup;
        for (to, from) in [x, y, self.wave.index].into_iter().zip(workgroup) {
            code.sop1(Op::s_mov_b32, sgpr(to), sgpr(from));
        }
    }

    /// When the buffer's address has come: fetches its head.
    pub(super) fn fetch(&self, code: &mut Sequence, record: u8) {
        code.load(Op::s_load_dwordx8, self.wave.header, record, 0);
    }

    /// Works out the record's address when the head of the buffer has come.
    pub(super) fn address(&self, code: &mut Sequence, arch: Arch, record: u8, stride: u32) {
        let Self { wave, workgroup: [x, y], .. } = *self;
        code.wait_scalar_loads();
        wave.split(code, arch);
        wave.number(code, [sgpr(x), sgpr(y), sgpr(wave.index)]);
        wave.record(code, record, Value::int(stride as i32));
    }

    /// The flag: the address is still to be worked out.
    pub(super) fn set_flag(&self, code: &mut Sequence) {
        code.sop1(Op::s_mov_b32, sgpr(self.flag), Value::int(1));
    }

    /// The address has been worked out.
    pub(super) fn clear_flag(&self, code: &mut Sequence) {
        code.sop1(Op::s_mov_b32, sgpr(self.flag), Value::int(0));
    }

    /// When a wave ends.
    pub(super) fn finish(&self, code: &mut Sequence, arch: Arch, record: u8, stride: u32, left: AtEnd) {
        let mut work = Sequence::new(arch);
        match left {
            AtEnd::Nothing => return,
            AtEnd::Work => {}
            AtEnd::Perhaps => self.fetch(&mut work, record),
        }
        self.address(&mut work, arch, record, stride);
        if left == AtEnd::Perhaps {
            code.sopc(Op::s_cmp_eq_u32, sgpr(self.flag), Value::int(0));
            code.skip_if_scc(&work);
        }
        code.append(work);
    }
}

impl Places {
    /// Looks for them in a function that starts at an instruction; `scc_is_live` tells that of an instruction of a block, before
    /// it, `is_counted` whether one has code of its own inserted.
    pub(super) fn find(
        program: &Program,
        blocks: &[Block],
        entry: usize,
        scc_is_live: impl Fn(usize, usize) -> bool,
        is_counted: impl Fn(usize) -> bool,
    ) -> Option<Self> {
        let first = blocks.iter().position(|block| block.insts.contains(&entry))?;
        // Waves come here once.
        if !blocks[first].predecessors.is_empty() {
            return None;
        }
        let waits = |index: usize, shift: u32, bits: u32| {
            let located = &program.insts[index];
            located.op == Op::s_waitcnt
                && program.inst(index).operands.iter().any(|operand| match operand.value {
                    Value::Imm(value) => value as u32 >> shift & bits == 0,
                    _ => false,
                })
        };
        // LGKM_CNT in bits 8 to 11, VM_CNT in 0 to 3 and 14 to 15.
        let for_scalars = |index: usize| waits(index, 8, 15);
        let for_vectors = |index: usize| waits(index, 0, 15) && waits(index, 14, 3);
        let arguments = (entry..blocks[first].insts.end).find(|&index| for_scalars(index))?;
        let once = |number: usize| !reaches(blocks, number, |block| block == number, None);
        let found = (0..blocks.len()).filter(|&number| once(number)).find_map(|number| {
            let insts = blocks[number].insts.clone();
            let start = if number == first { arguments + 1 } else { insts.start };
            let wait = (start..insts.end).find(|&at| for_vectors(at) && !scc_is_live(number, at))?;
            // Behind the last wait for scalar loads, which would wait for this one, too.
            let first_wait = if number == first { arguments } else { insts.start };
            let behind = (first_wait..wait).rev().find(|&at| for_scalars(at)).map(Fetch::Behind);
            let fetch = behind.unwrap_or(Fetch::Before(start));
            (fetch != Fetch::Before(start) || !is_counted(start)).then_some((number, (fetch, wait)))
        });
        let Some((block, memory)) = found else {
            return Some(Self { arguments, memory: None, at_end: AtEnd::Work });
        };
        let ends = |number: usize| !matches!(blocks[number].exit, Exit::Local | Exit::Call(_));
        let avoidable = block != first && (ends(first) || reaches(blocks, first, ends, Some(block)));
        let at_end = if avoidable { AtEnd::Perhaps } else { AtEnd::Nothing };
        Some(Self { arguments, memory: Some(memory), at_end })
    }
}

/// Clears counters, in ascending order.
pub(super) fn clear(arch: Arch, counters: &[u8]) -> Sequence {
    let mut code = Sequence::new(arch);
    let mut left = counters;
    while let [counter, rest @ ..] = left {
        if let [next, rest @ ..] = rest
            && counter % 2 == 0
            && *next == counter + 1
        {
            code.sop1(Op::s_mov_b64, sgpr(*counter), Value::int(0));
            left = rest;
        } else {
            code.sop1(Op::s_mov_b32, sgpr(*counter), Value::int(0));
            left = rest;
        }
    }
    code
}

/// Whether a path leads from behind a block to one of those wanted, without one that is closed.
fn reaches(blocks: &[Block], from: usize, wanted: impl Fn(usize) -> bool, closed: Option<usize>) -> bool {
    let mut seen = vec![false; blocks.len()];
    let mut open = blocks[from].successors.clone();
    while let Some(block) = open.pop() {
        if Some(block) == closed {
            continue;
        }
        if wanted(block) {
            return true;
        }
        if !std::mem::replace(&mut seen[block], true) {
            open.extend(&blocks[block].successors);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(successors: &[usize]) -> Block {
        Block { insts: 0..0, successors: successors.to_vec(), predecessors: Vec::new(), exit: Exit::Local }
    }

    /// 0 branches to 1 and 3, 1 to itself and 2, 2 to 3.
    #[test]
    fn paths_are_found_around_what_is_closed() {
        let blocks = [block(&[1, 3]), block(&[1, 2]), block(&[3]), block(&[])];
        let to = |from: usize, to: usize, closed| reaches(&blocks, from, |number| number == to, closed);
        assert!(to(1, 1, None) && !to(2, 2, None) && !to(3, 0, None));
        assert!(to(0, 3, Some(2)) && !to(1, 3, Some(2)));
    }

    #[test]
    fn registers_are_whole_tuples_above_those_of_a_start_and_below_those_that_cost_occupancy() {
        let mut sgprs: Vec<u8> = (0..24).chain(26..102).collect();
        let (deferred, record) = Deferred::take(Arch::Gfx90a, &mut sgprs).unwrap();
        let header = deferred.wave.header;
        assert_eq!(header % 4, 0);
        let RecordPlace::Sgprs(record) = record else { panic!("a pair") };
        let taken: Vec<u8> =
            (0..102).filter(|register| !(24..26).contains(register) && !sgprs.contains(register)).collect();
        assert_eq!(taken.len(), 17);
        assert!(taken.iter().all(|register| (26..90).contains(register)));
        assert!(record % 2 == 0 && (header..header + 8).all(|register| taken.contains(&register)));
        // Too few: nothing is taken.
        let mut few: Vec<u8> = (0..40).collect();
        assert!(Deferred::take(Arch::Gfx90a, &mut few).is_none() && few.len() == 40);
    }
}
