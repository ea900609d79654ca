//! Several launches of one kernel as one report.

use super::{Report, SiteReport};

impl Report {
    /// Adds the figures of another launch of the same kernel and code object. Figures by wave are kept for
    /// both, the one after the other; grid and block stay those of the first.
    pub fn add_launch(&mut self, other: &Self) {
        self.waves += other.waves;
        self.unfinished.extend(&other.unfinished);
        let both = |one: Option<bool>, two: Option<bool>| one.zip(two).map(|(one, two)| one && two);
        self.memory_equal = both(self.memory_equal, other.memory_equal);
        self.oracle_equal = both(self.oracle_equal, other.oracle_equal);
        match (&mut self.time, &other.time) {
            (Some(time), Some(other)) => time.add(other),
            (time, other) => *time = time.take().or_else(|| other.clone()),
        }
        for block in &other.blocks {
            match self.blocks.iter_mut().find(|known| known.pc == block.pc && known.id == block.id) {
                Some(known) => {
                    known.counts += block.counts;
                    known.waves.extend(&block.waves);
                }
                None => self.blocks.push(block.clone()),
            }
        }
        for site in &other.sites {
            let same = |known: &&mut SiteReport| known.pc == site.pc && known.id == site.id;
            match self.sites.iter_mut().find(same) {
                Some(known) => {
                    known.counts += site.counts;
                    known.waves.extend(&site.waves);
                    if let Some(left_out) = site.left_out {
                        *known.left_out.get_or_insert_default() += left_out;
                    }
                }
                None => self.sites.push(site.clone()),
            }
        }
    }
}
