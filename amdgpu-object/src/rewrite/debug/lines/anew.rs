//! Line tables row by row: sequences end where code that stays meets code that moves (DWARF 5, section
//! 6.2.5).

use gimli::{IncompleteLineProgram, LineRow, constants as dw};

use super::super::{AddressMap, Moves, Problem, Reader, put_uleb};
use super::put_extended;

/// What instructions change, beside what each row says for itself.
#[derive(Clone, Copy)]
struct Registers {
    address: u64,
    file: u64,
    line: u64,
    column: u64,
    is_stmt: bool,
    isa: u64,
}

impl Registers {
    /// As they are at the beginning of a sequence.
    const fn at(address: u64, is_stmt: bool) -> Self {
        Self { address, file: 1, line: 1, column: 0, is_stmt, isa: 0 }
    }
}

struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// Bytes of the shortest instruction.
    least: u64,
}

/// Appends the instructions that make the rows of `program` at the new addresses.
pub(super) fn rows(
    out: &mut Vec<u8>,
    program: IncompleteLineProgram<Reader<'_>>,
    moves: &Moves<'_, impl AddressMap>,
) -> Result<(), Problem> {
    let header = program.header();
    let least = u64::from(header.minimum_instruction_length().max(1));
    let is_stmt = header.default_is_stmt();
    // Code that the linker dropped has no new address.
    let place = |old: u64| moves.start(old).unwrap_or(old);
    let stays = |old: u64| place(old) == old;
    let mut writer = Writer { out, least };
    let mut machine = program.rows();
    // Of the sequence that is being written: the last row's old address, and what it left.
    let mut open: Option<(u64, Registers)> = None;
    while let Some((_, row)) = machine.next_row()? {
        let old = row.address();
        let new = place(old);
        if let Some((last, registers)) = open
            && (row.end_sequence() || stays(last) != stays(old) || new < registers.address)
        {
            let mut behind = moves.inside(last..old).step_by(usize::try_from(least)?);
            let end = behind.find(|&pc| stays(pc) != stays(last)).unwrap_or(old);
            writer.advance(registers.address, moves.end(end).unwrap_or(end))?;
            put_extended(writer.out, &[dw::DW_LNE_end_sequence.0]);
            open = None;
        }
        if row.end_sequence() {
            continue;
        }
        let (last, registers) = open.get_or_insert_with(|| {
            put_extended(writer.out, &[&[dw::DW_LNE_set_address.0][..], &new.to_le_bytes()].concat());
            (old, Registers::at(new, is_stmt))
        });
        *last = old;
        writer.row(registers, row, new)?;
    }
    Ok(())
}

impl Writer<'_> {
    fn row(&mut self, registers: &mut Registers, row: &LineRow, new: u64) -> Result<(), Problem> {
        let line = row.line().map_or(0, |line| line.get());
        let column = match row.column() {
            gimli::ColumnType::LeftEdge => 0,
            gimli::ColumnType::Column(column) => column.get(),
        };
        for (opcode, old, new) in [
            (dw::DW_LNS_set_file, &mut registers.file, row.file_index()),
            (dw::DW_LNS_set_column, &mut registers.column, column),
            (dw::DW_LNS_set_isa, &mut registers.isa, row.isa()),
        ] {
            if *old != new {
                self.out.push(opcode.0);
                put_uleb(self.out, new);
                *old = new;
            }
        }
        if registers.line != line {
            self.out.push(dw::DW_LNS_advance_line.0);
            leb128(self.out, line.wrapping_sub(registers.line) as i64);
            registers.line = line;
        }
        if registers.is_stmt != row.is_stmt() {
            self.out.push(dw::DW_LNS_negate_stmt.0);
            registers.is_stmt = row.is_stmt();
        }
        for (opcode, is_set) in [
            (dw::DW_LNS_set_basic_block, row.basic_block()),
            (dw::DW_LNS_set_prologue_end, row.prologue_end()),
            (dw::DW_LNS_set_epilogue_begin, row.epilogue_begin()),
        ] {
            if is_set {
                self.out.push(opcode.0);
            }
        }
        if row.discriminator() != 0 {
            let mut body = vec![dw::DW_LNE_set_discriminator.0];
            put_uleb(&mut body, row.discriminator());
            put_extended(self.out, &body);
        }
        self.advance(registers.address, new)?;
        registers.address = new;
        self.out.push(dw::DW_LNS_copy.0);
        Ok(())
    }

    fn advance(&mut self, from: u64, to: u64) -> Result<(), Problem> {
        let distance = to.checked_sub(from).filter(|distance| distance % self.least == 0);
        let distance = distance.ok_or_else(|| Problem::new("the rows of its line table are not in order"))?;
        if distance > 0 {
            self.out.push(dw::DW_LNS_advance_pc.0);
            put_uleb(self.out, distance / self.least);
        }
        Ok(())
    }
}

/// Appends a number with a sign (DWARF 5, section 7.6).
fn leb128(out: &mut Vec<u8>, mut value: i64) {
    loop {
        let low = value as u8 & 0x7f;
        value >>= 7;
        let is_last = value == if low & 0x40 == 0 { 0 } else { -1 };
        out.push(if is_last { low } else { low | 0x80 });
        if is_last {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use gimli::{DebugLine, DebugLineOffset};
    use proptest::prelude::*;

    use super::super::super::{ADDRESS, reader};
    use super::super::tests::{CODE, instruction, rows as rows_of, table};
    use super::*;
    use crate::rewrite::Edge;

    /// The first 64 bytes of each 256 stay; the rest is twice as long.
    fn place(old: u64, edge: Edge) -> Option<u64> {
        let byte = if edge == Edge::End { old - 1 } else { old };
        Some(if (byte - CODE) % 256 < 64 { old } else { 0x4_0000 + 2 * (old - CODE) })
    }

    #[test]
    fn numbers_with_a_sign() {
        for value in [0, 1, -1, 63, 64, -64, -65, 8191, -8193, i64::MAX, i64::MIN] {
            let mut bytes = Vec::new();
            leb128(&mut bytes, value);
            let mut rest = reader(&bytes);
            assert_eq!(gimli::Reader::read_sleb128(&mut rest).ok(), Some(value));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]
        #[test]
        fn each_row_is_where_its_code_is(instructions in prop::collection::vec(instruction(), 0..60)) {
            let mut program = vec![0, 1 + ADDRESS as u8, dw::DW_LNE_set_address.0];
            program.extend(CODE.to_le_bytes());
            program.extend(instructions.concat());
            program.extend([dw::DW_LNS_advance_pc.0, 4, 0, 1, dw::DW_LNE_end_sequence.0]);
            let old = table(&program);
            let moves = Moves { address_map: &place, code: CODE..2 * CODE, new_end: Some(6 * CODE) };
            let (new, _) = super::super::rewrite(&old, &moves).map_err(|Problem(text)| TestCaseError::fail(text))?;
            let place = |old| place(old, Edge::Start).expect("code");
            let is_row = |row: &String| !row.ends_with("true");
            let expected: Vec<_> = rows_of(&old, place)?.into_iter().filter(is_row).collect();
            let found: Vec<_> = rows_of(&new, |address| address)?.into_iter().filter(is_row).collect();
            prop_assert_eq!(found, expected);
            // Addresses ascend within a sequence.
            let section = DebugLine::from(reader(&new));
            let mut machine = section.program(DebugLineOffset(0), ADDRESS as u8, None, None)?.rows();
            let mut last = 0;
            while let Some((_, row)) = machine.next_row()? {
                prop_assert!(last <= row.address());
                last = if row.end_sequence() { 0 } else { row.address() };
            }
        }
    }
}
