//! Matrices of a wave: WMMA, and SWMMAC, of which A is sparse (RDNA3 ISA, section 7.9; RDNA4 ISA, section 7.12; AMD's matrix
//! instruction calculator).
//!
//! C and D have 16 rows and 16 columns. Lane `l` holds elements of row `l % 16` of A and of columns `l % 16` of B, C and D. Which
//! of them lanes of which group of 16 hold is the generation's ([`Matrices`]).
//!
//! *Approximate*: the order of additions is not published. Products are added to C one after the other, each sum rounded as a
//! single; results of 16 bits are rounded once more at the end.

use amdgpu_isa::{Mods, Op};

use super::float::single;
use super::minifloat::{self, Format};
use super::{Context, half};
use crate::check::{Outcome, Trap};
use crate::program::{Handler, Src, Step};
use crate::rules::Matrices;
use crate::wave::{Half, LANES, Wave, odd_operand};

/// Rows and columns of C and D, and lanes of a group.
const SIZE: usize = 16;

/// What the elements of A or B are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Element {
    F16,
    BF16,
    /// FP8 or BF8.
    Small(Format),
    /// Whole numbers of so many bits.
    Whole(usize),
}

/// What the elements of C and D are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sum {
    F32,
    F16,
    BF16,
    I32,
}

/// What a mnemonic says.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Form {
    a: Element,
    b: Element,
    sum: Sum,
    /// Columns of A and rows of B.
    depth: usize,
    /// Of each four elements of A along a row, two are there.
    sparse: bool,
}

fn form(op: Op) -> Option<Form> {
    let name = op.name();
    let (rest, sparse) = match (name.strip_prefix("v_wmma_"), name.strip_prefix("v_swmmac_")) {
        (Some(rest), _) => (rest, false),
        (_, Some(rest)) => (rest, true),
        _ => return None,
    };
    let mut words = rest.split('_');
    let sum = match words.next()? {
        "f32" => Sum::F32,
        "f16" => Sum::F16,
        "bf16" => Sum::BF16,
        "i32" => Sum::I32,
        _ => return None,
    };
    let depth = words.next()?.strip_prefix("16x16x")?.parse().ok()?;
    let a = Element::of(words.next()?)?;
    let b = words.next().map_or(Some(a), Element::of)?;
    Some(Form { a, b, sum, depth, sparse })
}

impl Element {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "f16" => Self::F16,
            "bf16" => Self::BF16,
            "fp8" => Self::Small(minifloat::FP8_OCP),
            "bf8" => Self::Small(minifloat::BF8_OCP),
            "iu8" => Self::Whole(8),
            "iu4" => Self::Whole(4),
            _ => return None,
        })
    }

    const fn bits(self) -> usize {
        match self {
            Self::F16 | Self::BF16 => 16,
            Self::Small(_) => 8,
            Self::Whole(bits) => bits,
        }
    }
}

/// The function that executes such an instruction.
pub(super) fn handler(op: Op) -> Option<Handler> {
    form(op).map(|_| multiply as Handler)
}

/// In what a result may differ from a device's.
pub(super) fn bound(op: Op) -> Option<&'static str> {
    (form(op)?.sum != Sum::I32).then_some(
        "the order of additions is not published; here one product after the other, in single precision",
    )
}

/// How a wave's lanes hold matrices.
#[derive(Clone, Copy)]
struct Layout {
    matrices: Matrices,
    lanes: usize,
}

/// Where an element of A or B is: a group of 16 lanes, and its number among those that a lane has.
type Place = (usize, usize);

impl Layout {
    /// The place of element `k` of `depth` along a row of A or a column of B.
    fn place(self, k: usize, depth: usize, bits: usize) -> Place {
        match self.matrices {
            // In the first group as in every other.
            Matrices::Repeated => (0, k),
            Matrices::Once => {
                let quarter = depth / 4;
                let chunk = k / quarter;
                let (low, high) = (chunk & 1, chunk >> 1);
                let (first, second) = if bits == 16 { (low, high) } else { (high, low) };
                if self.is_split(depth, bits) {
                    (first + 2 * second, k % quarter)
                } else {
                    (first, second * quarter + k % quarter)
                }
            }
        }
    }

    /// All four groups of a wave of 64 lanes have some: each lane at least a dword of them.
    fn is_split(self, depth: usize, bits: usize) -> bool {
        self.lanes == LANES && depth / 4 * bits >= 32
    }

    /// Elements that a lane has along a row of A.
    fn elements(self, depth: usize, bits: usize) -> usize {
        match self.matrices {
            Matrices::Repeated => depth,
            Matrices::Once if self.is_split(depth, bits) => depth / 4,
            Matrices::Once => depth / 2,
        }
    }

    /// The row of an element of C and D, by its group of lanes and its number among those that a lane has.
    fn row(self, group: usize, element: usize) -> usize {
        let groups = self.lanes / SIZE;
        match self.matrices {
            Matrices::Repeated => groups * element + group,
            Matrices::Once => 8 * (group & 1) + 4 * (group >> 1) + element,
        }
    }

    /// The register and first bit of an element of C and D. Where those of 16 bits have a register each, `high` says which half.
    fn register(self, element: usize, sum: Sum, high: bool) -> (usize, u32) {
        match (self.matrices, sum) {
            (_, Sum::F32 | Sum::I32) => (element, 0),
            (Matrices::Repeated, _) => (element, if high { 16 } else { 0 }),
            (Matrices::Once, _) => (element / 2, 16 * (element % 2) as u32),
        }
    }
}

fn multiply(context: &mut Context<'_>, step: &Step) -> Outcome {
    let (Some(form), Some(extra)) = (form(step.op), &step.extra) else {
        return Err(odd_operand(step.op));
    };
    let mods = &extra.inst.mods;
    let w = &mut *context.wave;
    let layout = Layout { matrices: w.rules.matrices, lanes: w.lanes() };
    if w.exec.count_ones() as usize != layout.lanes {
        return Err(Trap::unimplemented(step.op, "with lanes that are switched off"));
    }
    let a = rows_of_a(w, step, mods, form, layout)?;
    let b = elements(w, step, mods, form.b, form.depth, 1, layout)?;
    let high = mods.op_sel >> 2 & 1 != 0;
    let addend = if form.sparse { Src::Row(step.dst) } else { step.src[2] };
    // What C is comes with no modifiers where it is what D was.
    let signs = if form.sparse { Mods::default() } else { *mods };
    let count = SIZE * SIZE / layout.lanes;
    let mut results = Vec::with_capacity(SIZE * SIZE);
    for lane in 0..layout.lanes {
        let (group, column) = (lane / SIZE, lane % SIZE);
        for element in 0..count {
            let (register, shift) = layout.register(element, form.sum, high);
            let c = match addend {
                Src::Row(first) => w.rows[usize::from(first) + register][lane] >> shift,
                other => w.scalar32(other),
            };
            let row = &a[layout.row(group, element)];
            let value = match form.sum {
                Sum::I32 => {
                    whole(c, row.iter().map(|&(k, value)| value.whole() * b[column][k].whole()), mods)
                }
                sum => {
                    let start = negated(addend_value(c, sum), &signs);
                    let add = |total, &(k, value): &(usize, Number)| {
                        single::fma(value.float(), b[column][k].float(), total)
                    };
                    rounded(row.iter().fold(start, add), sum)
                }
            };
            results.push((lane, register, shift, value));
        }
    }
    let mask = if matches!(form.sum, Sum::F16 | Sum::BF16) { 0xffff } else { u32::MAX };
    for (lane, register, shift, value) in results {
        let old = &mut w.rows[usize::from(step.dst) + register][lane];
        *old = *old & !(mask << shift) | value << shift;
    }
    Ok(())
}

/// A sum of whole numbers.
fn whole(c: u32, products: impl Iterator<Item = i32>, mods: &Mods) -> u32 {
    let exact = i64::from(c as i32) + i64::from(products.sum::<i32>());
    if mods.clamp { exact.clamp(i32::MIN.into(), i32::MAX.into()) as u32 } else { exact as u32 }
}

/// An element of A or B.
#[derive(Clone, Copy)]
enum Number {
    Float(f32),
    Whole(i32),
}

impl Number {
    fn float(self) -> f32 {
        match self {
            Self::Float(value) => value,
            Self::Whole(value) => value as f32,
        }
    }

    fn whole(self) -> i32 {
        match self {
            Self::Float(_) => 0,
            Self::Whole(value) => value,
        }
    }
}

/// The elements of A's rows that are there, and in which column each is.
fn rows_of_a(
    w: &Wave,
    step: &Step,
    mods: &Mods,
    form: Form,
    layout: Layout,
) -> Outcome<Vec<Vec<(usize, Number)>>> {
    if !form.sparse {
        let rows = elements(w, step, mods, form.a, form.depth, 0, layout)?;
        return Ok(rows.into_iter().map(|row| row.into_iter().enumerate().collect()).collect());
    }
    let depth = form.depth / 2;
    let rows = elements(w, step, mods, form.a, depth, 0, layout)?;
    let Src::Row(keys) = step.src[2] else { return Err(odd_operand(step.op)) };
    let bits = form.a.bits();
    let set = usize::from(mods.op_sel & 3) * 2 * layout.elements(depth, bits);
    let key = |row: usize, packed: usize| {
        let (group, element) = layout.place(packed, depth, bits);
        let keys = w.rows[usize::from(keys)][group * SIZE + row];
        keys.checked_shr((set + 2 * element) as u32).unwrap_or(0) as usize & 3
    };
    let expanded = |(row, packed): (usize, Vec<Number>)| {
        let pairs = packed.chunks_exact(2).enumerate();
        pairs
            .flat_map(|(four, pair)| {
                let [first, second] = [2 * four, 2 * four + 1].map(|packed| key(row, packed));
                // Keys ascend: the first is none of the last column, the second none of the first.
                let first_is_there = (first < 3).then_some((4 * four + first, pair[0]));
                let second_is_there = (second > 0 && second != first).then_some((4 * four + second, pair[1]));
                first_is_there.into_iter().chain(second_is_there)
            })
            .collect()
    };
    Ok(rows.into_iter().enumerate().map(expanded).collect())
}

/// The elements of the first or second source, by the row of A or the column of B, and in order along it.
fn elements(
    w: &Wave,
    step: &Step,
    mods: &Mods,
    element: Element,
    depth: usize,
    source: usize,
    layout: Layout,
) -> Outcome<Vec<Vec<Number>>> {
    let Src::Row(first) = step.src[source] else { return Err(odd_operand(step.op)) };
    let bits = element.bits();
    let in_register = 32 / bits;
    // NEG is of the lower halves, NEG_HI of the upper ones; of whole numbers NEG says that they are signed.
    let is_negative =
        |at: usize| (if at.is_multiple_of(2) { mods.neg } else { mods.neg_hi }) >> source & 1 != 0;
    let is_signed = mods.neg >> source & 1 != 0;
    let number = |line: usize, k: usize| {
        let (group, at) = layout.place(k, depth, bits);
        let register = w.rows[usize::from(first) + at / in_register][group * SIZE + line];
        let code = register >> (bits * (at % in_register)) & ((1 << bits) - 1);
        let sign = if is_negative(at) { 0x8000 } else { 0 };
        match element {
            Element::F16 => Number::Float(half::value(Half(code as u16 ^ sign))),
            Element::BF16 => Number::Float(half::bf16(code as u16 ^ sign)),
            Element::Small(format) => Number::Float(format.value(code)),
            Element::Whole(bits) if is_signed => Number::Whole((code << (32 - bits)) as i32 >> (32 - bits)),
            Element::Whole(_) => Number::Whole(code as i32),
        }
    };
    Ok((0..SIZE).map(|line| (0..depth).map(|k| number(line, k)).collect()).collect())
}

fn addend_value(bits: u32, sum: Sum) -> f32 {
    match sum {
        Sum::F16 => half::value(Half(bits as u16)),
        Sum::BF16 => half::bf16(bits as u16),
        Sum::F32 | Sum::I32 => f32::from_bits(bits),
    }
}

/// C with its absolute value taken, and negated.
fn negated(value: f32, mods: &Mods) -> f32 {
    let value = if mods.neg_hi >> 2 & 1 != 0 { value.abs() } else { value };
    if mods.neg >> 2 & 1 != 0 { -value } else { value }
}

fn rounded(value: f32, sum: Sum) -> u32 {
    match sum {
        Sum::F16 => half::from_f32(value, 0).0.into(),
        Sum::BF16 => half::to_bf16(value).into(),
        Sum::F32 | Sum::I32 => value.to_bits(),
    }
}
