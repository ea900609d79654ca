//! The epilogue: writes the record before the wave ends, or copies it from LDS.
//!
//! Nothing is live any more at `s_endpgm`, so it uses what it likes, but for registers into which a load or a
//! matrix instruction may still write: `offsets` and `data` are chosen to be none of these. A store need not
//! be waited for before the wave ends.

use amdgpu_isa::{Arch, LAST_SGPR, Op, Reg, Value};

use super::assembler::{Assembled, Assembler};
use super::sequence::{EmitError, Sequence, sgpr};
use crate::counters::RECORD_HEADER_WORDS;
use crate::instrument::options::{Home, Level, Probe};
use crate::instrument::registers::layout::{
    BEGIN_WORD, BeginPlace, BorrowedVgprs, CounterPlace, RecordPlace, Reserved, SPILL_LANES, SPILLED_RECORD,
    counter_offset, points_per_vgpr,
};
use crate::instrument::registers::stores::Stores;

/// All that an epilogue depends on.
#[derive(Clone, Debug)]
pub(crate) struct Exit<'a> {
    pub(crate) arch: Arch,
    pub(crate) assembler: &'a Assembler,
    pub(crate) probe: Probe,
    pub(crate) home: Home,
    pub(crate) level: Level,
    pub(crate) reserved: &'a Reserved,
    /// By site id.
    pub(crate) places: &'a [CounterPlace],
    /// The record's address, where the prologue leaves that for later, has been worked out.
    pub(crate) early: bool,
}

/// Word of the record with the low half of the time at the end.
const END_WORD: u32 = BEGIN_WORD + 2;

/// A word of the record on its way out.
#[derive(Clone, Copy)]
enum Word {
    Constant(i32),
    Sgpr(u8),
}

impl Exit<'_> {
    pub(crate) fn code(&self) -> Result<Vec<Assembled>, EmitError> {
        let mut code = Sequence::new(self.assembler);
        let Reserved { offsets, .. } = *self.reserved;
        if let Some(begin) = self.reserved.begin {
            self.times(&mut code, begin);
            return code.finish();
        }
        if let (Some(slots), Some(spill)) = (self.reserved.scratch, self.reserved.spill) {
            let address = slots.by_register.then(|| {
                // A scalar load that nobody waited for may still write to it.
                code.wait_scalar_loads();
                code.required("SGPR beside the record's address", self.beside_record())
            });
            code.enable_lanes(SPILL_LANES, 0);
            let scratch = code.scratch(slots, address);
            code.scratch_load(spill, scratch.image);
            code.wait_vector_memory();
        }
        let record = if let Some(deferred) = &self.reserved.deferred {
            if !self.early {
                deferred.finish(&mut code, self.arch);
            }
            let free = |vgpr: u8| self.reserved.free_vgprs.contains(Reg::vgpr(vgpr));
            if self.reserved.packed
                && let Some(stores) = Stores::plan(self.places, free)
            {
                deferred.write(&mut code, self.arch, &stores);
                return code.finish();
            }
            deferred.address(&mut code)
        } else {
            self.record(&mut code)
        };
        if self.home == Home::Lds {
            self.copy_image(&mut code, record);
            return code.finish();
        }
        if self.home != Home::Global || self.reserved.borrowed_vgprs != BorrowedVgprs::Neither {
            code.enable_all_lanes();
            code.lane_offsets(offsets);
        }
        let header = [Word::Constant(1), Word::Constant(0)];
        let mut words = Vec::new();
        for place in self.places {
            if let CounterPlace::BlockSgprs { executions, lanes } = *place {
                words.extend([Word::Sgpr(executions), lanes.map_or(Word::Constant(0), Word::Sgpr)]);
            }
            if let CounterPlace::Sgprs(counters) = place {
                words.extend([counters.executions, counters.all, counters.none].map(Word::Sgpr));
                match counters.lanes {
                    Some(lanes) => words.extend(lanes.map(Word::Sgpr)),
                    None => words.extend([Word::Constant(0); 2]),
                }
            }
        }
        debug_assert!(
            self.level == Level::Lanes
                || self.places.iter().all(|place| match place {
                    CounterPlace::Sgprs(counters) => counters.lanes.is_none(),
                    _ => true,
                })
        );
        // What is added in memory stands before what is kept in registers, if there are both.
        let far = self.places.iter().take_while(|place| **place == CounterPlace::Memory).count() as u32;
        if far == 0 || words.is_empty() {
            self.write(&mut code, record, &[&header[..], &words].concat(), 0);
        } else {
            self.write(&mut code, record, &header, 0);
            code.enable_all_lanes();
            self.write(&mut code, record, &words, counter_offset(self.probe, far));
        }
        let each = points_per_vgpr(self.probe, self.assembler.wave_size());
        let lane_points =
            self.places.iter().filter(|place| matches!(place, CounterPlace::Lanes { .. })).count();
        for (number, &vgpr) in self.reserved.counter_vgprs.iter().enumerate() {
            let first = number * each;
            let points = lane_points.saturating_sub(first).min(each) as u32;
            let at = counter_offset(self.probe, far + first as u32);
            self.store(&mut code, record, vgpr, self.probe.words() * points, at);
        }
        code.finish()
    }

    /// Writes words from byte `at` of the record on. All lanes are on that the first has, which may be all.
    fn write(&self, code: &mut Sequence, record: u8, words: &[Word], mut at: u32) {
        for chunk in words.chunks(code.lanes() as usize) {
            let has_zeros = chunk.iter().any(|word| matches!(word, Word::Constant(0)));
            if has_zeros {
                code.v_mov(self.reserved.data, Value::int(0));
            }
            for (lane, word) in (0..).zip(chunk) {
                let value = match *word {
                    Word::Constant(0) => continue,
                    Word::Constant(value) => Value::int(value),
                    Word::Sgpr(register) => sgpr(register),
                };
                code.writelane(self.reserved.data, value, lane);
            }
            self.store(code, record, self.reserved.data, chunk.len() as u32, at);
            at += 4 * chunk.len() as u32;
        }
    }

    /// Copies the wave's image of its record from LDS to memory. The pair at `record` has the distance
    /// between them.
    fn copy_image(&self, code: &mut Sequence, record: u8) {
        let Reserved { offsets, data, .. } = *self.reserved;
        // What is spilled is needed no more: all lanes get addresses again.
        let image = match self.reserved.may_end_with(record + 2) {
            true => record + 2,
            false => {
                let mut others = (0..=LAST_SGPR).step_by(2);
                let image = others.find(|&pair| pair != record && self.reserved.may_end_with(pair));
                // A scalar load that nobody waited for may still write to it.
                code.wait_scalar_loads();
                code.required("SGPR for where the record is in LDS", image)
            }
        };
        code.readlane(image, offsets, 0);
        code.enable_all_lanes();
        code.lane_offsets(offsets);
        code.vop2(Op::v_add_u32, offsets, sgpr(image), offsets);
        let words = RECORD_HEADER_WORDS + self.probe.words() * self.places.len() as u32;
        let lanes = code.lanes();
        for at in (0..words).step_by(lanes as usize) {
            let end = code.offset_end();
            let offset = 4 * at % end;
            if at > 0 && offset == 0 {
                code.vop2(Op::v_add_u32, offsets, Value::int(end as i32), offsets);
            }
            if words - at < lanes {
                code.enable_lanes(words - at, 0);
            }
            code.ds_read(data, offsets, offset);
            code.wait_lds();
            code.global_store(offsets, data, record, offset as i32);
        }
    }

    /// Reads the clock, first of all, and writes the record.
    fn times(&self, code: &mut Sequence, begin: BeginPlace) {
        let Reserved { offsets, data, end: (end, waits), .. } = *self.reserved;
        if waits {
            code.wait_scalar_loads();
        }
        code.read_clock(end);
        code.wait_scalar_loads();
        let record = self.record(code);
        if begin != BeginPlace::Memory {
            code.enable_all_lanes();
            code.lane_offsets(offsets);
        }
        let mut words = vec![
            (0, Value::int(1)),
            (1, Value::int(0)),
            (END_WORD, sgpr(end)),
            (END_WORD + 1, sgpr(end + 1)),
        ];
        if let BeginPlace::Sgprs(begin) = begin {
            words.extend([(BEGIN_WORD, sgpr(begin)), (BEGIN_WORD + 1, sgpr(begin + 1))]);
        }
        for (lane, value) in words {
            code.writelane(data, value, lane);
        }
        if begin == BeginPlace::Memory {
            // The time of entry is there already: lanes 0, 1, 4 and 5.
            code.move_mask(Value::EXEC, Value::int(0b11_0011));
        } else {
            code.enable_lanes(END_WORD + 2, 0);
        }
        code.global_store(offsets, data, record, 0);
    }

    /// The pair with the record's address: its own, or one that it is put into now.
    fn record(&self, code: &mut Sequence) -> u8 {
        match (self.reserved.record, self.reserved.spill) {
            (RecordPlace::Sgprs(record), _) => record,
            (RecordPlace::Spilled, spill) => {
                let Reserved { counters, begin, end, .. } = self.reserved;
                let times =
                    |pair| begin.is_some_and(|begin| pair == end.0 || begin == BeginPlace::Sgprs(pair));
                let free = |&pair: &u8| {
                    let counts = counters.contains(&pair) || counters.contains(&(pair + 1));
                    !counts && !times(pair) && self.reserved.may_end_with(pair)
                };
                let record = (0..=LAST_SGPR).step_by(2).find(free);
                let record = code.required("pair for the record's address", record);
                let spill = code.required("VGPR that the record's address is spilled in", spill);
                // A scalar load that nobody waited for may still write to it.
                code.wait_scalar_loads();
                code.readlane(record, spill, SPILLED_RECORD);
                code.readlane(record + 1, spill, SPILLED_RECORD + 1);
                record
            }
        }
    }

    /// An SGPR that is none of the pair with the record's address.
    fn beside_record(&self) -> Option<u8> {
        let is_record = |pair: u8| self.reserved.record == RecordPlace::Sgprs(pair);
        let mut pairs = (0..=LAST_SGPR).step_by(2);
        pairs.find(|&pair| !is_record(pair) && self.reserved.may_end_with(pair))
    }

    /// Stores lanes `0..lanes` of `data` at byte `at` of the record.
    fn store(&self, code: &mut Sequence, record: u8, data: u8, lanes: u32, at: u32) {
        let offsets = self.reserved.offsets;
        if at >= code.offset_end() {
            code.enable_all_lanes();
            code.vop2(Op::v_add_u32, offsets, Value::int(at as i32), offsets);
            code.enable_lanes(lanes, 0);
            code.global_store(offsets, data, record, 0);
            code.enable_all_lanes();
            code.vop2(Op::v_subrev_u32, offsets, Value::int(at as i32), offsets);
        } else {
            code.enable_lanes(lanes, 0);
            code.global_store(offsets, data, record, at as i32);
        }
    }
}

/// Words of the record's head, which the first store writes.
const _: () = assert!(RECORD_HEADER_WORDS == 2);
