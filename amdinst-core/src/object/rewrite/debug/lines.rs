//! Line tables.

use gimli::LineEncoding;
use gimli::write::{
    Address, ConvertLineProgram, ConvertLineSequence, ConvertLineSequenceEnd, ConvertUnit, FileId,
    LineProgram,
};

use super::{Moves, Problem, Reader};

/// Bytes of the smallest instruction, of which every address is a multiple.
const DWORD: u64 = 4;

/// The line table of a unit, if it has one, with the new numbers of its files.
pub(super) fn convert(
    unit: &mut ConvertUnit<'_, Reader<'_>>,
    moves: &Moves<'_>,
) -> Result<Option<(LineProgram, Vec<FileId>)>, Problem> {
    if let Some(program) = &unit.read_unit.line_program {
        writable(unit, program.header())?;
    }
    let encoding = LineEncoding { minimum_instruction_length: DWORD as u8, ..LineEncoding::default() };
    let Some(mut program) = unit.read_line_program(None, Some(encoding))? else { return Ok(None) };
    let mut previous: Option<u64> = None;
    while let Some(sequence) = program.read_sequence()? {
        // Two sequences without an end between them are one.
        let continues = matches!(sequence.end, ConvertLineSequenceEnd::Address(_));
        previous = sequence_of(&mut program, &sequence, previous, moves)?.filter(|_| continues);
    }
    Ok(Some(program.program()))
}

/// What `gimli` asserts of what it writes.
fn writable(
    unit: &ConvertUnit<'_, Reader<'_>>,
    header: &gimli::LineProgramHeader<Reader<'_>>,
) -> Result<(), Problem> {
    let is_empty =
        |name| -> Result<bool, Problem> { Ok(unit.read_unit.dwarf.attr_line_string(name)?.is_empty()) };
    for directory in header.include_directories() {
        if header.version() <= 4 && is_empty(*directory)? {
            return Err(Problem("a directory of its line table has no name".to_owned()));
        }
    }
    let mut instructions = header.instructions();
    while let Some(instruction) = instructions.next_instruction(header)? {
        if matches!(instruction, gimli::LineInstruction::DefineFile(_)) {
            return Err(Problem("its line table defines files as it goes".to_owned()));
        }
    }
    Ok(())
}

/// Writes a sequence's rows. Returns the last new address, none when the sequence is of code that is not there.
fn sequence_of(
    program: &mut ConvertLineProgram<'_, Reader<'_>>,
    sequence: &ConvertLineSequence,
    previous: Option<u64>,
    moves: &Moves<'_>,
) -> Result<Option<u64>, Problem> {
    let Some(old_start) = sequence.start else { return Ok(None) };
    let Some(start) = moves.start(old_start) else { return Ok(None) };
    let at = |offset: u64| old_start.checked_add(offset);
    let mut last = previous.unwrap_or(start);
    let mut offset_of = |new: Option<u64>| {
        let new = new.filter(|new| *new >= last && (*new - start).is_multiple_of(DWORD));
        let new = new.ok_or_else(|| Problem("the rows of its line table are not in order".to_owned()))?;
        last = new;
        Ok::<_, Problem>(new - start)
    };
    program.set_address(Address::Constant(start));
    for row in &sequence.rows {
        let address_offset = offset_of(at(row.address_offset).and_then(|old| moves.start(old)))?;
        program.generate_row(gimli::write::LineRow { address_offset, op_index: 0, ..*row });
    }
    if let ConvertLineSequenceEnd::Length(length) = sequence.end {
        program.end_sequence(offset_of(at(length).and_then(|old| moves.end(old)))?);
    }
    Ok(Some(last))
}
