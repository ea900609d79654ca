//! The multiplication itself, compiled for the host's vector extensions.

use std::cell::RefCell;

use amdgpu_isa::Element;

use super::layout::Input;
use super::numerics::{Numerics, all_safe, flush};
use super::operands::{Job, Matrix, Scale};
use super::registers::{self, ELEMENTS, rows};
use super::truncated::Least;
use super::{blocks, chain, exact, flushed, truncated};
use crate::wave::{LANES, Src, Wave};

/// Matrices of one instruction.
struct Buffers<T> {
    a: [T; ELEMENTS],
    b: [T; ELEMENTS],
    d: [T; ELEMENTS],
}

/// Room for the matrices of one instruction of each kind.
struct Room {
    singles: Buffers<f32>,
    doubles: Buffers<f64>,
    integers: Buffers<i32>,
}

const fn buffers<T: Copy>(zero: T) -> Buffers<T> {
    Buffers { a: [zero; ELEMENTS], b: [zero; ELEMENTS], d: [zero; ELEMENTS] }
}

// On the stack it would have to be cleared each time.
thread_local! {
    static ROOM: RefCell<Room> = const {
        RefCell::new(Room { singles: buffers(0.0), doubles: buffers(0.0), integers: buffers(0) })
    };
}

/// Execute an instruction.
pub(super) fn run(w: &mut Wave, job: &Job) {
    ROOM.with_borrow_mut(|room| {
        #[cfg(target_arch = "x86_64")]
        if w.avx2 {
            // SAFETY: `Wave::new` sets it only where the host has these features.
            return unsafe { run_avx2(w, job, room) };
        }
        body(w, job, room);
    });
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn run_avx2(w: &mut Wave, job: &Job, room: &mut Room) {
    body(w, job, room);
}

// What the functions below pass closures to is inlined always, and the closures are small: a function that is
// not inlined does not use the host's vector extensions.

#[inline(always)]
fn body(w: &mut Wave, job: &Job, room: &mut Room) {
    match (job.shape.a, job.shape.size) {
        (Element::F64, 4) => doubles::<4>(w, job, &mut room.doubles),
        (Element::F64, _) => doubles::<16>(w, job, &mut room.doubles),
        (Element::I8, 4) => integers::<4>(w, job, &mut room.integers),
        (Element::I8, 16) => integers::<16>(w, job, &mut room.integers),
        (Element::I8, _) => integers::<32>(w, job, &mut room.integers),
        (_, 4) => singles::<4>(w, job, &mut room.singles),
        (_, 16) => singles::<16>(w, job, &mut room.singles),
        _ => singles::<32>(w, job, &mut room.singles),
    }
}

#[inline(always)]
fn input(matrix: &Matrix) -> (Input, u16, registers::Lanes) {
    (matrix.input, matrix.row, matrix.lanes)
}

/// The row of B that a sparse element of A multiplies: in each group of four, two are chosen by two bits
/// each.
#[inline(always)]
fn chosen<const N: usize>(w: &Wave, job: &Job, i: usize) -> [u8; 128] {
    let mut rows = [0; 128];
    for (k, row) in rows[..job.a.depth].iter_mut().enumerate() {
        *row = match &job.indices {
            None => k as u8,
            Some(indices) => {
                let place = indices.input.place(0, k);
                let bits = w.rows[usize::from(indices.row)][place.lane + i];
                (k / 2 * 4) as u8 + (bits >> (indices.bit + 2 * place.item) & 3) as u8
            }
        };
    }
    rows
}

#[inline(always)]
fn singles<const N: usize>(w: &mut Wave, job: &Job, buffers: &mut Buffers<f32>) {
    let shape = job.shape;
    let Buffers { a, b, d } = buffers;
    let stored = [job.a.depth, job.b.depth].map(|depth| depth * N * shape.blocks);
    let (a, b) = (&mut a[..stored[0]], &mut b[..stored[1]]);
    registers::singles(w, shape, shape.a, job.a.small, job.a.depth, input(&job.a), a);
    registers::singles(w, shape, shape.b, job.b.small, job.b.depth, input(&job.b), b);
    match job.c {
        Src::Row(row) => rows(shape, 4, d, |place, line| {
            let from = &w.rows[usize::from(row) + place.item][place.lane..][..N];
            for (value, bits) in line.iter_mut().zip(from) {
                *value = f32::from_bits(*bits);
            }
        }),
        other => d[..shape.blocks * N * N].fill(f32::from_bits(w.scalar32(other))),
    }
    prepare(job, a, b, &mut d[..shape.blocks * N * N]);
    let (a, b) = (&*a, &*b);
    let (columns, _) = b.as_chunks::<N>();
    let safe = !matches!(job.numerics, Numerics::Chain | Numerics::Exact(_) | Numerics::Blocks)
        && all_safe(a)
        && all_safe(b);
    let least = Least { a: job.a.least, b: job.b.least };
    let mut b_scales = [1.0; 4 * 32];
    let mut a_scales = [1.0; 4 * 32];
    if job.numerics == Numerics::Blocks {
        scales::<N>(w, &job.scales[0], &mut a_scales);
        scales::<N>(w, &job.scales[1], &mut b_scales);
    }
    let depth = job.a.depth;
    let (lines, _) = d.as_chunks_mut::<N>();
    for (at, line) in lines[..shape.blocks * N].iter_mut().enumerate() {
        let (block, i) = (at / N, at % N);
        let a = &a[block * depth * N..][..depth * N];
        let columns = &columns[block * job.b.depth..][..job.b.depth];
        let left = |k: usize| a[k * N + i];
        let before = if job.saturate { *line } else { [0.0; N] };
        macro_rules! sum {
            ($right:expr) => {{
                let right = $right;
                match job.numerics {
                    Numerics::Chain => chain::singles(left, right, depth, line),
                    Numerics::Exact(group) => exact::row(left, right, (depth, group), line),
                    Numerics::Flushed(group) => flushed::row(left, right, (depth, group), line, safe),
                    Numerics::Truncated(group) if safe => {
                        truncated::row(left, right, (depth, group), least, line);
                    }
                    Numerics::TwoTruncated(group) if safe => {
                        truncated::row_of_two(left, right, (depth, group), least, line);
                    }
                    Numerics::Truncated(group) | Numerics::TwoTruncated(group) => {
                        let in_two = matches!(job.numerics, Numerics::TwoTruncated(_));
                        for (j, value) in line.iter_mut().enumerate() {
                            let mut factors = [(0.0, 0.0); 128];
                            for (k, factor) in factors[..depth].iter_mut().enumerate() {
                                *factor = (left(k), right(k)[j]);
                            }
                            *value = truncated::element(&factors[..depth], group, least, in_two, *value);
                        }
                    }
                    Numerics::Blocks => {
                        let own = |block: usize| a_scales[block * N + i];
                        blocks::row(left, right, depth, (own, &b_scales), line);
                    }
                }
            }};
        }
        if shape.is_sparse {
            let chosen = chosen::<N>(w, job, i);
            sum!(|k: usize| &columns[usize::from(chosen[k])]);
        } else {
            sum!(|k: usize| &columns[k]);
        }
        if job.saturate {
            saturate(job, line, &before, |j| {
                (0..depth).all(|k| left(k).is_finite()) && (0..job.b.depth).all(|k| columns[k][j].is_finite())
            });
        }
    }
    if job.flush.result {
        for value in &mut d[..shape.blocks * N * N] {
            *value = flush(*value);
        }
    }
    rows(shape, 4, d, |place, line| {
        let to = &mut w.rows[usize::from(job.dst) + place.item][place.lane..][..N];
        for (bits, value) in to.iter_mut().zip(line) {
            *bits = value.to_bits();
        }
    });
}

/// Flush what the instruction or MODE flushes.
#[inline(always)]
fn prepare(job: &Job, a: &mut [f32], b: &mut [f32], d: &mut [f32]) {
    if let Numerics::Flushed(_) = job.numerics {
        // Subnormals of their own format, sign included.
        let least = f32::from_bits(((job.a.least + 127) as u32) << 23);
        for value in a.iter_mut().chain(b.iter_mut()) {
            *value = if value.abs() < least { 0.0 } else { *value };
        }
    }
    if job.flush.factors {
        for value in a.iter_mut().chain(b) {
            *value = flush(*value);
        }
    }
    if job.flush.old {
        for value in d {
            *value = flush(*value);
        }
    }
}

/// Keep at the largest number what has overflowed: an infinity that no operand explains.
#[inline(never)]
fn saturate(job: &Job, line: &mut [f32], before: &[f32], finite: impl Fn(usize) -> bool) {
    let scaled = |scale: &Scale| !matches!(scale, Scale::One(255));
    for (j, value) in line.iter_mut().enumerate() {
        let overflowed = value.is_infinite() && before[j].is_finite() && finite(j);
        if overflowed && job.scales.iter().all(scaled) {
            *value = f32::MAX.copysign(*value);
        }
    }
}

/// Scales of all rows or columns, block by block.
#[inline(always)]
fn scales<const N: usize>(w: &Wave, scale: &Scale, to: &mut [f64]) {
    match *scale {
        Scale::One(code) => to.fill(blocks::scale(code)),
        Scale::Lanes { row, shift } => {
            for (lane, value) in to.iter_mut().enumerate().take(LANES) {
                *value = blocks::scale((w.rows[usize::from(row)][lane] >> shift) as u8);
            }
        }
    }
}

#[inline(always)]
fn integers<const N: usize>(w: &mut Wave, job: &Job, buffers: &mut Buffers<i32>) {
    let shape = job.shape;
    let Buffers { a, b, d } = buffers;
    let stored = [job.a.depth, job.b.depth].map(|depth| depth * N * shape.blocks);
    let (a, b) = (&mut a[..stored[0]], &mut b[..stored[1]]);
    registers::bytes(w, shape, job.a.depth, input(&job.a), a);
    registers::bytes(w, shape, job.b.depth, input(&job.b), b);
    match job.c {
        Src::Row(row) => rows(shape, 4, d, |place, line| {
            let from = &w.rows[usize::from(row) + place.item][place.lane..][..N];
            for (value, bits) in line.iter_mut().zip(from) {
                *value = *bits as i32;
            }
        }),
        other => d[..shape.blocks * N * N].fill(w.scalar32(other) as i32),
    }
    let (columns, _) = b.as_chunks::<N>();
    let depth = job.a.depth;
    let (lines, _) = d.as_chunks_mut::<N>();
    for (at, line) in lines[..shape.blocks * N].iter_mut().enumerate() {
        let (block, i) = (at / N, at % N);
        let a = &a[block * depth * N..][..depth * N];
        let columns = &columns[block * job.b.depth..][..job.b.depth];
        let left = |k: usize| a[k * N + i];
        if shape.is_sparse {
            let chosen = chosen::<N>(w, job, i);
            chain::integers(left, |k| &columns[usize::from(chosen[k])], depth, line, job.saturate);
        } else {
            chain::integers(left, |k| &columns[k], depth, line, job.saturate);
        }
    }
    rows(shape, 4, d, |place, line| {
        let to = &mut w.rows[usize::from(job.dst) + place.item][place.lane..][..N];
        for (bits, value) in to.iter_mut().zip(line) {
            *bits = *value as u32;
        }
    });
}

#[inline(always)]
fn doubles<const N: usize>(w: &mut Wave, job: &Job, buffers: &mut Buffers<f64>) {
    let shape = job.shape;
    let Buffers { a, b, d } = buffers;
    let (a, b) = (&mut a[..shape.depth * N * shape.blocks], &mut b[..shape.depth * N * shape.blocks]);
    registers::doubles(w, shape, (job.a.row, job.a.negate), a);
    registers::doubles(w, shape, (job.b.row, job.b.negate), b);
    match job.c {
        Src::Row(row) => rows(shape, 1, d, |place, line| {
            for (at, value) in line.iter_mut().enumerate() {
                *value = w.lane(row + 2 * place.item as u16, place.lane + at);
            }
        }),
        other => d[..shape.blocks * N * N].fill(f64::from_bits(w.scalar64(other))),
    }
    if job.negate_c {
        for value in &mut d[..shape.blocks * N * N] {
            *value = -*value;
        }
    }
    let (columns, _) = b.as_chunks::<N>();
    let (lines, _) = d.as_chunks_mut::<N>();
    for (at, line) in lines[..shape.blocks * N].iter_mut().enumerate() {
        let (block, i) = (at / N, at % N);
        let a = &a[block * shape.depth * N..][..shape.depth * N];
        let columns = &columns[block * shape.depth..][..shape.depth];
        chain::doubles(|k| a[k * N + i], |k| &columns[k], shape.depth, line);
    }
    rows(shape, 1, d, |place, line| {
        for (at, value) in line.iter().enumerate() {
            w.set_lane(job.dst + 2 * place.item as u16, place.lane + at, *value);
        }
    });
}
