//! What was made of values, for equal ones that follow.

use super::Stream;

/// How many different values are remembered: kernels with the same arguments mostly stand together.
const REMEMBERED: usize = 8;

/// The last different values that were read at one depth of nesting, the very last first, and what was made
/// of them.
///
/// A value says itself where it ends. So where the same bytes come again, the same value does.
pub(crate) struct Recent<'a, T> {
    values: Vec<(&'a [u8], T)>,
}

impl<T> Default for Recent<'_, T> {
    fn default() -> Self {
        Self { values: Vec::new() }
    }
}

impl<'a, T: Clone> Recent<'a, T> {
    /// What is made of the next value: `read` reads it, with all that is in it, if it was not read of late.
    pub(crate) fn read<E>(
        &mut self,
        stream: &mut Stream<'a>,
        read: impl FnOnce(&mut Stream<'a>) -> Result<T, E>,
    ) -> Result<T, E> {
        if let Some(found) = self.values.iter().position(|(value, _)| stream.strip(value)) {
            self.values[..=found].rotate_right(1);
        } else {
            let before = stream.rest();
            let result = read(stream)?;
            let value = &before[..before.len() - stream.rest().len()];
            self.values.truncate(REMEMBERED - 1);
            self.values.insert(0, (value, result));
        }
        Ok(self.values[0].1.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Damaged, Item};
    use super::*;

    /// What is made of each of these numbers, of which one is a byte, and how many were read.
    fn read_all(numbers: &[u8]) -> (Vec<u64>, usize) {
        let mut stream = Stream::new(numbers, 0..numbers.len());
        let (mut recent, mut reads) = (Recent::default(), 0);
        let made = numbers.iter().map(|_| {
            recent.read(&mut stream, |stream| {
                reads += 1;
                match stream.item()? {
                    Item::Unsigned(number) => Ok::<_, Damaged>(number * 2),
                    other => panic!("{other:?}"),
                }
            })
        });
        let made = made.collect::<Result<_, _>>().expect("each is a number");
        assert_eq!(stream.position(), numbers.len());
        (made, reads)
    }

    #[test]
    fn what_comes_again_is_not_read_again() {
        assert_eq!(read_all(&[3, 3, 4, 3, 4, 4, 3]), (vec![6, 6, 8, 6, 8, 8, 6], 2));
    }

    #[test]
    fn the_last_of_them_are_remembered() {
        // Eight different ones, of which the first comes again; then the second is the oldest and has to go.
        assert_eq!(read_all(&[1, 2, 3, 4, 5, 6, 7, 8, 1, 9, 1, 3, 2]).1, 10);
    }

    #[test]
    fn what_could_not_be_read_is_not_remembered() {
        let bytes = [0x92, 1, 0x92, 1, 2];
        let mut recent = Recent::default();
        let mut read = |range| recent.read(&mut Stream::new(&bytes, range), Stream::skip);
        assert!(read(0..2).is_err());
        assert!(read(2..5).is_ok());
        assert!(read(2..4).is_err(), "it ends before the value that is remembered does");
    }
}
