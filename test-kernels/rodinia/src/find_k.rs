//! b+tree, one query a workgroup: each work-item holds one key of a node.

use amdinst_device::{barrier, kernel, probe, workgroup_id_x, workitem_id_x};

/// Keys of a node that work-items compare; a node has one more, the upper bound of the last.
pub const ORDER: usize = 256;
/// Keys, and children, that are stored of a node.
pub const NODE: usize = ORDER + 1;

/// `answers[g]` is the record of query `g`, if its key is there. `keys` and `children` hold the nodes, [`NODE`] each, the
/// root first; children of leaves are numbers of records. `current` and `offset` hold a node's number for each query.
///
/// # Safety
/// Launched with workgroups of [`ORDER`], one a query; `keys` and `children` are to `nodes` nodes, children of inner nodes
/// are below `nodes`, `current`, `offset`, `queries` and `answers` are to one element a query.
#[kernel]
pub unsafe fn find_k(
    height: u32,
    nodes: u32,
    keys: *const i32,
    children: *const u32,
    records: *const i32,
    current: *mut u32,
    offset: *mut u32,
    queries: *const i32,
    answers: *mut i32,
) {
    let lane = workitem_id_x() as usize;
    let group = workgroup_id_x() as usize;
    // SAFETY: nodes are below `nodes`; one work-item writes `offset`, and `current` is written between barriers.
    unsafe {
        for _ in 0..height {
            // What stores may have changed is read again, as it is written in the original.
            let query = *queries.add(group);
            let at = *current.add(group) as usize * NODE + lane;
            'node: {
                #[probe("above")]
                if *keys.add(at) > query {
                    break 'node;
                }
                #[probe("below")]
                if *keys.add(at + 1) <= query {
                    break 'node;
                }
                let child = *children.add(*offset.add(group) as usize * NODE + lane);
                #[probe("inner")]
                if child >= nodes {
                    break 'node;
                }
                *offset.add(group) = child;
            }
            barrier();
            #[probe("descend")]
            if lane == 0 {
                *current.add(group) = *offset.add(group);
            }
            barrier();
        }
        let at = *current.add(group) as usize * NODE + lane;
        #[probe("found")]
        if *keys.add(at) == *queries.add(group) {
            *answers.add(group) = *records.add(*children.add(at) as usize);
        }
    }
}

/// A tree over sorted keys, all leaves at the same height.
#[cfg(not(target_arch = "amdgpu"))]
pub struct Tree {
    /// Steps from the root to a leaf.
    pub height: u32,
    /// Keys of the nodes.
    pub keys: Vec<i32>,
    /// Children of the nodes.
    pub children: Vec<u32>,
}

#[cfg(not(target_arch = "amdgpu"))]
impl Tree {
    /// Builds it with up to `fanout` keys a node. Record `i` belongs to `keys[i]`.
    ///
    /// # Panics
    /// When `keys` are not in strictly increasing order, or a key is `i32::MAX`, which marks an absent key.
    pub fn new(keys: &[i32], fanout: usize) -> Self {
        assert!(keys.is_sorted_by(|a, b| a < b) && keys.last() != Some(&i32::MAX) && fanout <= ORDER);
        // From the leaves up, each level as the least key and the children of its nodes.
        let mut levels: Vec<Vec<Vec<(i32, u32)>>> = Vec::new();
        let mut below: Vec<(i32, u32)> = keys.iter().copied().zip(0..).collect();
        loop {
            let level: Vec<Vec<(i32, u32)>> = below.chunks(fanout).map(<[_]>::to_vec).collect();
            below = level.iter().map(|node| node[0].0).zip(0..).collect();
            let is_root = level.len() == 1;
            levels.push(level);
            if is_root {
                break;
            }
        }
        let mut tree = Self { height: levels.len() as u32 - 1, keys: Vec::new(), children: Vec::new() };
        // The root first, so the nodes of a level are numbered behind those above.
        let mut first = 0;
        for (depth, level) in levels.iter().rev().enumerate() {
            first += level.len() as u32;
            let is_leaf = depth as u32 == tree.height;
            for (number, node) in level.iter().enumerate() {
                let start = tree.keys.len();
                tree.keys.extend(node.iter().map(|&(key, _)| key));
                tree.children
                    .extend(node.iter().map(|&(_, child)| if is_leaf { child } else { first + child }));
                // The least key of the tree stands for all that are less; the next node's bounds the last.
                if !is_leaf && number == 0 {
                    tree.keys[start] = i32::MIN;
                }
                if let Some(next) = level.get(number + 1) {
                    tree.keys.push(next[0].0);
                    tree.children.push(0);
                }
                tree.keys.resize(start + NODE, i32::MAX);
                tree.children.resize(start + NODE, 0);
            }
        }
        tree
    }

    /// How many nodes it has.
    pub fn nodes(&self) -> usize {
        self.keys.len() / NODE
    }
}

/// The kernel's result, computed on the host: records of queries whose key is there, 0 for others.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(keys: &[i32], records: &[i32], queries: &[i32]) -> Vec<i32> {
    queries.iter().map(|query| keys.binary_search(query).map_or(0, |at| records[at])).collect()
}
