//! Where the dwords of the old code went: debug information asks for most of them, and for many of them
//! often.

use amdgpu_object::rewrite::Edge;

/// New addresses by dword of the old code.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// The address of the new code, from which on the others count.
    base: u64,
    /// Of what stands there: for entries, of the prologue.
    starts: Vec<u32>,
    /// Of the end of what stands before it, with what was inserted behind that.
    ends: Vec<u32>,
}

/// No dword of the old code went anywhere from there. No code is so long: code objects have less than 4 GiB.
const NOWHERE: u32 = u32::MAX;

impl Places {
    /// Of so many bytes of old code, in new code at `base`.
    pub(super) fn new(bytes: usize, base: u64) -> Self {
        let nowhere = vec![NOWHERE; bytes / 4 + 1];
        Self { base, starts: nowhere.clone(), ends: nowhere }
    }

    /// The bytes from an offset in the old code on were copied to `new`.
    pub(super) fn copy(&mut self, offset: u64, bytes: u64, new: u64) {
        let end = offset + bytes;
        let (first, last) = (offset.next_multiple_of(4), end / 4 * 4);
        if first < end {
            let places = &mut self.starts[(first / 4) as usize..end.div_ceil(4) as usize];
            fill(places, new + (first - offset) - self.base);
        }
        let first = (offset + 1).next_multiple_of(4);
        if first <= last {
            fill(
                &mut self.ends[(first / 4) as usize..=(last / 4) as usize],
                new + (first - offset) - self.base,
            );
        }
    }

    /// An instruction between two offsets in the old code has code inserted around it: it is entered, and
    /// left, elsewhere.
    pub(super) fn set(&mut self, start: u64, end: u64, entry: u64, left: u64) {
        self.starts[(start / 4) as usize] = self.distance(entry);
        self.ends[(end / 4) as usize] = self.distance(left);
    }

    /// The new address of what stands, or ends, at an offset in the old code that is a multiple of four.
    #[inline]
    pub(super) fn get(&self, offset: u64, edge: Edge) -> Option<u64> {
        let news = match edge {
            Edge::Start => &self.starts,
            Edge::End => &self.ends,
        };
        let new = *news.get(usize::try_from(offset / 4).ok()?)?;
        (new != NOWHERE).then(|| self.base + u64::from(new))
    }

    fn distance(&self, new: u64) -> u32 {
        u32::try_from(new - self.base).unwrap_or(NOWHERE)
    }
}

/// Dwords that went to one place after the other, from a distance on.
fn fill(places: &mut [u32], distance: u64) {
    let last = distance + 4 * places.len() as u64;
    match (u32::try_from(distance), u32::try_from(last)) {
        (Ok(distance), Ok(_)) => {
            for (place, number) in places.iter_mut().zip(0..) {
                *place = distance + 4 * number;
            }
        }
        // Longer than any code is.
        _ => places.fill(NOWHERE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_code_was_inserted_around_is_entered_and_left_elsewhere() {
        let mut places = Places::new(16, 0x1000);
        places.copy(0, 4, 0x1000);
        // Eight bytes before an instruction of eight, four behind it.
        places.copy(4, 8, 0x100c);
        places.set(4, 12, 0x1004, 0x1018);
        places.copy(12, 4, 0x1018);
        let starts = [0, 4, 8, 12, 16].map(|offset| places.get(offset, Edge::Start));
        assert_eq!(starts, [Some(0x1000), Some(0x1004), Some(0x1010), Some(0x1018), None]);
        let ends = [0, 4, 8, 12, 16, 20].map(|offset| places.get(offset, Edge::End));
        assert_eq!(ends, [None, Some(0x1004), Some(0x1010), Some(0x1018), Some(0x101c), None]);
    }
}
