//! Dominators and natural loops of one function.

/// Dominator tree and loops over blocks `0..n`, block 0 being the entry.
#[derive(Clone, Debug)]
pub struct Structure {
    /// Immediate dominator of each block; of the entry, itself; `None` for blocks the entry does not reach.
    pub immediate_dominator: Vec<Option<usize>>,
    /// The natural loops, by header in ascending order.
    pub loops: Vec<Loop>,
    /// How many loops contain each block.
    pub depth: Vec<u32>,
    /// By block: the smallest loop around it, by its place in `loops`.
    smallest: Vec<Option<usize>>,
}

/// A natural loop: the blocks that reach a back edge's source without passing the header. Back edges to one header
/// make one loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The block that dominates the others.
    pub header: usize,
    /// Its blocks in ascending order, the header among them.
    pub blocks: Vec<usize>,
}

impl Structure {
    /// Analyses the graph of so many blocks that `successors` and `predecessors` give.
    pub fn new<'a>(
        n: usize,
        successors: impl Fn(usize) -> &'a [usize],
        predecessors: impl Fn(usize) -> &'a [usize],
    ) -> Self {
        let order = reverse_postorder(n, &successors);
        let mut position = vec![usize::MAX; n];
        for (index, &block) in order.iter().enumerate() {
            position[block] = index;
        }
        let immediate_dominator = dominators(&order, &position, &predecessors, n);
        let (loops, depth, smallest) = (Vec::new(), vec![0; n], vec![None; n]);
        let mut this = Self { immediate_dominator, loops, depth, smallest };
        // Header and source of each back edge.
        let mut back: Vec<(usize, usize)> = Vec::new();
        for &block in &order {
            let backwards = successors(block).iter().filter(|&&next| position[next] <= position[block]);
            back.extend(
                backwards.filter(|&&next| this.dominates(next, block)).map(|&header| (header, block)),
            );
        }
        back.sort_unstable();
        // By block: the last loop that it was found to be in, counted from 1.
        let mut inside = vec![0; n];
        for latches in back.chunk_by(|a, b| a.0 == b.0) {
            let (header, number) = (latches[0].0, this.loops.len() + 1);
            inside[header] = number;
            let mut blocks = vec![header];
            let mut work: Vec<usize> = latches.iter().map(|&(_, latch)| latch).collect();
            while let Some(block) = work.pop() {
                if std::mem::replace(&mut inside[block], number) != number {
                    blocks.push(block);
                    // What block 0 does not reach is in no loop.
                    work.extend(predecessors(block).iter().filter(|&&before| position[before] != usize::MAX));
                }
            }
            blocks.sort_unstable();
            for &block in &blocks {
                this.depth[block] += 1;
                let known = this.smallest[block].map(|known: usize| this.loops[known].blocks.len());
                if known.is_none_or(|known| blocks.len() < known) {
                    this.smallest[block] = Some(this.loops.len());
                }
            }
            this.loops.push(Loop { header, blocks });
        }
        this
    }

    /// Whether every path from the entry to `b` passes `a`. A block dominates itself.
    pub fn dominates(&self, a: usize, b: usize) -> bool {
        let mut at = b;
        loop {
            if at == a {
                return true;
            }
            match self.immediate_dominator[at] {
                Some(up) if up != at => at = up,
                _ => return false,
            }
        }
    }

    /// The innermost loop around a block.
    pub fn innermost(&self, block: usize) -> Option<&Loop> {
        Some(&self.loops[self.smallest[block]?])
    }
}

/// Of `count` blocks those that block 0 reaches, each before its successors but for back edges.
pub fn reverse_postorder<'a>(count: usize, successors: impl Fn(usize) -> &'a [usize]) -> Vec<usize> {
    let mut seen = vec![false; count];
    let mut order = Vec::with_capacity(count);
    if count == 0 {
        return order;
    }
    seen[0] = true;
    let mut stack = vec![(0, 0)];
    while let Some((block, next)) = stack.last_mut() {
        match successors(*block).get(*next) {
            Some(&successor) => {
                *next += 1;
                if !std::mem::replace(&mut seen[successor], true) {
                    stack.push((successor, 0));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm": intersect along the tree until nothing changes.
fn dominators<'a>(
    order: &[usize],
    position: &[usize],
    predecessors: &impl Fn(usize) -> &'a [usize],
    n: usize,
) -> Vec<Option<usize>> {
    let mut idom = vec![None; n];
    let Some(&entry) = order.first() else { return idom };
    idom[entry] = Some(entry);
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &order[1..] {
            let mut new: Option<usize> = None;
            for &from in predecessors(block) {
                if idom[from].is_none() {
                    continue;
                }
                new = Some(match new {
                    None => from,
                    Some(other) => intersect(&idom, position, from, other),
                });
            }
            if new.is_some() && idom[block] != new {
                idom[block] = new;
                changed = true;
            }
        }
    }
    idom
}

fn intersect(idom: &[Option<usize>], position: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while position[a] > position[b] {
            a = idom[a].unwrap_or(b);
        }
        while position[b] > position[a] {
            b = idom[b].unwrap_or(a);
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_nested_loop_has_depth_two() {
        // 0 → 1 → 2 → 3 → 2, 3 → 1, 1 → 4
        let successors = [vec![1], vec![2, 4], vec![3], vec![2, 1], vec![]];
        let structure = structure(&successors);
        assert_eq!(structure.depth, [0, 1, 2, 2, 0]);
        assert_eq!(structure.innermost(3).map(|inner| inner.header), Some(2));
        assert_eq!(structure.innermost(4), None);
        assert!(structure.dominates(1, 4) && !structure.dominates(2, 4));
    }

    fn structure(successors: &[Vec<usize>]) -> Structure {
        let mut predecessors = vec![Vec::new(); successors.len()];
        for (block, next) in successors.iter().enumerate() {
            next.iter().for_each(|&next| predecessors[next].push(block));
        }
        Structure::new(successors.len(), |block| &successors[block], |block| &predecessors[block])
    }

    /// The definition: `a` dominates `b` if `b` cannot be reached once `a` is taken away.
    fn reaches_without(successors: &[Vec<usize>], without: usize, to: usize) -> bool {
        let mut seen = vec![false; successors.len()];
        let mut work = vec![0];
        while let Some(block) = work.pop() {
            if block != without && !std::mem::replace(&mut seen[block], true) {
                work.extend(&successors[block]);
            }
        }
        seen[to]
    }

    proptest! {
        #[test]
        fn dominance_is_what_its_definition_says(
            successors in (2usize..12).prop_flat_map(|n| prop::collection::vec(prop::collection::vec(0..n, 0..3), n))
        ) {
            let structure = structure(&successors);
            let n = successors.len();
            for b in (0..n).filter(|&b| reaches_without(&successors, usize::MAX, b)) {
                for a in 0..n {
                    let expected = a == b || !reaches_without(&successors, a, b);
                    prop_assert_eq!(structure.dominates(a, b), expected, "{} over {}", a, b);
                }
            }
            for found in &structure.loops {
                for &block in &found.blocks {
                    prop_assert!(structure.dominates(found.header, block));
                }
            }
        }
    }
}
