//! Calls through pointers: tables of methods, formatting, callbacks.
//!
//! What such a call reaches is not followed. It can only be a function whose address is a value somewhere:
//! the loader puts it into data, or code forms it and does more with it than to call the function. Any of
//! those may be called, and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use amdgpu_isa::{Flow, Op, ScalarSet, Value};
use amdgpu_object::CodeObject;

use super::{Exit, Function, ObstacleKind, Program};
use crate::analysis::addresses::PcRelative;

impl Program {
    /// Has each call whose target is not known go to all functions whose address is a value, if these are all
    /// known.
    pub(super) fn resolve_pointers(&mut self, object: &CodeObject, entries: &BTreeMap<u64, usize>) {
        let calls: Vec<Vec<usize>> =
            self.functions.iter().map(|function| self.calls_through_pointers(function)).collect();
        if calls.iter().all(Vec::is_empty) {
            return;
        }
        let pointed = self.pointed(object, entries);
        for (function, calls) in self.functions.iter_mut().zip(calls).filter(|(_, calls)| !calls.is_empty()) {
            let last = |&place: &usize| self.insts[function.blocks[place].insts.end - 1].pc;
            let resolved: BTreeSet<u64> = calls.iter().map(last).collect();
            match &pointed {
                Ok(pointed) => {
                    calls.iter().for_each(|&place| function.blocks[place].exit = Exit::CallPointed);
                    function.obstacles.retain(|obstacle| !resolved.contains(&obstacle.pc));
                    let callees: BTreeSet<usize> = function.callees.iter().chain(pointed).copied().collect();
                    function.callees = callees.into_iter().collect();
                }
                Err(why) => {
                    let obstacles = function.obstacles.iter_mut();
                    obstacles.filter(|obstacle| resolved.contains(&obstacle.pc)).for_each(|obstacle| {
                        obstacle.detail.push_str("; ");
                        obstacle.detail.push_str(why);
                    });
                }
            }
        }
        self.pointed = pointed.unwrap_or_default();
    }

    /// The blocks of a function that end with a call of which nothing else is wrong than that its target is
    /// not known.
    fn calls_through_pointers(&self, function: &Function) -> Vec<usize> {
        let others = function.obstacles.iter().filter(|of| of.kind != ObstacleKind::IndirectTarget);
        let doubted: BTreeSet<u64> = others.map(|obstacle| obstacle.pc).collect();
        let calls = function.blocks.iter().enumerate().filter(|(_, block)| {
            let last = &self.insts[block.insts.end - 1];
            block.exit == Exit::Unknown && last.op == Op::s_swappc_b64 && !doubted.contains(&last.pc)
        });
        calls.map(|(place, _)| place).collect()
    }

    /// The functions whose address is a value, or why they are not all known.
    fn pointed(&self, object: &CodeObject, entries: &BTreeMap<u64, usize>) -> Result<Vec<usize>, String> {
        let mut pointed = BTreeSet::new();
        let mut add = |address: u64| {
            match entries.get(&address) {
                Some(&function) => drop(pointed.insert(function)),
                None if object.code_at(address).is_some() => {
                    return Err(format!("{address:#x} may be its target, where no function starts"));
                }
                None => {}
            }
            Ok(())
        };
        for relocation in &object.relocations {
            let base = match &relocation.symbol {
                None => 0,
                Some((_, Some(value))) => *value,
                Some((name, None)) => {
                    return Err(format!("its target may be `{name}` of another code object"));
                }
            };
            add(base.wrapping_add_signed(relocation.addend))?;
        }
        let may_be_code = |address: &&PcRelative| object.code_at(address.target).is_some();
        for address in self.addresses.iter().filter(may_be_code) {
            if self.keeps(address) {
                add(address.target)?;
            }
        }
        if pointed.is_empty() {
            return Err("no function's address is a value in this code object".to_owned());
        }
        Ok(pointed.into_iter().collect())
    }

    /// Whether code does more with an address that it forms than to call, or to jump to, what is there.
    fn keeps(&self, address: &PcRelative) -> bool {
        let Some(number) = self.function_at(self.insts[address.addc].pc) else { return true };
        let function = &self.functions[number];
        let to = |index: usize| match self.inst(index).operands.first().map(|operand| operand.value) {
            Some(Value::Scalar(register)) => Some(register),
            _ => None,
        };
        let (Some(low), Some(high)) = (to(address.add), to(address.addc)) else { return true };
        let reads = |index: usize, of: ScalarSet| self.scalars(&self.insts[index]).reads.intersects(of);
        // The low half is there before the high one.
        if (address.add + 1..address.addc).any(|index| reads(index, ScalarSet::register(low))) {
            return true;
        }
        let first = function.blocks.partition_point(|block| block.insts.end <= address.addc);
        let halves = ScalarSet::register(low).union(ScalarSet::register(high));
        // Where it goes: block, from which instruction on, the halves that are still there, whether it was
        // called.
        let mut open = vec![(first, address.addc + 1, halves, false)];
        let mut seen = BTreeSet::new();
        while let Some((place, from, mut halves, mut is_called)) = open.pop() {
            let Some(block) = function.blocks.get(place) else { return true };
            if from == block.insts.start && !seen.insert((place, halves.bits(), is_called)) {
                continue;
            }
            for index in from..block.insts.end {
                let located = &self.insts[index];
                if reads(index, halves) {
                    let calls = |&callee: &usize| self.functions[callee].range.start == address.target;
                    let is_target = match block.exit {
                        Exit::Local => located.flow() == Flow::Jump,
                        exit => exit.entered(&[]).iter().any(calls),
                    };
                    if index + 1 < block.insts.end || !is_target {
                        return true;
                    }
                    is_called = true;
                }
                halves = halves.without(self.scalars(located).writes);
            }
            if halves.is_empty() || block.exit == Exit::End {
                continue;
            }
            // What was not called may be what others are called with, or return.
            if block.exit != Exit::Local && !is_called {
                return true;
            }
            open.extend(
                block
                    .successors
                    .iter()
                    .map(|&next| (next, function.blocks[next].insts.start, halves, is_called)),
            );
        }
        false
    }
}
