//! What the memory instructions of a launch asked for, with their places in the source.

use amdgpu_object::CodeObject;
use amdgpu_object::lines::SourceMap;
use amdinst_emu::{AccessKind, Execution, MemoryRecord, MemorySpace, MemorySums};
use amdinst_format::report::{
    InstructionMemory, MemoryAccess, MemoryFigures, MemoryPlace, MemoryRules, MemoryUse, MemoryVerb,
};

use crate::timing::own_line;

/// What a launch of a kernel of an object asked for, if that was recorded
/// ([`Launch::record_memory`](amdinst_emu::Launch::record_memory)).
pub fn memory_use(kernel: &str, object: &CodeObject, execution: &Execution) -> MemoryUse {
    let map = SourceMap::new(object).ok();
    let limits = object.target.arch.limits();
    let instruction = |record: &MemoryRecord| {
        let (file, line) = own_line(map.as_ref(), record.pc).unzip();
        let access = MemoryAccess { memory: place(record.space), access: verb(record.access) };
        InstructionMemory { pc: record.pc, file, line, access, figures: figures(&record.sums) }
    };
    MemoryUse {
        kernel: kernel.to_owned(),
        rules: MemoryRules {
            line_bytes: limits.vector_line_bytes,
            lds_phases_of: limits.lds_banks.measured_on.map(str::to_owned),
        },
        instructions: execution.memory.iter().map(instruction).collect(),
    }
}

fn place(space: MemorySpace) -> MemoryPlace {
    match space {
        MemorySpace::Global | MemorySpace::Scalar => MemoryPlace::Global,
        MemorySpace::Lds => MemoryPlace::Lds,
        MemorySpace::Scratch => MemoryPlace::Scratch,
    }
}

fn verb(access: AccessKind) -> MemoryVerb {
    match access {
        AccessKind::Read => MemoryVerb::Load,
        AccessKind::Write => MemoryVerb::Store,
        AccessKind::Atomic => MemoryVerb::Atomic,
    }
}

fn figures(sums: &MemorySums) -> MemoryFigures {
    let MemorySums {
        executions,
        lanes,
        bytes,
        lines: [lines_64, lines_128],
        least_lines: [least_lines_64, least_lines_128],
        bank_cycles,
        least_bank_cycles,
        turns,
        most_turns,
    } = *sums;
    MemoryFigures {
        executions,
        lanes,
        bytes,
        lines_64,
        lines_128,
        least_lines_64,
        least_lines_128,
        bank_cycles,
        least_bank_cycles,
        turns,
        most_turns,
    }
}
