//! Writes over another's write: races if the bytes are other ones afterwards.

use super::words::WORD;

/// One such write, of bytes in one dword.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suspect<A> {
    /// First byte that both write.
    pub(super) at: u64,
    /// How many they are, and what they were.
    pub(super) bytes: usize,
    pub(super) before: [u8; WORD],
    /// First byte and size of the whole access.
    pub(super) access: (u64, usize),
    pub(super) lane: Option<usize>,
    /// The wave, and the site of the access.
    pub(super) wave: u64,
    pub(super) site: u32,
    /// Who wrote before.
    pub(super) earlier: A,
}

/// The suspects of the instruction that runs.
#[derive(Debug)]
pub(super) struct Suspects<A>(Vec<Suspect<A>>);

impl<A> Default for Suspects<A> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<A: Copy> Suspects<A> {
    pub(super) fn push(&mut self, suspect: Suspect<A>) {
        self.0.push(suspect);
    }

    /// Forgets them. Returns whether there were none.
    pub(super) fn clear(&mut self) -> bool {
        let none = self.0.is_empty();
        self.0.clear();
        none
    }

    /// The suspects that have changed what was there. `read` gives so many bytes from a place on, and zeros
    /// behind them.
    pub(super) fn settle(
        &mut self,
        read: impl Fn(u64, usize) -> [u8; WORD],
    ) -> impl Iterator<Item = Suspect<A>> {
        let suspects = self.0.drain(..);
        suspects.filter(move |suspect| read(suspect.at, suspect.bytes) != suspect.before)
    }
}
