//! Tags of a set-associative cache with least-recently-used replacement. Contents are the emulator's.

/// A line, or nothing.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// Number of the line in memory.
    number: u64,
    /// When it was used last, in uses of the cache.
    used: u64,
    /// From when on each half can be read: filled, or under way. `u64::MAX`: not there.
    ready: [u64; 2],
    /// Halves that have been written.
    dirty: u8,
}

const EMPTY: Line = Line { number: u64::MAX, used: 0, ready: [u64::MAX; 2], dirty: 0 };

/// The tags.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    lines: Vec<Line>,
    ways: usize,
    uses: u64,
}

impl Cache {
    /// An empty cache of so many lines.
    pub(super) fn new(lines: u32, ways: u32) -> Self {
        let ways = ways.clamp(1, lines.max(1)) as usize;
        let sets = (lines as usize / ways).max(1);
        Self { lines: vec![EMPTY; sets * ways], ways, uses: 0 }
    }

    /// What is under way has arrived: time begins anew.
    pub(super) fn settle(&mut self) {
        for ready in
            self.lines.iter_mut().flat_map(|line| &mut line.ready).filter(|ready| **ready != u64::MAX)
        {
            *ready = 0;
        }
    }

    /// Sets, which lines are in by their numbers, in turn.
    pub(super) fn sets(&self) -> u64 {
        (self.lines.len() / self.ways) as u64
    }

    fn set(&mut self, number: u64) -> &mut [Line] {
        let first = (number % self.sets()) as usize * self.ways;
        &mut self.lines[first..first + self.ways]
    }

    /// From when on a half of a line (0 or 1) can be read, if it is there or under way.
    pub(super) fn find(&mut self, number: u64, half: usize) -> Option<u64> {
        self.uses += 1;
        let uses = self.uses;
        let line = self.set(number).iter_mut().find(|line| line.number == number)?;
        line.used = uses;
        Some(line.ready[half]).filter(|&ready| ready != u64::MAX)
    }

    /// The line, put in the place of the least recently used one if it was not there.
    fn line(&mut self, number: u64) -> Option<&mut Line> {
        self.uses += 1;
        let uses = self.uses;
        let set = self.set(number);
        let at = set
            .iter()
            .position(|line| line.number == number)
            .or_else(|| (0..set.len()).min_by_key(|&at| set[at].used))?;
        let line = &mut set[at];
        if line.number != number {
            *line = Line { number, ..EMPTY };
        }
        line.used = uses;
        Some(line)
    }

    /// A half of a line can be read from a time on.
    pub(super) fn fill(&mut self, number: u64, half: usize, ready: u64) {
        if let Some(line) = self.line(number) {
            line.ready[half] = line.ready[half].min(ready);
        }
    }

    /// A line is not there any more.
    pub(super) fn drop(&mut self, number: u64) {
        if let Some(line) = self.set(number).iter_mut().find(|line| line.number == number) {
            *line = EMPTY;
        }
    }

    /// A half of a line is written; whether it was clean before.
    pub(super) fn write(&mut self, number: u64, half: usize, ready: u64) -> bool {
        let Some(line) = self.line(number) else { return true };
        line.ready[half] = line.ready[half].min(ready);
        let clean = line.dirty & 1 << half == 0;
        line.dirty |= 1 << half;
        clean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_line_goes() {
        let mut cache = Cache::new(4, 2);
        for number in [0, 2, 0, 4] {
            cache.fill(number, 0, 10);
        }
        assert_eq!(cache.find(0, 0), Some(10));
        assert_eq!(cache.find(2, 0), None);
        assert_eq!(cache.find(4, 0), Some(10));
        assert_eq!(cache.find(4, 1), None);
        assert!(cache.write(4, 1, 20));
        assert!(!cache.write(4, 1, 30));
    }
}
