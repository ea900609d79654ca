//! Dominators and natural loops of one function.

use std::ops::Range;

/// Dominator tree and loops over blocks `0..n`, block 0 being the entry.
#[derive(Clone, Debug)]
pub struct Structure {
    /// The blocks that the entry reaches, each before its successors but for back edges.
    order: Vec<usize>,
    /// By block: where its subtree of the dominator tree begins in a preorder, and how many blocks that has.
    /// Those that the entry does not reach have none.
    subtrees: Vec<(usize, usize)>,
    loops: Loops,
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
        let immediate = dominators(&order, &position, &predecessors, n);
        let mut this = Self { subtrees: subtrees(&order, &immediate), loops: Loops::of_blocks(n), order };
        // Inner loops first: a header comes behind those that dominate it.
        for at in (0..this.order.len()).rev() {
            let header = this.order[at];
            let before = predecessors(header).iter().copied();
            let latches: Vec<usize> = before.filter(|&from| this.dominates(header, from)).collect();
            if !latches.is_empty() {
                // What block 0 does not reach is in no loop.
                this.loops.add(header, latches, |block| {
                    predecessors(block).iter().copied().filter(|&from| position[from] != usize::MAX)
                });
            }
        }
        this.loops.finish();
        this
    }

    /// The blocks that the entry reaches, each before its successors but for back edges.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Whether every path from the entry to `b` passes `a`. A block dominates itself, one that the entry does
    /// not reach nothing.
    pub fn dominates(&self, a: usize, b: usize) -> bool {
        let ((first, size), (at, reached)) = (self.subtrees[a], self.subtrees[b]);
        a == b || reached > 0 && (first..first + size).contains(&at)
    }

    /// How many loops are around a block.
    pub fn depth(&self, block: usize) -> u32 {
        self.loops.innermost[block].map_or(0, |inner| self.loops.all[inner].depth)
    }

    /// Blocks among which are all of the innermost loop around a block; all blocks, if there is none.
    pub fn loop_span(&self, block: usize) -> Range<usize> {
        match self.loops.innermost[block] {
            Some(inner) => self.loops.all[inner].span.clone(),
            None => 0..self.subtrees.len(),
        }
    }

    /// Whether the way from block `from` to `to` leaves the innermost loop around `from`; not if there is
    /// none.
    pub fn leaves_loop(&self, from: usize, to: usize) -> bool {
        self.loops.innermost[from].is_some_and(|inner| !self.loops.is_inside(to, inner))
    }
}

/// The natural loops: the blocks that reach a back edge's source without passing its target, the header. Back
/// edges to one header make one loop. Two of them have no block in common, or one of them all of the other's.
#[derive(Clone, Debug)]
struct Loops {
    all: Vec<Loop>,
    /// By block: the innermost loop around it.
    innermost: Vec<Option<usize>>,
}

#[derive(Clone, Debug)]
struct Loop {
    header: usize,
    /// The innermost loop around it.
    parent: Option<usize>,
    /// The outermost loop around it that is known so far, or one on the way there.
    outermost: usize,
    /// Itself and those around it.
    depth: u32,
    /// From its lowest block to its highest.
    span: Range<usize>,
}

impl Loop {
    /// It has blocks at both ends of a span.
    fn reach(&mut self, span: &Range<usize>) {
        self.span = self.span.start.min(span.start)..self.span.end.max(span.end);
    }
}

impl Loops {
    /// None yet.
    fn of_blocks(n: usize) -> Self {
        Self { all: Vec::new(), innermost: vec![None; n] }
    }

    /// Adds the loop of a header. Those inside of it must be there.
    fn add<I: Iterator<Item = usize>>(
        &mut self,
        header: usize,
        latches: Vec<usize>,
        predecessors: impl Fn(usize) -> I,
    ) {
        let number = self.all.len();
        self.all.push(Loop { header, parent: None, outermost: number, depth: 0, span: header..header + 1 });
        // It is in no loop yet: a loop has only blocks that its header dominates.
        self.innermost[header] = Some(number);
        let mut work = latches;
        while let Some(block) = work.pop() {
            match self.innermost[block] {
                None => {
                    self.innermost[block] = Some(number);
                    work.extend(predecessors(block));
                }
                Some(inner) => {
                    let inner = self.outermost(inner);
                    if inner != number {
                        self.all[inner].parent = Some(number);
                        self.all[inner].outermost = number;
                        work.extend(predecessors(self.all[inner].header));
                    }
                }
            }
        }
    }

    /// The outermost loop around a loop, and a shorter way there for the next time.
    fn outermost(&mut self, mut inner: usize) -> usize {
        while self.all[inner].outermost != inner {
            let next = self.all[inner].outermost;
            self.all[inner].outermost = self.all[next].outermost;
            inner = next;
        }
        inner
    }

    /// Once all are there: outer loops were added last.
    fn finish(&mut self) {
        for (block, inner) in self.innermost.iter().enumerate() {
            if let Some(inner) = *inner {
                self.all[inner].reach(&(block..block + 1));
            }
        }
        for number in 0..self.all.len() {
            if let Some(parent) = self.all[number].parent {
                let span = self.all[number].span.clone();
                self.all[parent].reach(&span);
            }
        }
        for number in (0..self.all.len()).rev() {
            self.all[number].depth = 1 + self.all[number].parent.map_or(0, |parent| self.all[parent].depth);
        }
    }

    /// Whether a block is in a loop.
    fn is_inside(&self, block: usize, number: usize) -> bool {
        // Numbers grow outwards.
        let outwards = std::iter::successors(self.innermost[block], |&inner| self.all[inner].parent);
        outwards.take_while(|&around| around <= number).any(|around| around == number)
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

/// Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm": intersect along the tree until nothing
/// changes.
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

/// By block: where its subtree of the dominator tree begins in a preorder, and how many blocks that has.
fn subtrees(order: &[usize], immediate: &[Option<usize>]) -> Vec<(usize, usize)> {
    let mut subtrees = vec![(0, 0); immediate.len()];
    // A block comes behind the one that dominates it.
    for &block in order.iter().rev() {
        subtrees[block].1 += 1;
        if let Some(above) = immediate[block].filter(|&above| above != block) {
            subtrees[above].1 += subtrees[block].1;
        }
    }
    // By block: where the subtree of the next one that it dominates begins.
    let mut next = vec![1; immediate.len()];
    for &block in order {
        if let Some(above) = immediate[block].filter(|&above| above != block) {
            subtrees[block].0 = next[above];
            next[above] += subtrees[block].1;
            next[block] = subtrees[block].0 + 1;
        }
    }
    subtrees
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
        assert_eq!([0, 1, 2, 3, 4].map(|block| structure.depth(block)), [0, 1, 2, 2, 0]);
        assert!(structure.leaves_loop(3, 1) && structure.leaves_loop(1, 4) && !structure.leaves_loop(3, 2));
        assert!(!structure.leaves_loop(4, 1) && !structure.leaves_loop(1, 3));
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
        reaches_around(successors, without, 0, to)
    }

    fn reaches_around(successors: &[Vec<usize>], without: usize, from: usize, to: usize) -> bool {
        let mut seen = vec![false; successors.len()];
        let mut work = vec![from];
        while let Some(block) = work.pop() {
            if block != without && !std::mem::replace(&mut seen[block], true) {
                work.extend(&successors[block]);
            }
        }
        seen[to]
    }

    /// The definition of natural loops: by header which blocks are in its loop.
    fn natural_loops(successors: &[Vec<usize>], structure: &Structure) -> Vec<Vec<bool>> {
        let n = successors.len();
        let is_reached = |block| reaches_without(successors, usize::MAX, block);
        let of_header = |header: usize| {
            let is_latch = |&from: &usize| {
                is_reached(from) && successors[from].contains(&header) && structure.dominates(header, from)
            };
            let latches: Vec<usize> = (0..n).filter(is_latch).collect();
            let in_loop = |block: usize| {
                block == header
                    || latches.iter().any(|&latch| reaches_around(successors, header, block, latch))
            };
            (!latches.is_empty()).then(|| (0..n).map(|block| is_reached(block) && in_loop(block)).collect())
        };
        (0..n).filter_map(of_header).collect()
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
            let loops = natural_loops(&successors, &structure);
            let around = |block: usize| loops.iter().filter(move |blocks| blocks[block]);
            for block in 0..n {
                prop_assert_eq!(structure.depth(block) as usize, around(block).count());
                let size = |blocks: &&Vec<bool>| blocks.iter().filter(|&&inside| inside).count();
                for to in 0..n {
                    let leaves = around(block).min_by_key(size).is_some_and(|blocks| !blocks[to]);
                    prop_assert_eq!(structure.leaves_loop(block, to), leaves, "{} to {}", block, to);
                }
            }
        }
    }
}
