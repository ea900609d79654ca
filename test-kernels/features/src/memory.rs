//! Memory that kernels allocate: `alloc` with the feature `alloc` of `amdinst-device`.

extern crate alloc;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use amdinst_device::{PerItem, global_id_x, kernel};

/// Collatz' sequence from `n`: its length and its greatest number, by way of a list.
pub fn collatz(n: u64) -> (u64, u64) {
    let mut steps: Vec<u64> = Vec::new();
    let mut n = n.max(1);
    while n != 1 {
        n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
        steps.push(n);
    }
    (steps.len() as u64, steps.iter().copied().max().unwrap_or(1))
}

/// A list that grows, in each work-item as far as it needs.
#[kernel]
pub fn grow(mut lengths: PerItem<u64>, mut greatest: PerItem<u64>) {
    let (length, most) = collatz(u64::from(global_id_x()));
    if let (Some(place), Some(of)) = (lengths.get(), greatest.get()) {
        (*place, *of) = (length, most);
    }
}

/// A shape behind a box.
pub trait Shape {
    /// Its area.
    fn area(&self) -> f32;
}

struct Square(f32);
struct Circle(f32);

impl Shape for Square {
    fn area(&self) -> f32 {
        self.0 * self.0
    }
}

impl Shape for Circle {
    fn area(&self) -> f32 {
        3.0 * self.0 * self.0
    }
}

/// Shapes of different kinds in one list.
pub fn areas(n: u32) -> f32 {
    let shapes: Vec<Box<dyn Shape>> = (0..n % 5)
        .map(|i| -> Box<dyn Shape> {
            if i % 2 == 0 { Box::new(Square(i as f32)) } else { Box::new(Circle(i as f32)) }
        })
        .collect();
    shapes.iter().map(|shape| shape.area()).sum()
}

/// Trait objects in boxes.
#[kernel]
pub fn boxed(mut out: PerItem<f32>) {
    if let Some(out) = out.get() {
        *out = areas(global_id_x());
    }
}

/// A text, taken apart and put together.
pub fn sorted_words(n: u32) -> String {
    let text = format!("{n} is {n:#x} and {:?}", n.checked_sub(3));
    let mut words: Vec<&str> = text.split(' ').collect();
    words.sort_unstable();
    words.join("-")
}

/// Strings and `format!`; the text's bytes into the work-item's part.
#[kernel]
pub fn texts(mut out: PerItem<u8, 48>) {
    let text = sorted_words(global_id_x());
    for (place, byte) in out.chunk().iter_mut().zip(text.bytes()) {
        *place = byte;
    }
}

/// How often the commonest digit of the first `n` squares comes.
pub fn commonest(n: u32) -> u32 {
    let mut times: BTreeMap<u32, u32> = BTreeMap::new();
    for i in 0..n {
        *times.entry(i * i % 10).or_default() += 1;
    }
    times.values().copied().max().unwrap_or(0)
}

/// A map.
#[kernel]
pub fn maps(mut out: PerItem<u32>) {
    if let Some(out) = out.get() {
        *out = commonest(global_id_x());
    }
}

/// Takes memory, `times` over.
#[kernel]
pub fn again(times: u32, mut out: PerItem<u32>) {
    let mut sum = 0_u32;
    for time in 0..times {
        let block: Vec<u32> = (0..64).map(|i| i ^ time ^ global_id_x()).collect();
        sum = block.iter().fold(sum, |sum, value| sum.wrapping_add(*value));
    }
    if let Some(out) = out.get() {
        *out = sum;
    }
}

/// Asks for more than there is. Gives how much of it there was: nothing.
#[kernel]
pub fn too_much(bytes: usize, mut out: PerItem<u32>) {
    let mut block: Vec<u8> = Vec::new();
    let asked = block.try_reserve_exact(bytes);
    if let Some(out) = out.get() {
        *out = u32::from(asked.is_ok());
    }
}

/// Runs out of memory.
#[kernel]
pub fn out_of_memory(mut out: PerItem<u8>) {
    let block = alloc::vec![1_u8; 1 << 30];
    if let Some(out) = out.get() {
        *out = block[global_id_x() as usize];
    }
}

/// How many work-items a kernel of another file has counted.
#[kernel]
pub fn seen(mut output: PerItem<u32>) {
    if let Some(output) = output.get() {
        *output = crate::shared_places::SEEN.load(core::sync::atomic::Ordering::Relaxed);
    }
}
