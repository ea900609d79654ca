//! The instructions that count one execution of a block: how often, and with how many lanes.
//!
//! They stand before one of the block's instructions, all of which run as often and with the same EXEC; where
//! SCC is dead before one of them, before that. In SGPRs they are three scalar instructions. Counters
//! elsewhere get their two increments as two lanes of a VGPR, as those of sites do ([`site`](super::site)).

use amdgpu_isa::{Op, Value};

use super::assembler::{Assembled, Assembler};
use super::borrowed::Borrowed;
use super::sequence::{EmitError, Sequence, sgpr};
use crate::instrument::options::Probe;
use crate::instrument::registers::layout::{
    BorrowedVgprs, CounterPlace, Reserved, SPILLED_RECORD, Temps, counter_offset,
};

/// All that the code of one block depends on.
#[derive(Clone, Debug)]
pub(crate) struct BlockCode<'a> {
    pub(crate) assembler: &'a Assembler,
    pub(crate) place: CounterPlace,
    pub(crate) reserved: &'a Reserved,
    pub(crate) temps: Temps,
    /// Position in the record.
    pub(crate) id: u32,
}

impl BlockCode<'_> {
    pub(crate) fn code(&self) -> Result<Vec<Assembled>, EmitError> {
        let mut code = Sequence::new(self.assembler);
        let borrowed = self.borrowed();
        borrowed.take(&mut code);
        if let Some(scc) = self.temps.scc {
            code.sop2(Op::s_cselect_b32, scc, Value::int(1), Value::int(0));
        }
        let Reserved { offsets, data, .. } = *self.reserved;
        match self.place {
            CounterPlace::BlockSgprs { executions, lanes } => {
                if let (Some(lanes), Some(temp)) = (lanes, self.temps.singles[0]) {
                    code.count_lanes(temp, Value::EXEC);
                    code.sop2(Op::s_add_u32, lanes, sgpr(lanes), sgpr(temp));
                }
                code.sop2(Op::s_add_u32, executions, sgpr(executions), Value::int(1));
            }
            CounterPlace::Lanes { vgpr, first } => {
                self.increments(&mut code, first);
                code.add_saturating(vgpr, Value::Vgpr(data));
            }
            CounterPlace::Lds => {
                self.increments(&mut code, 0);
                code.ds_add(offsets, data, counter_offset(Probe::Blocks, self.id));
                borrowed.return_lanes(&mut code);
            }
            CounterPlace::Memory if self.reserved.borrowed_vgprs == BorrowedVgprs::Both => {
                self.add_one_by_one(&mut code)
            }
            CounterPlace::Memory => {
                self.increments(&mut code, 0);
                borrowed.add_to_memory(&mut code, counter_offset(Probe::Blocks, self.id));
                borrowed.return_lanes(&mut code);
            }
            // Of a site.
            CounterPlace::Sgprs(_) | CounterPlace::Masks { .. } => {}
        }
        if let Some(mask) = self.temps.pair {
            code.move_mask(Value::EXEC, sgpr(mask));
        }
        if let Some(scc) = self.temps.scc {
            code.sopc(Op::s_cmp_lg_u32, sgpr(scc), Value::int(0));
        }
        borrowed.give_back(&mut code);
        code.finish()
    }

    /// Adds to each counter in memory by itself. EXEC is in the pair then.
    fn add_one_by_one(&self, code: &mut Sequence) {
        let Some(mask) = self.temps.pair else { return };
        code.move_mask(sgpr(mask), Value::EXEC);
        if let Some(lanes) = self.temps.singles[0] {
            code.count_lanes(lanes, sgpr(mask));
        }
        let words = Probe::Blocks.words();
        self.borrowed().add_one_by_one(code, counter_offset(Probe::Blocks, self.id), words, |code, add| {
            add(code, 0, Value::int(1));
            if let Some(lanes) = self.temps.singles[0] {
                add(code, 1, sgpr(lanes));
            }
        });
    }

    const fn borrowed(&self) -> Borrowed<'_> {
        Borrowed { reserved: self.reserved, temps: &self.temps, place: self.place }
    }

    /// Leaves the increments in lanes `first` and the next of the data VGPR, and only these enabled. EXEC is
    /// in the pair.
    fn increments(&self, code: &mut Sequence, first: u32) {
        let Some(mask) = self.temps.pair else { return };
        let data = self.reserved.data;
        if let (Some(record), Some(spill)) = (self.temps.record, self.reserved.spill) {
            code.readlane(record, spill, SPILLED_RECORD);
            code.readlane(record + 1, spill, SPILLED_RECORD + 1);
        }
        code.move_mask(sgpr(mask), Value::EXEC);
        self.borrowed().take_lanes(code);
        // Where the lanes are always the same, the first has its increment from the prologue on.
        if self.borrowed().forgets_data() {
            code.writelane(data, Value::int(1), first);
        }
        let words = match self.temps.singles[0] {
            Some(lanes) => {
                code.count_lanes(lanes, sgpr(mask));
                code.writelane(data, sgpr(lanes), first + 1);
                Probe::Blocks.words()
            }
            None => 1,
        };
        code.enable_lanes(words, first);
    }
}
