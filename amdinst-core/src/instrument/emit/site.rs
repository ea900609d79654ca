//! The instructions that count one execution of a site.
//!
//! They stand right after the narrowing instruction. OLD is in the SGPRs into which that instruction saved
//! it, else in a copy taken right before it. NEW is EXEC.
//!
//! Two forms. Counters in SGPRs are added to by scalar instructions alone. Counters in lanes of a VGPR, in
//! LDS or in memory get their increments as lanes of a VGPR, which one `v_add_u32`, `ds_add_u32` or
//! `global_atomic_add` then adds.
//!
//! An inserted `global_atomic_add` counts in vmcnt until it is done, an inserted `ds_add_u32` in lgkmcnt. The
//! original's `s_waitcnt` stay as they are: one for N operations still leaves at most N of the *original*
//! ones under way, as an inserted one can only take the place of one of them. Which of them these may be
//! depends on the order in which operations of a kind return, and that has not changed. So what the original
//! knew after the wait still holds, for any N, also where scalar loads and LDS, which overtake each other,
//! share the counter.
//!
//! Where registers are short, the sequence borrows some that are in use ([`borrowed`](super::borrowed)).
//!
//! Wait states between these instructions and their neighbours are the business of
//! [`hazards`](crate::instrument::place::hazards).
//!
//! # Cost
//! A site with masks for counters takes one instruction, or two if OLD is kept as well. Counters in SGPRs
//! take four scalar instructions at level `basic` if the narrowing instruction saves OLD, SCC is dead, and
//! OLD is known to have lanes. If OLD may be empty it takes a fifth, so that such an execution does not count
//! as `all`. Four do not suffice there. Three counters need an addition each; `none` and `executions` need
//! nothing more, for SCC after the narrowing is NEW ≠ 0. But no single scalar instruction sets SCC to
//! NEW = OLD ≠ 0. Any that compares two masks takes OLD = NEW = 0 for equal, unlike OLD ≠ 0 = NEW, but both
//! are `none`, and three sums cannot tell the four cases apart afterwards.
//!
//! In LDS, in memory and in lanes of VGPRs a VGPR holds the increments, all of them one, and EXEC chooses the
//! counters that get one. Lane 0 is `executions`, lanes 1 and 2 are `all` and `none`; `s_cselect_b64` makes
//! the mask from two comparisons. Only the sums of lanes have to be moved to the VGPR.
//!
//! The table has the wave-instructions per site execution that the emulator ran beside the original ones,
//! without prologue and epilogue: least and most, the average over all executions, and how many of them reach
//! memory or LDS. The kernels are those of the transparency test for gfx90a at `-O2`. That test compares each
//! site with its plan, and this table with its counts.
//!
//! | counters | level | instructions | average | memory | LDS |
//! |---|---|---|---|---|---|
//! | global | basic | 6-8 | 6.7 | 1 | 0 |
//! | global | lanes | 10-15 | 10.4 | 1 | 0 |
//! | lds | basic | 6-8 | 6.7 | 0 | 1 |
//! | lds | lanes | 10-11 | 10.4 | 0 | 1 |
//! | register, SGPRs | basic | 1-6 | 4.4 | 0 | 0 |
//! | register, SGPRs | lanes | 1-10 | 7.8 | 0 | 0 |
//! | register, lanes of VGPRs | basic | 6-8 | 7.0 | 0 | 0 |
//! | register, lanes of VGPRs | lanes | 10-16 | 11.3 | 0 | 0 |
//!
//! On RDNA, in waves of 32 and of 64 lanes, least and most, and the average. (As much memory and LDS is
//! accessed. On gfx1201 there are waits for results among them; see
//! [`hazards`](crate::instrument::place::hazards).)
//!
//! | counters | level | gfx1030, 32 | gfx1030, 64 | gfx1100, 32 | gfx1100, 64 | gfx1201, 32 | gfx1201, 64 |
//! |---|---|---|---|---|---|---|---|
//! | global | basic | 6-8, 7.9 | 6-8, 7.8 | 6-8, 7.8 | 7-9, 8.8 | 6-9, 8.1 | 6-9, 8.1 |
//! | global | lanes | 10-11, 10.9 | 10-11, 10.9 | 10-11, 10.9 | 11-12, 11.9 | 10-13, 12.2 | 10-13, 12.5 |
//! | lds | basic | 6-8, 7.9 | 6-8, 7.8 | 6-8, 7.8 | 7-9, 8.8 | 6-9, 8.1 | 6-9, 8.1 |
//! | lds | lanes | 10-11, 10.9 | 10-11, 10.9 | 10-11, 10.9 | 11-12, 11.9 | 10-13, 12.2 | 10-13, 12.5 |
//! | register, SGPRs | basic | 1-7, 5.3 | 1-7, 5.3 | 1-7, 5.3 | 1-8, 5.8 | 1-9, 5.6 | 1-9, 5.7 |
//! | register, SGPRs | lanes | 1-10, 8.3 | 1-10, 8.4 | 1-10, 8.3 | 1-10, 8.4 | 1-13, 8.8 | 1-13, 9.0 |
//! | register, lanes of VGPRs | basic | 7-9, 8.7 | 7-9, 8.8 | 6-9, 8.6 | 7-10, 9.7 | 8-9, 8.8 | 8-9, 8.8 |
//! | register, lanes of VGPRs | lanes | 11-12, 11.8 | 11-12, 11.8 | 10-12, 11.7 | 11-13, 12.8 | 11-13, 12.8 | 11-14, 13.4 |

use amdgpu_isa::{Op, Value};

use super::assembler::{Assembled, Assembler};
use super::borrowed::Borrowed;
use super::sequence::{EmitError, Sequence, sgpr};
use crate::counters::WORDS_PER_SITE;
use crate::instrument::options::{Level, Probe};
use crate::instrument::registers::layout::{
    BorrowedVgprs, CounterPlace, Reserved, SPILLED_RECORD, SgprCounters, Temps, counter_offset,
};
use crate::instrument::registers::needs::SiteFacts;

/// All that the code of one site depends on.
#[derive(Clone, Debug)]
pub(crate) struct SiteCode<'a> {
    pub(crate) assembler: &'a Assembler,
    pub(crate) level: Level,
    pub(crate) place: CounterPlace,
    pub(crate) reserved: &'a Reserved,
    pub(crate) temps: Temps,
    pub(crate) facts: SiteFacts,
    /// Position in the record.
    pub(crate) id: u32,
}

impl SiteCode<'_> {
    /// What stands before the narrowing instruction.
    pub(crate) fn before(&self) -> Result<Vec<Assembled>, EmitError> {
        let mut code = Sequence::new(self.assembler);
        if let CounterPlace::Masks { old, .. } = self.place {
            if let Some(old) = old {
                code.move_mask(sgpr(old), Value::EXEC);
            }
            return code.finish();
        }
        self.borrowed().take(&mut code);
        if let (None, Some(old)) = (self.facts.saved, self.temps.old) {
            code.move_mask(sgpr(old), Value::EXEC);
        }
        code.finish()
    }

    /// What stands after it.
    pub(crate) fn after(&self) -> Result<Vec<Assembled>, EmitError> {
        if let CounterPlace::Masks { new, .. } = self.place {
            let mut code = Sequence::new(self.assembler);
            code.move_mask(sgpr(new), Value::EXEC);
            return code.finish();
        }
        self.count_by(|code, old| self.count(code, old))
    }

    /// What stands after it, if it counts so: with OLD, while SCC and what is borrowed are kept.
    pub(crate) fn count_by(
        &self,
        count: impl FnOnce(&mut Sequence, Value),
    ) -> Result<Vec<Assembled>, EmitError> {
        let mut code = Sequence::new(self.assembler);
        let old =
            sgpr(code.required("copy of the mask before the site", self.facts.saved.or(self.temps.old)));
        if let Some(scc) = self.temps.scc {
            code.sop2(Op::s_cselect_b32, scc, Value::int(1), Value::int(0));
        }
        count(&mut code, old);
        if let Some(scc) = self.temps.scc {
            code.sopc(Op::s_cmp_lg_u32, sgpr(scc), Value::int(0));
        }
        self.borrowed().give_back(&mut code);
        code.finish()
    }

    /// Adds to the counters.
    fn count(&self, code: &mut Sequence, old: Value) {
        match self.place {
            CounterPlace::Sgprs(counters) => self.count_in_sgprs(code, old, counters),
            // Of a block; dealt with above.
            CounterPlace::BlockSgprs { .. } | CounterPlace::Masks { .. } => {}
            CounterPlace::Lanes { vgpr, first } => {
                self.choose_lanes(code, old, first);
                let increment = match self.level {
                    Level::Lanes => Value::Vgpr(self.reserved.data),
                    Level::Basic => Value::int(1),
                };
                code.add_saturating(vgpr, increment);
                self.restore_exec(code);
            }
            CounterPlace::Lds => {
                self.choose_lanes(code, old, 0);
                code.ds_add(
                    self.reserved.offsets,
                    self.reserved.data,
                    counter_offset(Probe::Branches, self.id),
                );
                self.borrowed().return_lanes(code);
                self.restore_exec(code);
            }
            CounterPlace::Memory if self.reserved.borrowed_vgprs == BorrowedVgprs::Both => {
                self.add_one_by_one(code, old);
                self.restore_exec(code);
            }
            CounterPlace::Memory => {
                self.choose_lanes(code, old, 0);
                self.borrowed().add_to_memory(code, counter_offset(Probe::Branches, self.id));
                self.borrowed().return_lanes(code);
                self.restore_exec(code);
            }
        }
    }

    fn count_in_sgprs(&self, code: &mut Sequence, old: Value, counters: SgprCounters) {
        let add = |code: &mut Sequence, to: u8, what: Value| code.sop2(Op::s_add_u32, to, sgpr(to), what);
        // s_addc_u32 adds SCC itself.
        let add_scc = |code: &mut Sequence, to: u8| code.sop2(Op::s_addc_u32, to, sgpr(to), Value::int(0));
        let taken = match (counters.lanes, self.temps.singles[0]) {
            (Some([lanes_in, lanes_taken]), Some(temp)) => {
                code.count_lanes(temp, old);
                add(code, lanes_in, sgpr(temp));
                // Its SCC is NEW ≠ 0.
                code.count_lanes(temp, Value::EXEC);
                Some((lanes_taken, temp))
            }
            _ => {
                if !self.facts.scc_is_some {
                    code.has_lanes(Value::EXEC);
                }
                None
            }
        };
        // An empty NEW is not `all`, also when OLD was empty: compare it with -1 instead.
        let compared = match self.temps.pair {
            Some(pair) if !self.facts.old_is_nonzero => {
                code.select_mask(sgpr(pair), old, Value::int(-1));
                sgpr(pair)
            }
            _ => old,
        };
        // s_subb_u32 takes SCC away as well, which is NEW ≠ 0: one less than one more.
        code.sop2(Op::s_subb_u32, counters.none, sgpr(counters.none), Value::int(-1));
        if let Some((lanes_taken, temp)) = taken {
            add(code, lanes_taken, sgpr(temp));
        }
        code.are_equal(compared, Value::EXEC);
        add_scc(code, counters.all);
        add(code, counters.executions, Value::int(1));
    }

    /// Leaves enabled, of the lanes from `first` on, those whose counters an execution adds to: the mask is
    /// the increment, and the data VGPR has ones there, or the sums of lanes. NEW is in the pair.
    fn choose_lanes(&self, code: &mut Sequence, old: Value, first: u32) {
        let Some(new) = self.temps.pair else { return };
        let data = self.reserved.data;
        // As early as possible: a vector memory operation must not read it for some wait states.
        if let (Some(record), Some(spill)) = (self.temps.record, self.reserved.spill) {
            code.readlane(record, spill, SPILLED_RECORD);
            code.readlane(record + 1, spill, SPILLED_RECORD + 1);
        }
        code.move_mask(sgpr(new), Value::EXEC);
        self.borrowed().take_lanes(code);
        let sums = match (self.level, self.temps.singles) {
            (Level::Lanes, [Some(lanes_in), Some(taken), _]) => Some((lanes_in, taken)),
            _ => None,
        };
        // Lanes of `executions`, of the sums, and of `all` or `none`.
        let some = 0b001 | if sums.is_some() { 0b11000 } else { 0 };
        let [some, all, none] = [some, some | 0b010, some | 0b100].map(Value::int);
        // The masks are compared, not how many lanes they have: a mask that is set where all lanes are on may
        // have others than a partial wave was started with.
        match sums {
            None if self.facts.scc_is_some && self.facts.old_is_nonzero => {
                code.select_mask(Value::EXEC, some, none);
                code.are_equal(old, sgpr(new));
                code.select_mask(Value::EXEC, all, Value::EXEC);
            }
            _ => {
                // An empty NEW is not `all`, also when OLD was empty.
                code.are_equal(old, sgpr(new));
                code.select_mask(Value::EXEC, all, some);
                match sums {
                    Some((lanes_in, taken)) => {
                        code.count_lanes(lanes_in, old);
                        // Its SCC is NEW ≠ 0.
                        code.count_lanes(taken, sgpr(new));
                    }
                    None => code.has_lanes(sgpr(new)),
                }
                code.select_mask(Value::EXEC, Value::EXEC, none);
            }
        }
        if first > 0 {
            code.shift_exec(first);
        }
        if self.borrowed().borrows_data() {
            code.v_mov(data, Value::int(1));
        }
        if let Some((lanes_in, taken)) = sums {
            code.writelane(data, sgpr(lanes_in), first + 3);
            code.writelane(data, sgpr(taken), first + 4);
        }
    }

    /// Adds to each counter in memory by itself.
    fn add_one_by_one(&self, code: &mut Sequence, old: Value) {
        let (all, none, taken) = match (self.level, self.temps.singles) {
            (Level::Basic, [Some(all), Some(none), _]) => (all, none, None),
            (Level::Lanes, [Some(all), Some(none), Some(taken)]) => (all, none, Some(taken)),
            _ => return,
        };
        let Some(new) = self.temps.pair else { return };
        code.move_mask(sgpr(new), Value::EXEC);
        if let Some(taken) = taken {
            // What `all` is worked out in later.
            code.count_lanes(all, old);
            // Its SCC is NEW ≠ 0.
            code.count_lanes(taken, sgpr(new));
        } else if !self.facts.scc_is_some {
            code.has_lanes(sgpr(new));
        }
        code.sop2(Op::s_cselect_b32, none, Value::int(0), Value::int(1));
        self.borrowed().add_one_by_one(
            code,
            counter_offset(Probe::Branches, self.id),
            WORDS_PER_SITE,
            |code, add| {
                add(code, 0, Value::int(1));
                add(code, 2, sgpr(none));
                if let Some(taken) = taken {
                    add(code, 3, sgpr(all));
                    add(code, 4, sgpr(taken));
                }
                code.are_equal(old, sgpr(new));
                code.sop2(Op::s_cselect_b32, all, Value::int(1), Value::int(0));
                if !self.facts.old_is_nonzero {
                    code.sop2(Op::s_andn2_b32, all, sgpr(all), sgpr(none));
                }
                add(code, 1, sgpr(all));
            },
        );
    }

    const fn borrowed(&self) -> Borrowed<'_> {
        Borrowed { reserved: self.reserved, temps: &self.temps, place: self.place }
    }

    fn restore_exec(&self, code: &mut Sequence) {
        if let Some(new) = self.temps.pair {
            code.move_mask(Value::EXEC, sgpr(new));
        }
    }
}

/// The counters of level `basic`, the first of a site.
pub(crate) const BASIC_COUNTERS: u32 = 3;
