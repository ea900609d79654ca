//! How matrices lie in registers (CDNA3 ISA manual, section 7.1.4; AMD matrix instruction calculator).
//!
//! For blocks of `size` rows and columns: the element of row (A) or column (B) i and depth k of block b is
//! item k mod e of lane i + size·(b + blocks·⌊k/e⌋), where a lane holds e items. Items are packed into
//! registers, the first lowest. gfx950's operands of more than four registers are two such operands one
//! behind the other, each with half of the depth, unless their elements are smaller than a byte (CDNA4 ISA
//! manual, section 7.5.1.3).
//!
//! The result's rows come in groups of four (of one, for doubles). A group's rows are in consecutive
//! registers, and side by side in a register's lanes are the groups of one block, or those of several where a
//! block is too small. (For the small doubles the manual lets the rows of a block stand closer than the
//! blocks; the calculator has it the other way round, as here.)

use amdgpu_isa::MatrixProduct;

/// Where the elements of one depth are: an item of `size` lanes from `lane` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ElementLanes {
    pub(super) item: usize,
    pub(super) lane: usize,
}

/// The layout of an input operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input {
    size: usize,
    blocks: usize,
    /// Consecutive elements of a lane; the operand may hold several such runs.
    run: usize,
}

impl Input {
    /// `depth` elements a row are stored, of `bits` bits each; those of B before sparseness.
    pub(super) fn new(shape: &MatrixProduct, depth: usize, bits: usize) -> Self {
        let per_lane = depth * shape.size * shape.blocks / 64;
        // More than 128 bits a lane: two operands in one.
        let run = if (8..32).contains(&bits) && per_lane * bits > 128 { per_lane / 2 } else { per_lane };
        Self { size: shape.size, blocks: shape.blocks, run }
    }

    /// An operand that is stored in `runs` parts, one behind the other.
    pub(super) fn in_runs(shape: &MatrixProduct, depth: usize, runs: usize) -> Self {
        let per_lane = depth * shape.size * shape.blocks / 64;
        Self { size: shape.size, blocks: shape.blocks, run: per_lane / runs }
    }

    /// Where element `k` of every row of a block is.
    pub(super) fn place(&self, block: usize, k: usize) -> ElementLanes {
        let groups = 64 / (self.size * self.blocks);
        let chunk = k / self.run;
        let (group, half) = (chunk % groups, chunk / groups);
        ElementLanes { item: half * self.run + k % self.run, lane: self.size * (block + self.blocks * group) }
    }
}

/// Where row `row` of a block of the result is: `size` lanes of one register (a pair, for doubles). `height`
/// is the number of rows of a group.
pub(super) fn result(shape: &MatrixProduct, height: usize, block: usize, row: usize) -> ElementLanes {
    let size = shape.size;
    let groups_at_once = 64 / size;
    let blocks_at_once = (64 * height).div_ceil(size * size);
    let group = row / height;
    ElementLanes {
        item: block * (size * size / 64) + group / groups_at_once * height + row % height,
        lane: size * (block % blocks_at_once + blocks_at_once * (group % groups_at_once)),
    }
}
