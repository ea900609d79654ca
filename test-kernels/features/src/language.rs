//! What Rust itself offers: each feature is a function that a kernel calls for its element, and that the test calls on the host.

use amdinst_device::{PerItem, global_id_x, kernel};

/// For each function a kernel of the same name, in [`kernels`].
macro_rules! features {
    ($($(#[$doc:meta])* $name:ident($x:ident) $body:block)*) => {
        $(
            $(#[$doc])*
            pub fn $name($x: u32) -> u32 $body
        )*

        /// A kernel for each function of this module.
        pub mod kernels {
            use super::{PerItem, global_id_x, kernel};

            $(
                $(#[$doc])*
                #[kernel]
                pub fn $name(input: &[u32], mut output: PerItem<u32>) {
                    if let Some(output) = output.get() {
                        *output = super::$name(input[global_id_x() as usize]);
                    }
                }
            )*
        }

        /// Calls `each` with the name of every function.
        #[macro_export]
        macro_rules! for_each_feature {
            ($each:ident) => {
                $each! { $($name)* }
            };
        }
    };
}

/// A shape, for enums with data.
enum Shape {
    Circle { radius: u32 },
    Rectangle(u32, u32),
    Nothing,
}

/// Has an area, for trait objects and trait methods.
trait Area {
    fn area(&self) -> u32;

    fn twice(&self) -> u32 {
        self.area().wrapping_mul(2)
    }
}

struct Square(u32);
struct Strip(u32);

impl Area for Square {
    fn area(&self) -> u32 {
        self.0.wrapping_mul(self.0)
    }
}

impl Area for Strip {
    fn area(&self) -> u32 {
        self.0
    }

    fn twice(&self) -> u32 {
        self.0 ^ 1
    }
}

/// Lookup table, for statics.
// LLVM cannot read rustc's bitcode of it. The crate is large: rustc divides it, and would read that.
#[used]
static TABLE: [u32; 8] = [3, 1, 4, 1, 5, 9, 2, 6];

const fn squared(n: u32) -> u32 {
    n.wrapping_mul(n)
}

/// Computed when compiled, for constants.
const SQUARES: [u32; 16] = {
    let mut squares = [0; 16];
    let mut i = 0;
    while i < 16 {
        squares[i] = squared(i as u32);
        i += 1;
    }
    squares
};

fn checked(x: u32) -> Result<u32, &'static str> {
    let half = x.checked_sub(10).ok_or("too small")?;
    half.checked_mul(1 << 28).ok_or("too large")
}

/// Numbers, for iterators of one's own.
struct Collatz(u32);

impl Iterator for Collatz {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if self.0 <= 1 {
            return None;
        }
        self.0 = if self.0.is_multiple_of(2) { self.0 / 2 } else { self.0.wrapping_mul(3).wrapping_add(1) };
        Some(self.0)
    }
}

/// For generic types and operators.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Vector<const N: usize>([i32; N]);

impl<const N: usize> Default for Box2<N> {
    fn default() -> Self {
        Self { low: [0; N], high: [1; N] }
    }
}

/// For `Default` and const generics.
struct Box2<const N: usize> {
    low: [i32; N],
    high: [i32; N],
}

impl<const N: usize> core::ops::Add for Vector<N> {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a = a.wrapping_add(b);
        }
        self
    }
}

/// For `Drop`.
struct Adds<'a>(&'a core::cell::Cell<u32>);

impl Drop for Adds<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get().wrapping_add(7));
    }
}

features! {
    /// Enums with data, and `match` on them.
    enums(x) {
        let shape = match x % 3 {
            0 => Shape::Circle { radius: x },
            1 => Shape::Rectangle(x, x / 2),
            _ => Shape::Nothing,
        };
        match shape {
            Shape::Circle { radius } if radius > 50 => 1,
            Shape::Circle { radius } => 3 * radius * radius,
            Shape::Rectangle(a, b) => a * b,
            Shape::Nothing => 0,
        }
    }

    /// Patterns: ranges, bindings, alternatives, slices.
    patterns(x) {
        let digits = [x % 10, x / 10 % 10, x / 100];
        match digits {
            [0, .., last] => last,
            [first @ 1..=4, second, _] => first + 10 * second,
            [5 | 7, rest @ ..] => rest.iter().sum(),
            [a, b, c] => a * b * c + 1,
        }
    }

    /// `if let`, `let else`, chains.
    let_else(x) {
        let Some(less) = x.checked_sub(40) else { return 1000 };
        if let Some(more) = less.checked_mul(x) && more.is_multiple_of(2) { more } else { less }
    }

    /// Iterators: map, filter, zip, rev, fold.
    iterators(x) {
        let squares = (0..x % 17).map(|i| i * i).filter(|i| i % 3 != 1);
        squares.rev().zip(1_u32..).fold(0, |sum, (square, place)| sum + square * place)
    }

    /// Chunks and windows of arrays.
    chunks(x) {
        let values: [u32; 12] = core::array::from_fn(|i| (x >> i) & 7);
        let chunks: u32 = values.chunks(5).map(|chunk| chunk.iter().max().copied().unwrap_or(0)).sum();
        chunks + values.windows(2).filter(|pair| pair[0] < pair[1]).count() as u32
    }

    /// An iterator of one's own.
    own_iterator(x) {
        Collatz(x).take(300).count() as u32
    }

    /// Closures that borrow and that own.
    closures(x) {
        let mut calls = 0;
        let mut add = |n: u32| {
            calls += 1;
            n + x
        };
        let sum = add(1) + add(2);
        let owns = move |n: u32| n * sum;
        owns(3) + calls
    }

    /// Functions as values.
    function_pointers(x) {
        let functions: [fn(u32) -> u32; 3] = [squared, |n| n + 1, |n| n ^ 0x55];
        functions[(x % 3) as usize](x)
    }

    /// Trait objects.
    trait_objects(x) {
        let (square, strip) = (Square(x), Strip(x));
        let shapes: [&dyn Area; 2] = [&square, &strip];
        shapes[(x % 2) as usize].twice()
    }

    /// Traits with default methods, and `impl Trait`.
    traits(x) {
        fn sum(shapes: impl Iterator<Item = Square>) -> u32 {
            shapes.map(|shape| shape.area()).sum()
        }
        sum((0..x % 9).map(Square)) + Strip(x).twice() + Square(x).twice()
    }

    /// Operators, derives and const generics of one's own types.
    operators(x) {
        let a = Vector([x as i32, 2, 3]) + Vector([1, -4, x as i32]);
        let least = a.min(Vector([50, 0, 0]));
        let Box2 { low, high } = Box2::<2>::default();
        (least.0[0] + low[1] + high[0]) as u32
    }

    /// `Option` and its adapters.
    options(x) {
        let even = Some(x).filter(|x| x.is_multiple_of(2));
        even.and_then(|x| x.checked_sub(3)).map_or(u32::MAX, |x| x / 2)
    }

    /// `Result` and `?`.
    results(x) {
        match checked(x) {
            Ok(value) => value,
            Err("too small") => 1,
            Err(text) => text.len() as u32,
        }
    }

    /// Statics.
    statics(x) {
        TABLE[(x % 8) as usize]
    }

    /// Constants that functions compute.
    constants(x) {
        SQUARES[(x % 16) as usize]
    }

    /// Tuples and destructuring.
    tuples(x) {
        let (a, (b, c)) = (x / 2, (x % 2, x + 1));
        let pair = if b == 0 { (a, c) } else { (c, a) };
        pair.0 - pair.1 / 2
    }

    /// Labelled loops, `break` with a value.
    loops(x) {
        let mut steps = 0;
        let found = 'outer: loop {
            for i in 0..x {
                steps += 1;
                if i * i > x {
                    break 'outer i;
                }
            }
            if steps > 2 * x {
                break 99;
            }
            steps += 1;
        };
        found * 1000 + steps
    }

    /// Recursion.
    recursion(x) {
        fn ackermann(m: u32, n: u32) -> u32 {
            match (m, n) {
                (0, n) => n + 1,
                (m, 0) => ackermann(m - 1, 1),
                (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
            }
        }
        ackermann(x % 3, x % 5)
    }

    /// Integers of 128 bits.
    wide_integers(x) {
        let wide = u128::from(x) << 70 | 0x1234_5678_9abc;
        let product = wide.wrapping_mul(0x1_0000_0001_0000_0001_0003) / 1_000_003;
        (product >> 40) as u32
    }

    /// Integers of 8 and 16 bits, with signs.
    narrow_integers(x) {
        let (byte, half) = (x as i8, (x * 301) as i16);
        (byte.wrapping_mul(3) as i32 + i32::from(half.rotate_left(3)) / 7) as u32
    }

    /// Checked, saturating, wrapping and overflowing arithmetic.
    arithmetic(x) {
        let big = x.wrapping_mul(0x0300_0001);
        let (sum, overflows) = big.overflowing_add(u32::MAX / 3);
        sum.saturating_sub(1 << 31) ^ u32::from(overflows) ^ big.checked_shl(x % 40).unwrap_or(7)
    }

    /// Bits: counts, rotations, reversals.
    bits(x) {
        x.count_ones() + x.leading_zeros() * 64 + x.reverse_bits().trailing_zeros() + (x.rotate_left(9) ^ x.swap_bytes())
    }

    /// The bytes of 64 and of 128 bits the other way round.
    swapped_bytes(x) {
        let wide = u64::from(x) * 0x0101_0203_0508_0d15;
        let whole = (u128::from(wide) << 61 | u128::from(x)).to_be_bytes();
        let swapped = wide.swap_bytes() ^ u64::from_le_bytes(wide.to_be_bytes()).rotate_left(7);
        (swapped >> 32) as u32 ^ swapped as u32 ^ u32::from(whole[x as usize % 16]) << 11
    }

    /// Division and remainder, signed, Euclidean.
    division(x) {
        let n = x as i32 - 60;
        (n / 7).wrapping_mul(1000).wrapping_add(n % 7).wrapping_add(n.rem_euclid(9)).wrapping_add(n.div_euclid(4)) as u32
    }

    /// Floats: arithmetic, conversions that saturate, classification.
    floats(x) {
        let value = (x as f32 - 50.0) / 3.0;
        let wide = f64::from(value) * 1e9;
        (value as u32) ^ (wide as i32 as u32) ^ value.to_bits() ^ u32::from((value / 0.0).is_nan())
    }

    /// Comparison of floats, with NaN.
    comparisons(x) {
        let values = [x as f32, f32::NAN, -0.0, 1.5];
        let (a, b) = (values[(x % 4) as usize], values[(x / 4 % 4) as usize]);
        u32::from(a < b) | u32::from(a == b) << 1 | (a.total_cmp(&b) as i32 as u32 & 3) << 2 | (a.max(b) as u32) << 4
    }

    /// Sorting, binary search.
    sorting(x) {
        let mut values: [u32; 9] = core::array::from_fn(|i| x.wrapping_mul(2_654_435_769).rotate_left(3 * i as u32) >> 24);
        values.sort_unstable_by(|a, b| b.cmp(a));
        let place = values.binary_search_by(|value| 100.cmp(value)).unwrap_or_else(|place| place);
        values[4] * 10 + place as u32
    }

    /// Strings: characters, bytes, parsing.
    strings(x) {
        let text = ["12", "grün", "-7", "x"][(x % 4) as usize];
        let letters = text.chars().filter(|letter| letter.is_alphabetic()).count() as u32;
        letters + 10 * text.len() as u32 + text.parse::<i8>().map_or(1000, |number| (number as i32 + 100) as u32)
    }

    /// Characters.
    characters(x) {
        let letter = char::from_u32(0x61 + x % 26).unwrap_or('?');
        u32::from(letter.to_ascii_uppercase()) + letter.to_digit(16).unwrap_or(50)
    }

    /// Text that is formatted into an array.
    formatting(x) {
        use core::fmt::Write as _;
        struct Text([u8; 24], usize);
        impl core::fmt::Write for Text {
            fn write_str(&mut self, text: &str) -> core::fmt::Result {
                for byte in text.bytes() {
                    *self.0.get_mut(self.1).ok_or(core::fmt::Error)? = byte;
                    self.1 += 1;
                }
                Ok(())
            }
        }
        let mut text = Text([0; 24], 0);
        let written = write!(text, "{x:>5}|{:#x}|{:?}", x * 3, Some(x as u8));
        text.0.iter().fold(u32::from(written.is_ok()), |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)))
    }

    /// Cells.
    cells(x) {
        let cell = core::cell::RefCell::new([x, 1]);
        cell.borrow_mut()[1] += x;
        let sum = cell.borrow().iter().sum::<u32>();
        sum + cell.replace([0; 2])[0]
    }

    /// Destructors.
    destructors(x) {
        let count = core::cell::Cell::new(x);
        {
            let _one = Adds(&count);
            if x.is_multiple_of(2) {
                drop(Adds(&count));
            }
            count.set(count.get() * 2);
        }
        count.get()
    }

    /// Memory that is not written at first.
    uninitialised(x) {
        let mut values = [const { core::mem::MaybeUninit::<u32>::uninit() }; 6];
        for (i, value) in values.iter_mut().enumerate() {
            value.write(x + i as u32);
        }
        // SAFETY: all are written.
        values.iter().map(|value| unsafe { value.assume_init() }).sum()
    }

    /// Unions and transmutations.
    unions(x) {
        union Either {
            float: f32,
            bytes: [u8; 4],
        }
        let either = Either { float: x as f32 };
        // SAFETY: any bytes will do.
        let bytes = unsafe { either.bytes };
        u32::from(bytes[3]) << 8 | u32::from(bytes[2])
    }

    /// Slices that are split, swapped, rotated, copied.
    slices(x) {
        let mut values = [x, x + 1, x + 2, x + 3, 4, 5, 6];
        let (left, right) = values.split_at_mut(3);
        left.copy_from_slice(&right[..3]);
        right.swap(0, 3);
        values.rotate_left((x % 7) as usize);
        values.iter().enumerate().map(|(i, value)| i as u32 * value).sum()
    }

    /// Macros of one's own.
    macros(x) {
        macro_rules! greatest {
            ($one:expr) => { $one };
            ($one:expr, $($others:expr),+) => { core::cmp::max($one, greatest!($($others),+)) };
        }
        greatest!(x, 30, x ^ 0x3f, 12)
    }
}
