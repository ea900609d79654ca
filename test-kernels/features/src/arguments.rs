//! Everything that a kernel may take, and kernels that need no `unsafe`.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, Ordering};

use amdinst_device::{
    KernelArg, PerGroup, PerItem, Strided, global_id_x, global_id_y, kernel, workgroup_id_x,
};

/// Fields of all sizes, with padding between them and behind the last.
#[derive(Clone, Copy, Debug, KernelArg)]
#[repr(C)]
pub struct Mixed {
    /// One byte, and three of padding.
    pub byte: u8,
    /// Four bytes.
    pub word: u32,
    /// Two bytes.
    pub half: i16,
    /// One byte.
    pub is: bool,
    /// Eight bytes, at a multiple of eight.
    pub wide: f64,
    /// A structure, twice.
    pub pairs: [Pair<u16>; 2],
}

/// Two values of a kind.
#[derive(Clone, Copy, Debug, KernelArg)]
#[repr(C)]
pub struct Pair<T> {
    /// The first.
    pub left: T,
    /// The second.
    pub right: T,
}

/// Words that [`tell_structure`] gives.
pub const WORDS: usize = 10;

/// Gives the fields of a structure and the words before and behind it, as words.
#[kernel]
pub fn tell_structure(before: u8, mixed: Mixed, behind: u16, mut output: PerItem<u32, WORDS>) {
    let words = [
        u32::from(before),
        u32::from(mixed.byte),
        mixed.word,
        mixed.half as u32,
        u32::from(mixed.is),
        mixed.wide as u32,
        u32::from(mixed.pairs[0].left) << 16 | u32::from(mixed.pairs[0].right),
        u32::from(mixed.pairs[1].left) << 16 | u32::from(mixed.pairs[1].right),
        u32::from(behind),
        global_id_x(),
    ];
    for (place, word) in output.chunk().iter_mut().zip(words) {
        *place = word;
    }
}

/// A body in space, of which there are buffers.
#[derive(Clone, Copy, Debug, PartialEq, KernelArg)]
#[repr(C)]
pub struct Body {
    /// Where it is.
    pub at: [f32; 3],
    /// How heavy it is.
    pub mass: f32,
}

/// Moves each body by its mass times the place of the first of all, and gives the masses.
#[kernel]
pub fn move_bodies(all: &[[Body; 2]], mut bodies: PerItem<Body>, mut masses: Strided<f32>) {
    let first = all[0][0];
    if let Some(body) = bodies.get() {
        for (at, by) in body.at.iter_mut().zip(first.at) {
            *at += body.mass * by;
        }
    }
    for (i, mass) in masses.iter_mut() {
        *mass = all[i / 2][i % 2].mass;
    }
}

/// Sums of long rows.
#[kernel]
pub fn sum_rows(rows: &[[u32; 64]], mut sums: PerItem<u32>) {
    if let Some(sum) = sums.get() {
        *sum = rows[global_id_x() as usize].iter().sum();
    }
}

/// Counts and greatest indices of the work-items by their remainders by three, in narrow numbers side by side.
#[kernel]
pub fn count_narrow(bytes: &[AtomicU8], halves: &[AtomicU16]) {
    let third = global_id_x() as usize % 3;
    bytes[third].fetch_add(1, Ordering::Relaxed);
    halves[third].fetch_max(global_id_x() as u16, Ordering::Relaxed);
}

/// Looks up in an array that is passed by value: elsewhere for each work-item.
#[kernel]
pub fn look_up(table: [f32; 16], mut output: PerItem<f32>) {
    if let Some(output) = output.get() {
        *output = table[global_id_x() as usize % table.len()];
    }
}

/// What [`add_up`] takes besides its buffers.
#[derive(Clone, Copy, Debug, KernelArg)]
#[repr(C)]
pub struct Buffers {
    /// Summands.
    pub values: *const u32,
    /// How many.
    pub count: u32,
}

/// Adds the values of both buffers to the sum, if there are any.
///
/// # Safety
/// `first.values` is to `first.count` elements; `second` and `third` are null, or to one element each.
#[kernel]
pub unsafe fn add_up(
    first: Buffers,
    second: *const u32,
    third: Option<NonNull<u32>>,
    fourth: Option<&[u32]>,
    sum: &[AtomicU32],
) {
    let i = global_id_x();
    // SAFETY: as the caller vouches.
    let of_first = if i < first.count { unsafe { *first.values.add(i as usize) } } else { 0 };
    // SAFETY: as the caller vouches.
    let of_second = if second.is_null() { 0 } else { unsafe { *second } };
    // SAFETY: as the caller vouches.
    let of_third = third.map_or(0, |third| unsafe { *third.as_ptr() });
    let of_fourth = fourth.map_or(0, |values| values.iter().sum());
    sum[0].fetch_add(of_first + of_second + of_third + of_fourth, Ordering::Relaxed);
}

/// `y += a · x` without `unsafe`: each work-item writes one element.
#[kernel]
pub fn safe_saxpy(a: f32, x: &[f32], mut y: PerItem<f32>) {
    if let Some(y) = y.get() {
        *y += a * x[global_id_x() as usize];
    }
}

/// Each element is its index; in workgroups that are smaller than those that launches choose.
#[kernel(workgroup = 64)]
pub fn in_workgroups_of_64(mut output: PerItem<u32>) {
    if let Some(element) = output.get() {
        *element = global_id_x();
    }
}

/// Each element is its index, squared, whatever the number of work-items.
#[kernel]
pub fn squares(mut output: Strided<u32>) {
    for (i, element) in output.iter_mut() {
        *element = (i * i) as u32;
    }
}

/// Each workgroup leaves its number and the first element of its part of the input.
#[kernel]
pub fn first_of_group(input: &[u32], each: u32, mut output: PerGroup<u32>) {
    if let Some(output) = output.get() {
        *output = workgroup_id_x() << 16 | input[(workgroup_id_x() * each) as usize];
    }
}

/// `y = a · x` of halves, which `half` computes in `f32`.
#[kernel]
pub fn scale_halves(a: half::f16, x: &[half::f16], mut y: PerItem<half::f16>) {
    if let Some(y) = y.get() {
        *y = a * x[global_id_x() as usize];
    }
}

/// `(a · b ^ 90) + c · d` of the four bytes of a work-item, where LLVM 22 adds 90 (see the guide, "Is it the compiler?"). The link step keeps
/// that away.
#[kernel]
pub fn mix_bytes(bytes: &[[u8; 4]], mut mixed: PerItem<u8>) {
    if let Some(mixed) = mixed.get() {
        *mixed = mix(bytes[global_id_x() as usize]);
    }
}

/// What [`mix_bytes`] computes of four bytes.
pub const fn mix([a, b, c, d]: [u8; 4]) -> u8 {
    (a.wrapping_mul(b) ^ 90).wrapping_add(c.wrapping_mul(d))
}

/// Colors an image in two dimensions.
///
/// # Safety
/// `image` is to `width` times `height` elements.
#[kernel]
pub unsafe fn colour(width: u32, height: u32, image: *mut u32) {
    let (x, y) = (global_id_x(), global_id_y());
    if x < width && y < height {
        // SAFETY: within the image.
        unsafe { *image.add((y * width + x) as usize) = y << 16 | x };
    }
}

/// Takes more than fits a tuple of the standard library's: adds all of it.
#[kernel]
#[allow(clippy::too_many_arguments)]
pub fn many(
    a: u8,
    b: u64,
    c: u16,
    d: u32,
    e: u8,
    f: u64,
    g: u8,
    h: u16,
    i: u32,
    j: u8,
    k: i8,
    l: u32,
    m: u8,
    n: u64,
    o: u8,
    p: u16,
    q: u8,
    r: u32,
    mut output: PerItem<u64>,
) {
    let bytes: u64 = [a, e, g, j, m, o, q].into_iter().map(u64::from).sum();
    let words: u64 = [d, i, l, r].into_iter().chain([c, h, p].map(u32::from)).map(u64::from).sum();
    if let Some(output) = output.get() {
        *output = (bytes + words + b + f + n).wrapping_add(k as u64);
    }
}
