//! The code of the schemes of 2022.

use amdgpu_isa::{Arch, Op, Special, Value};

use super::{SITE_BYTES, SeedRegisters, image_bytes};
use crate::instrument::emit::assembler::{Assembled, Assembler};
use crate::instrument::emit::entry::Entry;
use crate::instrument::emit::sequence::{EmitError, Sequence, sgpr};
use crate::instrument::emit::site::SiteCode;
use crate::instrument::emit::workgroup::WorkgroupIds;
use crate::instrument::registers::deferred::Deferred;
use crate::instrument::registers::layout::{RecordPlace, Reserved, Temps};
use crate::instrument::registers::lds::{LdsImages, Start};
use crate::instrument::registers::scheme::SeedPlace;

/// SCC as a source operand.
const SCC: Value = Value::Special(Special::Scc);

impl SeedRegisters {
    /// What stands behind a narrowing instruction.
    pub(crate) fn after(&self, site: &SiteCode<'_>) -> Result<Vec<Assembled>, EmitError> {
        site.count_by(|code, old| {
            let record = record(code, site.reserved);
            self.count(code, old, &site.temps, record, site.id);
        })
    }

    /// The prologue.
    pub(crate) fn prologue(&self, entry: &Entry<'_>) -> Result<Vec<Assembled>, EmitError> {
        let mut code = Sequence::new(entry.assembler);
        let workgroup = entry.workgroup_ids(&mut code);
        let argument = entry.argument(&mut code);
        let at = match entry.lds {
            Some(LdsImages { start: Start::At(start), .. }) => start,
            _ => 0,
        };
        let address = self.enter(&mut code, (entry.arch, entry.first_temp()), argument, workgroup, at);
        entry.restore(&mut code);
        entry.keep_record(&mut code, address);
        self.start(&mut code);
        code.finish()
    }

    /// What stands before a wave ends.
    pub(crate) fn epilogue(
        &self,
        assembler: &Assembler,
        reserved: &Reserved,
    ) -> Result<Vec<Assembled>, EmitError> {
        let mut code = Sequence::new(assembler);
        let record = record(&mut code, reserved);
        self.leave(&mut code, record);
        code.finish()
    }

    /// The prologue but for its last part, with registers of its own from `first` on, the argument at a byte
    /// of what a pair points to, and the ids of the workgroup where they arrived; the pair with the address
    /// of the wave's counters. They start in LDS, if they are there, `at` such a byte.
    fn enter(
        &self,
        code: &mut Sequence,
        (arch, first): (Arch, u8),
        argument: (u8, u32),
        workgroup: WorkgroupIds,
        at: u32,
    ) -> u8 {
        if self.place != SeedPlace::Nowhere {
            code.read_clock(self.begin);
        }
        let place = Deferred::at(arch, first);
        place.begin_load(code, argument);
        place.keep_work_item(code, arch);
        code.wait_scalar_loads();
        if self.place != SeedPlace::Lds {
            return place.resolve(code, arch, workgroup, None);
        }
        let record = place.resolve(code, arch, workgroup, Some((self.image, image_bytes(self.sites))));
        code.sop2(Op::s_add_u32, self.image, sgpr(self.image), Value::int(at as i32));
        record
    }

    /// The prologue's last part: all registers but these are the program's.
    fn start(&self, code: &mut Sequence) {
        if self.place == SeedPlace::Lds {
            code.v_mov(self.address, sgpr(self.image));
            for half in 0..2 {
                code.v_mov(self.data + half, Value::int(0));
            }
            for site in 0..self.sites {
                code.ds_write_pair(self.address, self.data, SITE_BYTES * site);
            }
        }
        code.v_mov(self.limit, Value::int(-1));
        if self.place == SeedPlace::Nowhere {
            code.read_clock(self.begin);
        }
    }

    /// Counts an execution of a site. `old` is OLD, `record` the pair with the address in memory.
    fn count(&self, code: &mut Sequence, old: Value, temps: &Temps, record: u8, site: u32) {
        let (Some(saved), [Some(low), Some(high), _]) = (temps.pair, temps.singles) else { return };
        let lds = self.place == SeedPlace::Lds;
        code.move_mask(sgpr(saved), Value::EXEC);
        code.move_mask(Value::EXEC, Value::int(1));
        code.sop1(Op::s_mov_b32, sgpr(low), Value::int((SITE_BYTES * site) as i32));
        code.sop2(Op::s_add_u32, low, sgpr(if lds { self.image } else { record }), sgpr(low));
        if !lds {
            code.sop2(Op::s_addc_u32, high, sgpr(record + 1), Value::int(0));
        }
        code.v_mov(self.address, sgpr(low));
        if !lds {
            code.v_mov(self.address + 1, sgpr(high));
        }
        for compared in [old, Value::int(0)] {
            code.sopc(Op::s_cmp_eq_u64, compared, sgpr(saved));
            code.v_mov(self.data, SCC);
            if lds {
                code.ds_add(self.address, self.data, 0);
                code.wait_for_all();
            } else {
                code.global_atomic_at(Op::global_atomic_add, self.address, self.data, 0);
            }
        }
        if lds {
            code.ds_increment(self.address, self.limit, 4);
        } else {
            code.global_atomic_at(Op::global_atomic_inc, self.address, self.limit, 4);
        }
        code.wait_for_all();
        code.move_mask(Value::EXEC, sgpr(saved));
    }

    /// Before the wave ends: copies its counters from LDS to memory, and writes the clock's readings.
    fn leave(&self, code: &mut Sequence, record: u8) {
        code.move_mask(Value::EXEC, Value::int(1));
        for half in 0..2 {
            code.v_mov(self.address + half, sgpr(record + half));
        }
        if self.place == SeedPlace::Lds {
            code.v_mov(self.limit, sgpr(self.image));
            for site in 0..self.sites {
                code.ds_read_pair(self.data, self.limit, SITE_BYTES * site);
                code.wait_for_all();
                code.global_store_pair_through(self.address, self.data, (SITE_BYTES * site) as i32);
                code.wait_for_all();
            }
        }
        code.read_clock(self.end);
        let behind = image_bytes(self.sites) as i32;
        for (clock, at) in [(self.begin, behind), (self.end, behind + 8)] {
            for half in 0..2 {
                code.v_mov(self.data + half, sgpr(clock + half));
            }
            code.global_store_pair_through(self.address, self.data, at);
            if clock == self.begin {
                code.wait_for_all();
            }
        }
    }
}

/// The pair with the address of the wave's counters in memory.
fn record(code: &mut Sequence, reserved: &Reserved) -> u8 {
    let pair = match reserved.record {
        RecordPlace::Sgprs(pair) => Some(pair),
        RecordPlace::Spilled => None,
    };
    code.required("pair for the address of the wave's counters", pair)
}
