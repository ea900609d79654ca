//! A wave's rows: its vector registers, and room for those of an instruction under way.

use std::ops::{Deref, DerefMut};

use super::{LANES, Row};

/// Vector registers: 256 VGPRs, then 256 AGPRs.
pub(crate) const REGISTERS: usize = 512;
/// Rows behind the registers: two for each of four sources (an operand that is no vector register, or has
/// modifiers, is spread out there), four for a result that is worked on before it is written, and one that
/// holds EXEC as masks.
pub(crate) const SOURCE_ROWS: u16 = REGISTERS as u16;
pub(crate) const RESULT_ROW: u16 = SOURCE_ROWS + 8;
pub(crate) const MASK_ROW: u16 = RESULT_ROW + 4;
pub(crate) const ROWS: usize = MASK_ROW as usize + 1;

/// Rows that are reached from one [`RowAt`] on: as many as the widest access has.
pub(crate) const GROUP: usize = 4;
/// Rows that are reached from any of them.
const REACH: usize = SOURCE_ROWS as usize + GROUP;
/// Rows of sources and results that none of them reaches.
pub(crate) const ROOMS: usize = MASK_ROW as usize - REACH;

/// The rows that a [`RowAt`] reaches.
pub(crate) type File = [Row; REACH];

/// A register's row, or [`SOURCE_ROWS`], by its first dword: with those behind it, as many as a [`GROUP`] has
/// are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowAt(u16);

impl RowAt {
    /// # Panics
    /// If no instruction can name it.
    pub(crate) const fn new(row: u16) -> Self {
        assert!(row <= SOURCE_ROWS, "a row that an instruction can name");
        Self(row * LANES as u16)
    }

    /// Its number.
    pub(crate) const fn number(self) -> u16 {
        self.0 / LANES as u16
    }

    /// The row.
    #[inline(always)]
    pub(crate) fn row(self, file: &File) -> &Row {
        &self.group(file)[0]
    }

    /// The row and those behind it.
    #[inline(always)]
    pub(crate) fn group(self, file: &File) -> &[Row; GROUP] {
        // SAFETY: from each row that `new` lets pass there are as many.
        unsafe { &*file.as_ptr().cast::<u32>().add(usize::from(self.0)).cast() }
    }

    /// The row and those behind it, to be written.
    #[inline(always)]
    pub(crate) fn group_mut(self, file: &mut File) -> &mut [Row; GROUP] {
        // SAFETY: as above.
        unsafe { &mut *file.as_mut_ptr().cast::<u32>().add(usize::from(self.0)).cast() }
    }
}

/// The rows, from the start of a cache line on: a vector load then touches one line.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Rows([Row; ROWS]);

impl Rows {
    pub(super) fn zeroed() -> Box<Self> {
        // SAFETY: zero is a value of every register. Not made on the stack: it is 135 kB.
        unsafe { Box::<Self>::new_zeroed().assume_init() }
    }

    /// Those that an instruction can name.
    #[inline(always)]
    pub(crate) fn file(&self) -> &File {
        self.0.first_chunk().expect("the first rows")
    }

    /// Those that an instruction can name, to be written.
    #[inline(always)]
    pub(crate) fn file_mut(&mut self) -> &mut File {
        self.0.first_chunk_mut().expect("the first rows")
    }

    /// Those that an instruction can name; and others, which hold anything.
    #[inline(always)]
    pub(crate) fn with_rooms(&mut self) -> (&File, &mut [Row; ROOMS]) {
        let (file, rooms) = self.0.split_first_chunk_mut().expect("the first rows");
        (file, rooms.first_chunk_mut().expect("those behind them"))
    }
}

impl Deref for Rows {
    type Target = [Row; ROWS];
    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Rows {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// The unsafe code above, for Miri.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_that_an_instruction_can_name_has_a_group() {
        let mut rows = Rows::zeroed();
        for number in [0, 1, SOURCE_ROWS - 1, SOURCE_ROWS] {
            let at = RowAt::new(number);
            for (behind, row) in at.group_mut(rows.file_mut()).iter_mut().enumerate() {
                row.fill(u32::from(number) + behind as u32);
            }
            assert_eq!(at.number(), number);
            assert_eq!(at.row(rows.file()), &rows[usize::from(number)]);
            let found: Vec<u32> = at.group(rows.file()).iter().map(|row| row[LANES - 1]).collect();
            assert_eq!(found, (u32::from(number)..).take(GROUP).collect::<Vec<_>>());
        }
        let (_, rooms) = rows.with_rooms();
        assert!(rooms.iter().flatten().all(|lane| *lane == 0), "rooms are none of these");
    }

    #[test]
    #[should_panic(expected = "a row that an instruction can name")]
    fn no_other_row_is_reached() {
        RowAt::new(SOURCE_ROWS + 1);
    }
}
