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
    /// Analyses the graph that `successors` gives.
    pub fn new(successors: &[Vec<usize>]) -> Self {
        let n = successors.len();
        let order = reverse_postorder(n, |block| &successors[block]);
        let mut position = vec![usize::MAX; n];
        for (index, &block) in order.iter().enumerate() {
            position[block] = index;
        }
        let mut predecessors = vec![Vec::new(); n];
        for &block in &order {
            for &next in &successors[block] {
                predecessors[next].push(block);
            }
        }
        let immediate_dominator = dominators(&order, &position, &predecessors, n);
        let mut this = Self { immediate_dominator, loops: Vec::new(), depth: vec![0; n] };
        let mut latches = vec![Vec::new(); n];
        for &block in &order {
            for &next in &successors[block] {
                if this.dominates(next, block) {
                    latches[next].push(block);
                }
            }
        }
        for (header, latches) in latches.into_iter().enumerate().filter(|(_, latches)| !latches.is_empty()) {
            let mut inside = vec![false; n];
            inside[header] = true;
            let mut work = latches;
            while let Some(block) = work.pop() {
                if !std::mem::replace(&mut inside[block], true) {
                    work.extend(&predecessors[block]);
                }
            }
            let blocks: Vec<usize> = (0..n).filter(|&block| inside[block]).collect();
            for &block in &blocks {
                this.depth[block] += 1;
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
        self.loops
            .iter()
            .filter(|candidate| candidate.blocks.binary_search(&block).is_ok())
            .min_by_key(|candidate| candidate.blocks.len())
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
fn dominators(
    order: &[usize],
    position: &[usize],
    predecessors: &[Vec<usize>],
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
            for &from in &predecessors[block] {
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
        let successors = vec![vec![1], vec![2, 4], vec![3], vec![2, 1], vec![]];
        let structure = Structure::new(&successors);
        assert_eq!(structure.depth, [0, 1, 2, 2, 0]);
        assert_eq!(structure.innermost(3).map(|inner| inner.header), Some(2));
        assert_eq!(structure.innermost(4), None);
        assert!(structure.dominates(1, 4) && !structure.dominates(2, 4));
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
            let structure = Structure::new(&successors);
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
