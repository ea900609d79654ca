//! Matrices of a wave: WMMA, and SWMMAC, of which A is sparse (RDNA3 ISA, section 7.9; RDNA4 ISA, section
//! 7.12; AMD's matrix instruction calculator).
//!
//! C and D have 16 rows and 16 columns. Lane `l` holds elements of row `l % 16` of A and of columns `l % 16`
//! of B, C and D. Which of them lanes of which group of 16 hold is the generation's ([`Matrices`]).
//!
//! *Approximate*: the order of additions is not published. Products are added to C one after the other, each
//! sum rounded as a single; results of 16 bits are rounded once more at the end.

#![expect(clippy::needless_range_loop, reason = "lanes are numbered alike in several arrays")]

use std::collections::HashMap;
use std::sync::LazyLock;

use amdgpu_isa::{Accumulator, MatrixUnit, Mods, Op};

use super::float::single;
use super::minifloat::{self, Format};
use super::{half, versions};
use crate::check::{Outcome, Trap};
use crate::program::{Context, Handler, Step, Versions};
use crate::rules::Matrices;
use crate::wave::{Half, LANES, Src, Wave, odd_operand};

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

/// What an opcode multiplies.
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
    let product = op.matrix_product().filter(|product| product.unit == MatrixUnit::Wmma)?;
    let sum = match product.result {
        Accumulator::F32 => Sum::F32,
        Accumulator::F16 => Sum::F16,
        Accumulator::Bf16 => Sum::BF16,
        Accumulator::I32 => Sum::I32,
        Accumulator::F64 => return None,
    };
    let (a, b, depth) = (Element::of(product.a)?, Element::of(product.b)?, product.depth);
    (depth <= DEEPEST).then_some(Form { a, b, sum, depth, sparse: product.is_sparse })
}

impl Element {
    /// `None` of one that only other products have.
    fn of(element: amdgpu_isa::Element) -> Option<Self> {
        use amdgpu_isa::Element as Of;
        Some(match element {
            Of::F16 => Self::F16,
            Of::Bf16 => Self::BF16,
            Of::Fp8 => Self::Small(minifloat::FP8_OCP),
            Of::Bf8 => Self::Small(minifloat::BF8_OCP),
            Of::Iu8 | Of::Iu4 => Self::Whole(element.bits()),
            Of::F64 | Of::F32 | Of::Xf32 | Of::I8 | Of::Small => return None,
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

/// The forms by their opcodes.
static FORMS: LazyLock<HashMap<Op, Form>> =
    LazyLock::new(|| Op::ALL.iter().filter_map(|&op| Some((op, form(op)?))).collect());

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

    /// The register and first bit of an element of C and D. Where those of 16 bits have a register each,
    /// `high` says which half.
    fn register(self, element: usize, sum: Sum, high: bool) -> (usize, u32) {
        match (self.matrices, sum) {
            (_, Sum::F32 | Sum::I32) => (element, 0),
            (Matrices::Repeated, _) => (element, if high { 16 } else { 0 }),
            (Matrices::Once, _) => (element / 2, 16 * (element % 2) as u32),
        }
    }
}

/// The deepest matrices.
const DEEPEST: usize = 64;

/// One number for each row of A or column of B: the bits of singles, or whole numbers.
type Line = [u32; SIZE];

fn multiply(context: &mut Context<'_>, step: &Step) -> Outcome {
    static LANES_OF_ALL: Versions = versions!(multiply_rows);
    let (Some(form), true) = (FORMS.get(&step.op), step.extra.is_some()) else {
        return Err(odd_operand(step.op));
    };
    let w = &mut *context.wave;
    if w.exec.count_ones() as usize != w.lanes() {
        return Err(Trap::unimplemented(step.op, "with lanes that are switched off"));
    }
    let keys_are_odd = form.sparse && !matches!(step.src[2], Src::Row(_));
    if keys_are_odd || !matches!(step.src[..2], [Src::Row(_), Src::Row(_)]) {
        return Err(odd_operand(step.op));
    }
    LANES_OF_ALL.run(w, step);
    Ok(())
}

/// A row of D after the other, each of 16 columns.
#[inline(always)]
fn multiply_rows(w: &mut Wave, step: &Step) {
    let (Some(form), Some(extra)) = (FORMS.get(&step.op), &step.extra) else { return };
    let mods = &extra.inst.mods;
    let layout = Layout { matrices: w.rules.matrices, lanes: w.lanes() };
    let high = mods.op_sel >> 2 & 1 != 0;
    let addend = if form.sparse { Src::Row(step.dst) } else { step.src[2] };
    // What C is comes with no modifiers where it is what D was.
    let signs = if form.sparse { Mods::default() } else { *mods };
    let a = rows_of_a(w, step, mods, form, layout);
    let mut b = [[0; SIZE]; DEEPEST];
    elements(w, step, mods, form.b, form.depth, 1, layout, &mut b);
    let mut results = [([0; SIZE], 0, 0, 0); SIZE];
    let count = SIZE * SIZE / layout.lanes;
    for (number, result) in results.iter_mut().enumerate() {
        let (group, element) = (number / count, number % count);
        let (register, shift) = layout.register(element, form.sum, high);
        let mut c = [0; SIZE];
        match addend {
            Src::Row(first) => {
                let row = &w.rows[usize::from(first) + register][group * SIZE..][..SIZE];
                for column in 0..SIZE {
                    c[column] = row[column] >> shift;
                }
            }
            other => c = [w.scalar32(other); SIZE],
        }
        let row = a.row(layout.row(group, element));
        let values = match form.sum {
            Sum::I32 => whole_row(&c, row, &b, mods.clamp),
            sum => float_row(&c, row, &b, sum, &signs),
        };
        *result = (values, group, register, shift);
    }
    let mask = if matches!(form.sum, Sum::F16 | Sum::BF16) { 0xffff } else { u32::MAX };
    for (values, group, register, shift) in results {
        let row = &mut w.rows[usize::from(step.dst) + register][group * SIZE..][..SIZE];
        for column in 0..SIZE {
            row[column] = row[column] & !(mask << shift) | values[column] << shift;
        }
    }
}

/// A row of D: sums of floats, one product after the other.
#[inline(always)]
fn float_row(c: &Line, row: &[(u32, u32)], b: &[Line; DEEPEST], sum: Sum, signs: &Mods) -> Line {
    let mut start = [0.0; SIZE];
    for column in 0..SIZE {
        start[column] = negated(addend_value(c[column], sum), signs);
    }
    let mut total = start;
    for &(k, value) in row {
        let (value, column_values) = (f32::from_bits(value), &b[k as usize]);
        for column in 0..SIZE {
            total[column] = value.mul_add(f32::from_bits(column_values[column]), total[column]);
        }
    }
    let mut nan = false;
    for column in 0..SIZE {
        nan |= total[column].is_nan();
    }
    if nan {
        total = with_nans(start, row, b);
    }
    let mut values = [0; SIZE];
    for column in 0..SIZE {
        values[column] = rounded(total[column], sum);
    }
    values
}

/// The sums where one of them is a NaN: what is one, stays one, and which it is goes by the rule of
/// [`single::fma`].
#[inline(never)]
fn with_nans(mut total: [f32; SIZE], row: &[(u32, u32)], b: &[Line; DEEPEST]) -> [f32; SIZE] {
    for &(k, value) in row {
        for column in 0..SIZE {
            let factor = f32::from_bits(b[k as usize][column]);
            total[column] = single::fma(f32::from_bits(value), factor, total[column]);
        }
    }
    total
}

/// A row of D: sums of whole numbers.
#[inline(always)]
fn whole_row(c: &Line, row: &[(u32, u32)], b: &[Line; DEEPEST], clamp: bool) -> Line {
    let mut total = [0i32; SIZE];
    for &(k, value) in row {
        for column in 0..SIZE {
            total[column] += value as i32 * b[k as usize][column] as i32;
        }
    }
    let mut values = [0; SIZE];
    for column in 0..SIZE {
        let (start, sum) = (c[column] as i32, total[column]);
        let limited = if clamp { start.saturating_add(sum) } else { start.wrapping_add(sum) };
        values[column] = limited as u32;
    }
    values
}

/// The elements of A that are there, row after row: the column of each, and its value.
struct RowsOfA {
    elements: [[(u32, u32); DEEPEST]; SIZE],
    lengths: [usize; SIZE],
}

impl RowsOfA {
    #[inline(always)]
    fn row(&self, row: usize) -> &[(u32, u32)] {
        &self.elements[row][..self.lengths[row]]
    }

    #[inline(always)]
    fn push(&mut self, row: usize, element: (u32, u32)) {
        self.elements[row][self.lengths[row]] = element;
        self.lengths[row] += 1;
    }
}

#[inline(always)]
fn rows_of_a(w: &Wave, step: &Step, mods: &Mods, form: &Form, layout: Layout) -> RowsOfA {
    let mut rows = RowsOfA { elements: [[(0, 0); DEEPEST]; SIZE], lengths: [0; SIZE] };
    let depth = if form.sparse { form.depth / 2 } else { form.depth };
    let mut values = [[0; SIZE]; DEEPEST];
    elements(w, step, mods, form.a, depth, 0, layout, &mut values);
    let keys = match step.src[2] {
        Src::Row(keys) if form.sparse => &w.rows[usize::from(keys)],
        _ => {
            for row in 0..SIZE {
                for k in 0..depth {
                    rows.elements[row][k] = (k as u32, values[k][row]);
                }
                rows.lengths[row] = depth;
            }
            return rows;
        }
    };
    let bits = form.a.bits();
    let set = usize::from(mods.op_sel & 3) * 2 * layout.elements(depth, bits);
    for pair in 0..depth / 2 {
        let places = [layout.place(2 * pair, depth, bits), layout.place(2 * pair + 1, depth, bits)];
        for row in 0..SIZE {
            let [first, second] = places.map(|(group, element)| {
                keys[group * SIZE + row].checked_shr((set + 2 * element) as u32).unwrap_or(0) & 3
            });
            let four = 4 * pair as u32;
            // Keys ascend: the first is none of the last column, the second none of the first.
            if first < 3 {
                rows.push(row, (four + first, values[2 * pair][row]));
            }
            if second > 0 && second != first {
                rows.push(row, (four + second, values[2 * pair + 1][row]));
            }
        }
    }
    rows
}

/// The elements of the first or second source, in order along the rows of A or the columns of B.
#[expect(clippy::too_many_arguments, reason = "they say which part of which operand is read")]
#[inline(always)]
fn elements(
    w: &Wave,
    step: &Step,
    mods: &Mods,
    element: Element,
    depth: usize,
    source: usize,
    layout: Layout,
    into: &mut [Line; DEEPEST],
) {
    let Src::Row(first) = step.src[source] else { return };
    let bits = element.bits();
    let in_register = 32 / bits;
    let is_signed = mods.neg >> source & 1 != 0;
    for (k, line) in into.iter_mut().enumerate().take(depth) {
        let (group, at) = layout.place(k, depth, bits);
        let registers = &w.rows[usize::from(first) + at / in_register][group * SIZE..][..SIZE];
        let (up, down) = (32 - bits * (at % in_register + 1), 32 - bits);
        // NEG is of the lower halves, NEG_HI of the upper ones; of whole numbers NEG says that they are
        // signed.
        let negates = (if at.is_multiple_of(2) { mods.neg } else { mods.neg_hi }) >> source & 1 != 0;
        let sign = if negates { 0x8000 } else { 0 };
        macro_rules! line {
            (|$top:ident| $value:expr) => {
                for number in 0..SIZE {
                    let $top = registers[number] << up;
                    line[number] = $value;
                }
            };
        }
        match element {
            Element::F16 => line!(|top| half::value(Half((top >> 16) as u16 ^ sign)).to_bits()),
            Element::BF16 => line!(|top| half::bf16((top >> 16) as u16 ^ sign).to_bits()),
            Element::Small(format) => {
                let values = format.values();
                line!(|top| values[(top >> down) as usize & 0xff].to_bits());
            }
            Element::Whole(_) if is_signed => line!(|top| (top as i32 >> down) as u32),
            Element::Whole(_) => line!(|top| top >> down),
        }
    }
}

#[inline(always)]
fn addend_value(bits: u32, sum: Sum) -> f32 {
    match sum {
        Sum::F16 => half::value(Half(bits as u16)),
        Sum::BF16 => half::bf16(bits as u16),
        Sum::F32 | Sum::I32 => f32::from_bits(bits),
    }
}

/// C with its absolute value taken, and negated.
#[inline(always)]
fn negated(value: f32, mods: &Mods) -> f32 {
    let value = if mods.neg_hi >> 2 & 1 != 0 { value.abs() } else { value };
    if mods.neg >> 2 & 1 != 0 { -value } else { value }
}

#[inline(always)]
fn rounded(value: f32, sum: Sum) -> u32 {
    match sum {
        Sum::F16 => half::from_f32(value, 0).0.into(),
        Sum::BF16 => half::to_bf16(value).into(),
        Sum::F32 | Sum::I32 => value.to_bits(),
    }
}
