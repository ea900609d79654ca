//! Line tables: the instructions that advance addresses are written anew where the distance changed, all
//! others are copied (DWARF 5, section 6.2.5).
//!
//! Where some code stays, a sequence of the old table may go on in several places. Such tables are written
//! [anew] as a whole.

mod anew;

use gimli::{DebugLine, DebugLineOffset, LineProgramHeader, Reader as _, constants as dw};

use super::{ADDRESS, AddressMap, Moved, Moves, Problem, Reader, offset, put, put_uleb, reader};
use crate::lines::leb;

/// The new section, and where its tables went.
pub(super) fn rewrite(old: &[u8], moves: &Moves<'_, impl AddressMap>) -> Result<(Vec<u8>, Moved), Problem> {
    let all = reader(old);
    let section = DebugLine::from(all);
    let mut out = Vec::with_capacity(old.len() + old.len() / 4);
    let mut moved = Moved::default();
    let mut rest = all;
    while !rest.is_empty() {
        let (start, new_start) = (offset(&rest, &all), out.len());
        let (length, format) = rest.read_initial_length()?;
        let table = rest.split(length)?;
        moved.note(start, new_start);
        let program = section.program(DebugLineOffset(start), ADDRESS as u8, None, None)?;
        let header = program.header();
        if usize::from(header.address_size()) != ADDRESS || header.maximum_operations_per_instruction() > 1 {
            return Err(Problem::new("its line table is of an unknown form"));
        }
        let mut instructions = header.raw_program_buf();
        if instructions.len() > table.len() {
            return Err(Problem::new("its line table is damaged"));
        }
        let end = start + usize::from(format.initial_length_size()) + length;
        out.extend(&old[start..end - instructions.len()]);
        if moves.new_end.is_some() {
            anew::rows(&mut out, program, moves)?;
        } else {
            let operands = header.standard_opcode_lengths().slice();
            let at = RowAddress::default();
            let plain = plain(operands);
            let mut writer = Writer { out, header, operands, plain, moves, at, all: instructions, copied: 0 };
            while writer.is_before_instruction(&mut instructions)? {
                writer.instruction(&mut instructions)?;
            }
            writer.copy_to(writer.all.len());
            out = writer.out;
        }
        let length_size = usize::from(format.initial_length_size());
        let word = usize::from(format.word_size());
        let new_length = out.len() - new_start - length_size;
        put(&mut out, new_start + length_size - word, word, new_length as u64)?;
    }
    Ok((out, moved))
}

/// Appends an extended instruction.
fn put_extended(out: &mut Vec<u8>, body: &[u8]) {
    /// Announces an extended opcode.
    const EXTENDED: u8 = 0;
    out.push(EXTENDED);
    put_uleb(out, body.len() as u64);
    out.extend(body);
}

/// The address of the next row: in the old code, and, as far as it was written, in the new.
#[derive(Clone, Copy, Default)]
struct RowAddress {
    old: u64,
    new: u64,
    /// The sequence is of code that moves.
    moves: bool,
    /// The old address has advanced by other instructions than those that make rows, which are not copied.
    ahead: bool,
}

struct Writer<'a, M> {
    out: Vec<u8>,
    header: &'a LineProgramHeader<Reader<'a>>,
    /// How many operands standard opcodes have, from the first opcode on.
    operands: &'a [u8],
    plain: [u8; PLAIN],
    moves: &'a Moves<'a, M>,
    at: RowAddress,
    /// The old instructions.
    all: Reader<'a>,
    /// So many bytes of these were written, as they are or anew. What follows up to the instruction that is
    /// next is to be copied.
    copied: usize,
}

/// Behind the last standard opcode.
const PLAIN: usize = dw::DW_LNS_set_isa.0 as usize + 1;

/// How many operands the standard opcodes have that tell of no address, by opcode; of others `u8::MAX`.
fn plain(operands: &[u8]) -> [u8; PLAIN] {
    std::array::from_fn(|opcode| match gimli::DwLns(opcode as u8) {
        gimli::DwLns(0)
        | dw::DW_LNS_copy
        | dw::DW_LNS_advance_pc
        | dw::DW_LNS_const_add_pc
        | dw::DW_LNS_fixed_advance_pc => u8::MAX,
        _ => operands.get(opcode - 1).copied().unwrap_or(u8::MAX),
    })
}

impl<'a, M: AddressMap> Writer<'a, M> {
    /// Passes over instructions that tell of no address, which are most; whether there are others behind
    /// them. Unusual ones are left to [`Self::instruction`].
    fn is_before_instruction(&self, rest: &mut Reader<'a>) -> Result<bool, Problem> {
        let bytes = rest.slice();
        let mut at = 0;
        while let Some(&opcode) = bytes.get(at) {
            let next = match self.plain.get(usize::from(opcode)) {
                Some(0) => 1,
                Some(1) if bytes.get(at + 1).is_some_and(|&low| low < leb::MORE) => 2,
                Some(1) if bytes.get(at + 2).is_some_and(|&high| high < leb::MORE) => 3,
                _ => break,
            };
            at += next;
        }
        rest.skip(at)?;
        Ok(!rest.is_empty())
    }

    #[inline]
    fn instruction(&mut self, rest: &mut Reader<'a>) -> Result<(), Problem> {
        let start = self.offset(rest);
        let opcode = rest.read_u8()?;
        let base = self.header.opcode_base();
        if opcode >= base {
            let adjusted = opcode - base;
            let range = self.range()?;
            let (operations, lines) = (adjusted / range, adjusted % range);
            self.advance(operations.into());
            let new = self.row_address();
            // Mostly the distance is what it was, and so is the opcode.
            if !self.at.ahead
                && let Some(new) = new
                && self.at.new.checked_add(self.bytes(operations.into())) == Some(new)
            {
                self.at.new = new;
                return Ok(());
            }
            self.copy_to(start);
            self.row(new, i64::from(self.header.line_base()) + i64::from(lines))?;
        } else {
            match gimli::DwLns(opcode) {
                gimli::DwLns(0) => return self.extended(start, rest),
                dw::DW_LNS_copy => {
                    self.copy_to(start);
                    self.row(self.row_address(), 0)?;
                }
                dw::DW_LNS_advance_pc => {
                    let operations = leb::unsigned(rest)?;
                    self.copy_to(start);
                    self.advance(operations);
                    self.at.ahead = true;
                }
                dw::DW_LNS_const_add_pc => {
                    let range = self.range()?;
                    self.copy_to(start);
                    self.advance(u64::from((255 - base) / range));
                    self.at.ahead = true;
                }
                dw::DW_LNS_fixed_advance_pc => {
                    let bytes = rest.read_u16()?;
                    self.copy_to(start);
                    self.at.old = self.at.old.wrapping_add(bytes.into());
                    self.at.ahead = true;
                }
                _ => {
                    let operands = self.operands.get(usize::from(opcode) - 1);
                    for _ in 0..operands.copied().unwrap_or(0) {
                        leb::unsigned(rest)?;
                    }
                    return Ok(());
                }
            }
        }
        self.copied = self.offset(rest);
        Ok(())
    }

    /// An extended instruction that begins at `start`, of which the first byte was read.
    fn extended(&mut self, start: usize, rest: &mut Reader<'a>) -> Result<(), Problem> {
        let length = usize::try_from(leb::unsigned(rest)?)?;
        let mut body = rest.split(length)?;
        match gimli::DwLne(body.read_u8()?) {
            dw::DW_LNE_end_sequence => {
                self.copy_to(start);
                let old = self.at.old;
                let operations =
                    self.operations(if self.at.moves { self.moves.end(old) } else { Some(old) })?;
                self.advance_pc(operations);
                self.at = RowAddress::default();
            }
            dw::DW_LNE_set_address if length == 1 + ADDRESS => {
                self.copy_to(start);
                let address = body.read_u64()?;
                let new = self.moves.start(address);
                self.at = RowAddress {
                    old: address,
                    new: new.unwrap_or(address),
                    moves: new.is_some(),
                    ahead: false,
                };
                let new = [&[dw::DW_LNE_set_address.0][..], &self.at.new.to_le_bytes()].concat();
                put_extended(&mut self.out, &new);
                self.copied = self.offset(rest);
            }
            dw::DW_LNE_set_address => {
                return Err(Problem::new("its line table has addresses of another size"));
            }
            _ => {}
        }
        Ok(())
    }

    /// Where the next row is in the new code.
    fn row_address(&self) -> Option<u64> {
        let old = self.at.old;
        if self.at.moves { self.moves.start(old) } else { Some(old) }
    }

    /// Where among the old instructions `rest` begins.
    fn offset(&self, rest: &Reader<'_>) -> usize {
        self.all.len() - rest.len()
    }

    /// Copies what is left before an offset in the old instructions.
    fn copy_to(&mut self, offset: usize) {
        self.out.extend(&self.all.slice()[self.copied..offset]);
        self.copied = offset;
    }

    fn range(&self) -> Result<u8, Problem> {
        match self.header.line_range() {
            0 => Err(Problem::new("its line table has no lines")),
            range => Ok(range),
        }
    }

    fn bytes(&self, operations: u64) -> u64 {
        operations.wrapping_mul(self.header.minimum_instruction_length().into())
    }

    fn advance(&mut self, operations: u64) {
        self.at.old = self.at.old.wrapping_add(self.bytes(operations));
    }

    /// How many instructions of the least length the new address lies ahead, or what is wrong with that.
    fn operations(&self, new: Option<u64>) -> Result<u64, Problem> {
        let least = u64::from(self.header.minimum_instruction_length().max(1));
        let distance =
            new.and_then(|new| new.checked_sub(self.at.new)).filter(|distance| distance % least == 0);
        let distance = distance.ok_or_else(|| Problem::new("the rows of its line table are not in order"))?;
        Ok(distance / least)
    }

    /// Writes a row at an address of the new code, `lines` after the last one.
    fn row(&mut self, new: Option<u64>, lines: i64) -> Result<(), Problem> {
        let operations = self.operations(new)?;
        self.at.new = new.unwrap_or(self.at.new);
        self.at.ahead = false;
        let (base, range) = (self.header.opcode_base(), u64::from(self.header.line_range()));
        let line = lines - i64::from(self.header.line_base());
        let Some(line) = u64::try_from(line).ok().filter(|&line| line < range) else {
            // Only of a copy, which has no lines.
            self.advance_pc(operations);
            self.out.push(dw::DW_LNS_copy.0);
            return Ok(());
        };
        let room = u64::from(255 - base);
        let special = |operations: u64| {
            let code = operations.checked_mul(range)?.checked_add(line)?;
            (code <= room).then(|| base + code as u8)
        };
        let by_constant = room / range;
        if let Some(opcode) = special(operations) {
            self.out.push(opcode);
        } else if let Some(opcode) = operations.checked_sub(by_constant).and_then(special)
            && base > dw::DW_LNS_const_add_pc.0
        {
            self.out.extend([dw::DW_LNS_const_add_pc.0, opcode]);
        } else {
            self.advance_pc(operations);
            match special(0) {
                Some(opcode) => self.out.push(opcode),
                None => return Err(Problem::new("its line table has too few opcodes")),
            }
        }
        Ok(())
    }

    fn advance_pc(&mut self, operations: u64) {
        if operations > 0 {
            self.out.push(dw::DW_LNS_advance_pc.0);
            put_uleb(&mut self.out, operations);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rewrite::Edge;

    pub(super) const CODE: u64 = 0x1_0000;

    /// The code is twice as long.
    fn place(old: u64, _: Edge) -> Option<u64> {
        Some(0x4_0000 + 2 * (old - CODE))
    }

    /// A table without files.
    pub(super) fn table(instructions: &[u8]) -> Vec<u8> {
        // Least length, operations, is_stmt, line base and range, opcode base, and how many operands opcodes
        // have.
        let mut rest = vec![1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];
        rest.extend([1, 1, 8, 0, 1, 1, 8, 0]);
        let mut body = vec![5, 0, 8, 0];
        body.extend((rest.len() as u32).to_le_bytes());
        body.extend(rest);
        body.extend(instructions);
        [&(body.len() as u32).to_le_bytes()[..], &body].concat()
    }

    pub(super) fn instruction() -> impl Strategy<Value = Vec<u8>> {
        let with = |opcode: gimli::DwLns, operand: u64| {
            let mut bytes = vec![opcode.0];
            put_uleb(&mut bytes, operand);
            bytes
        };
        let number = prop_oneof![0u64..0x80, 0u64..0x4000, 0u64..0x10_0000];
        prop_oneof![
            4 => (13u8..=255).prop_map(|opcode| vec![opcode]),
            2 => number.clone().prop_map(move |column| with(dw::DW_LNS_set_column, column)),
            2 => number.prop_map(move |lines| with(dw::DW_LNS_advance_line, lines)),
            1 => (0u64..0x100).prop_map(move |bytes| with(dw::DW_LNS_advance_pc, bytes)),
            1 => prop::sample::select(vec![1u8, 6, 7, 8, 10, 11]).prop_map(|opcode| vec![opcode]),
            1 => (0u8..0x80).prop_map(|bytes| vec![dw::DW_LNS_fixed_advance_pc.0, bytes, 0]),
            1 => (0u8..0x80).prop_map(|isa| vec![dw::DW_LNS_set_isa.0, isa]),
            1 => (0u8..0x80).prop_map(|discriminator| vec![0, 2, 4, discriminator]),
        ]
    }

    /// All rows, with addresses that `place` gives.
    pub(super) fn rows(section: &[u8], place: impl Fn(u64) -> u64) -> gimli::Result<Vec<String>> {
        let section = DebugLine::from(reader(section));
        let mut machine = section.program(DebugLineOffset(0), ADDRESS as u8, None, None)?.rows();
        let mut rows = Vec::new();
        while let Some((_, row)) = machine.next_row()? {
            rows.push(format!(
                "{:#x} {:?} {:?} {} {} {} {} {} {} {}",
                place(row.address()),
                row.line(),
                row.column(),
                row.is_stmt(),
                row.basic_block(),
                row.prologue_end(),
                row.epilogue_begin(),
                row.isa(),
                row.discriminator(),
                row.end_sequence(),
            ));
        }
        Ok(rows)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]
        #[test]
        fn rows_are_the_same_at_the_new_addresses(
            instructions in prop::collection::vec(instruction(), 0..60),
        ) {
            let mut program = vec![0, 1 + ADDRESS as u8, dw::DW_LNE_set_address.0];
            program.extend(CODE.to_le_bytes());
            program.extend(instructions.concat());
            // It ends behind some code.
            program.extend([dw::DW_LNS_advance_pc.0, 4, 0, 1, dw::DW_LNE_end_sequence.0]);
            let old = table(&program);
            let moves = Moves { address_map: &place, code: CODE..2 * CODE, new_end: None };
            let (new, _) = rewrite(&old, &moves).map_err(|Problem(text)| TestCaseError::fail(text))?;
            let place = |old| place(old, Edge::Start).expect("code");
            prop_assert_eq!(rows(&new, |address| address)?, rows(&old, place)?);
        }
    }
}
