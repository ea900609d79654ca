//! The machine that line programs run on (DWARF 5, section 6.2), with the registers that tell of places and
//! no others. gimli has it too, for all registers, and takes five times as long: a test holds the two against
//! each other.

use gimli::{LineProgramHeader, Reader as _, ReaderOffset as _, constants as dw};

use super::leb;
use super::sections::Slice;

/// The registers when a row is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineRegisters {
    pub(super) address: u64,
    pub(super) file: u64,
    pub(super) line: u64,
    pub(super) column: u64,
    /// The row stands behind the last one of its sequence, and tells of an address alone.
    pub(super) ends: bool,
}

impl LineRegisters {
    /// The row with which each sequence begins.
    const FIRST: Self = Self { address: 0, file: 1, line: 1, column: 0, ends: false };
}

/// The machine between two instructions.
struct Machine<'h, 'a> {
    header: &'h LineProgramHeader<Slice<'a>>,
    row: LineRegisters,
    /// Which operation of a long instruction word.
    operation: u64,
    /// The linker discarded what is told of, so that there are no rows of it and no addresses.
    discarded: bool,
    /// The largest address there is.
    last_address: u64,
}

/// Runs a line program, and calls `each` with the rows that it makes.
pub(super) fn run(
    header: &LineProgramHeader<Slice<'_>>,
    mut each: impl FnMut(&LineRegisters),
) -> gimli::Result<()> {
    let last_address = u64::MAX >> (64 - 8 * u32::from(header.address_size()));
    let mut machine =
        Machine { header, row: LineRegisters::FIRST, operation: 0, discarded: false, last_address };
    let mut rest = header.raw_program_buf();
    while machine.advance(&mut rest)? {
        if !machine.discarded {
            each(&machine.row);
        }
        if machine.row.ends {
            machine =
                Machine { header, row: LineRegisters::FIRST, operation: 0, discarded: false, last_address };
        }
    }
    Ok(())
}

impl<'a> Machine<'_, 'a> {
    /// Runs instructions, up to one that makes a row. Whether there was one.
    #[inline]
    fn advance(&mut self, rest: &mut Slice<'a>) -> gimli::Result<bool> {
        while !rest.is_empty() {
            let opcode = rest.read_u8()?;
            let base = self.header.opcode_base();
            if opcode >= base {
                let (adjusted, range) = (opcode - base, self.header.line_range());
                self.add_lines(i64::from(self.header.line_base()) + i64::from(adjusted % range));
                self.add_operations((adjusted / range).into())?;
                return Ok(true);
            }
            match gimli::DwLns(opcode) {
                gimli::DwLns(0) => {
                    if self.extended(rest)? {
                        return Ok(true);
                    }
                }
                dw::DW_LNS_copy => return Ok(true),
                dw::DW_LNS_advance_pc => self.add_operations(leb::unsigned(rest)?)?,
                dw::DW_LNS_advance_line => self.add_lines(leb::signed(rest)?),
                dw::DW_LNS_set_file => self.row.file = leb::unsigned(rest)?,
                dw::DW_LNS_set_column => self.row.column = leb::unsigned(rest)?,
                dw::DW_LNS_const_add_pc => {
                    self.add_operations(((255 - base) / self.header.line_range()).into())?;
                }
                dw::DW_LNS_fixed_advance_pc => {
                    self.add_bytes(rest.read_u16()?.into())?;
                    if !self.discarded {
                        self.operation = 0;
                    }
                }
                dw::DW_LNS_negate_stmt
                | dw::DW_LNS_set_basic_block
                | dw::DW_LNS_set_prologue_end
                | dw::DW_LNS_set_epilogue_begin => {}
                dw::DW_LNS_set_isa => _ = leb::unsigned(rest)?,
                _ => {
                    let mut operands = *self.header.standard_opcode_lengths();
                    operands.skip(usize::from(opcode) - 1)?;
                    for _ in 0..operands.read_u8()? {
                        leb::unsigned(rest)?;
                    }
                }
            }
        }
        Ok(false)
    }

    fn extended(&mut self, rest: &mut Slice<'a>) -> gimli::Result<bool> {
        let length = usize::from_u64(leb::unsigned(rest)?)?;
        let mut body = rest.split(length)?;
        match gimli::DwLne(body.read_u8()?) {
            dw::DW_LNE_end_sequence => {
                self.row.ends = true;
                return Ok(true);
            }
            dw::DW_LNE_set_address => {
                let address = body.read_address(self.header.address_size())?;
                // Linkers set the addresses of what they discard to the last or the last but one, or to 0 and
                // a little more. The addresses of a sequence ascend, so a lower one is such, too.
                self.discarded = address < self.row.address || address >= self.last_address - 1;
                if !self.discarded {
                    (self.row.address, self.operation) = (address, 0);
                }
            }
            // Files are the header's; those that come in between are of no line table that is in use.
            dw::DW_LNE_define_file if self.header.version() <= 4 => {
                body.read_null_terminated_slice()?;
                for _ in 0..3 {
                    body.read_uleb128()?;
                }
            }
            dw::DW_LNE_set_discriminator => _ = leb::unsigned(&mut body)?,
            _ => {}
        }
        Ok(false)
    }

    #[inline]
    fn add_lines(&mut self, lines: i64) {
        let distance = lines.unsigned_abs();
        self.row.line = if lines < 0 {
            self.row.line.saturating_sub(distance)
        } else {
            self.row.line.wrapping_add(distance)
        };
    }

    #[inline]
    fn add_operations(&mut self, operations: u64) -> gimli::Result<()> {
        let mut words = operations;
        let in_word = u64::from(self.header.maximum_operations_per_instruction());
        if in_word != 1 && !self.discarded {
            let all = self.operation.wrapping_add(operations);
            (words, self.operation) = (all / in_word, all % in_word);
        }
        self.add_bytes(words.wrapping_mul(self.header.minimum_instruction_length().into()))
    }

    #[inline]
    fn add_bytes(&mut self, bytes: u64) -> gimli::Result<()> {
        if !self.discarded {
            let sum = self.row.address.checked_add(bytes).filter(|&sum| sum <= self.last_address);
            self.row.address = sum.ok_or(gimli::Error::AddressOverflow)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use gimli::{DebugLine, DebugLineOffset, LittleEndian};
    use proptest::prelude::*;

    use super::*;

    /// A table of no files: of some version, with parameters as its header has them, from the least length of
    /// instructions on.
    fn table(version: u16, address_size: u8, parameters: &[u8], instructions: &[u8]) -> Vec<u8> {
        let mut rest = parameters.to_vec();
        if version < 4 {
            // Operations of an instruction.
            rest.remove(1);
        }
        let lengths = [0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 2, 0];
        rest.extend(&lengths[..usize::from(parameters[5]) - 1]);
        // No directories and no files. From version 5 on, a format says of each that there are but paths,
        // which are strings.
        rest.extend(if version >= 5 { &[1, 1, 8, 0, 1, 1, 8, 0][..] } else { &[0; 2] });
        let mut body = version.to_le_bytes().to_vec();
        if version >= 5 {
            body.extend([address_size, 0]);
        }
        body.extend((rest.len() as u32).to_le_bytes());
        body.extend(rest);
        body.extend(instructions);
        [&(body.len() as u32).to_le_bytes()[..], &body].concat()
    }

    fn instruction() -> impl Strategy<Value = Vec<u8>> {
        let address = prop_oneof![0u64..0x2000, any::<u64>(), u64::MAX - 3..];
        prop_oneof![
            8 => any::<u8>().prop_map(|opcode| vec![opcode]),
            4 => (1u8..15, prop::collection::vec(0u8..0x80, 0..3))
                .prop_map(|(opcode, operands)| [&[opcode][..], &operands].concat()),
            2 => (1u8..9, address).prop_map(|(size, address)| {
                [&[0, size + 1, 2][..], &address.to_le_bytes()[..usize::from(size)]].concat()
            }),
            1 => Just(vec![0, 1, 1]),
            1 => (0u8..8, prop::collection::vec(any::<u8>(), 0..5))
                .prop_map(|(opcode, body)| [&[0, body.len() as u8 + 1, opcode][..], &body].concat()),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]
        #[test]
        fn rows_are_those_of_gimli(
            version in 2u16..6,
            address_size in prop::sample::select(vec![1u8, 2, 4, 8, 8, 8]),
            (length, operations) in (1u8..5, prop_oneof![Just(1u8), 1u8..4]),
            (line_base, line_range, opcode_base) in (any::<u8>(), 1u8..20, 1u8..16),
            instructions in prop::collection::vec(instruction(), 0..40),
        ) {
            let parameters = [length, operations, 1, line_base, line_range, opcode_base];
            let bytes = table(version, address_size, &parameters, &instructions.concat());
            let section = DebugLine::from(Slice::new(&bytes, LittleEndian));
            let program = section.program(DebugLineOffset(0), address_size, None, None).expect("a header");
            let header = program.header().clone();
            let mut ours = Vec::new();
            let result = run(&header, |row| ours.push(*row));
            let mut ours = ours.into_iter();
            let mut theirs = program.rows();
            loop {
                let expected = theirs.next_row().map(|row| {
                    row.map(|(_, row)| LineRegisters {
                        address: row.address(),
                        file: row.file_index(),
                        line: row.line().map_or(0, u64::from),
                        column: match row.column() {
                            gimli::ColumnType::LeftEdge => 0,
                            gimli::ColumnType::Column(column) => column.into(),
                        },
                        ends: row.end_sequence(),
                    })
                });
                match expected {
                    Ok(Some(row)) => prop_assert_eq!(ours.next(), Some(row)),
                    end => {
                        prop_assert_eq!(result, end.map(|_| ()));
                        break;
                    }
                }
            }
            prop_assert_eq!(ours.next(), None);
        }
    }
}
