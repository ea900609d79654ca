//! Rounding in every mode, in integers: what the host's float unit, which rounds to nearest, cannot give.
//!
//! Formats are described by a [`Layout`]; numbers are their bits in a `u64`. Only finite operands come here:
//! infinities and NaNs need no rounding.

/// A format's significand bits after the point, and its exponent's bias.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    mantissa: u32,
    bias: i32,
}

pub(crate) const HALF: Layout = Layout { mantissa: 10, bias: 15 };
pub(crate) const DOUBLE: Layout = Layout { mantissa: 52, bias: 1023 };

/// Where products and addends are lined up: one bit is left above for the carry of their sum.
const TOP: u32 = 125;

/// ±significand × 2^exponent.
#[derive(Clone, Copy, Debug)]
struct Number {
    negative: bool,
    significand: u128,
    exponent: i32,
}

impl Layout {
    const fn sign(self) -> u64 {
        (2 * self.bias as u64 + 2) << self.mantissa
    }

    const fn infinity(self) -> u64 {
        (2 * self.bias as u64 + 1) << self.mantissa
    }

    fn unpack(self, bits: u64) -> Number {
        let field = (bits & self.infinity()) >> self.mantissa;
        let fraction = bits & ((1 << self.mantissa) - 1);
        let significand = if field == 0 { fraction } else { fraction | 1 << self.mantissa };
        let exponent = (field.max(1) as i32) - self.bias - self.mantissa as i32;
        Number { negative: bits & self.sign() != 0, significand: significand.into(), exponent }
    }

    /// Rounded once. A significand from which bits were lost has its last bit set.
    fn pack(self, number: Number, round: u32) -> u64 {
        let Number { negative, significand, exponent } = number;
        let sign = if negative { self.sign() } else { 0 };
        if significand == 0 {
            return sign;
        }
        let top = exponent.saturating_add(127 - significand.leading_zeros() as i32);
        if top > 2 * self.bias {
            return sign | self.overflow(negative, round);
        }
        let least = 1 - self.bias;
        let shift = i64::from(top.max(least)) - i64::from(self.mantissa) - i64::from(exponent);
        let (kept, rest, half) = match shift {
            ..=0 => (significand << -shift, 0, 1),
            // Less than half a unit of the last place.
            128.. => (0, 1, 2),
            shift => (significand >> shift, significand & ((1 << shift) - 1), 1 << (shift - 1)),
        };
        let up = match round {
            0 => rest > half || rest == half && kept & 1 == 1,
            1 => rest > 0 && !negative,
            2 => rest > 0 && negative,
            _ => false,
        };
        let kept = kept as u64 + u64::from(up);
        // A carry runs from the significand into the exponent.
        let magnitude = if top >= least {
            (((top + self.bias) as u64) << self.mantissa) + kept - (1 << self.mantissa)
        } else {
            kept
        };
        if magnitude >= self.infinity() { sign | self.overflow(negative, round) } else { sign | magnitude }
    }

    /// The magnitude of a result that is too large.
    fn overflow(self, negative: bool, round: u32) -> u64 {
        let towards_zero = round == 3 || round == 1 && negative || round == 2 && !negative;
        self.infinity() - u64::from(towards_zero)
    }

    /// (a × b + c) × 2^power, rounded once.
    #[inline(never)]
    pub(crate) fn fma(self, [a, b, c]: [u64; 3], power: i32, round: u32) -> u64 {
        let product = self.product(a, b);
        let addend = self.unpack(c);
        let mut sum = if product.significand == 0 && addend.significand == 0 {
            let negative = if product.negative == addend.negative { product.negative } else { round == 2 };
            Number { negative, ..product }
        } else {
            add(product, addend, round)
        };
        sum.exponent += power;
        self.pack(sum, round)
    }

    /// a × b.
    #[inline(never)]
    pub(crate) fn mul(self, a: u64, b: u64, round: u32) -> u64 {
        self.pack(self.product(a, b), round)
    }

    /// a + b.
    #[inline(never)]
    pub(crate) fn add(self, a: u64, b: u64, round: u32) -> u64 {
        let one = (self.bias as u64) << self.mantissa;
        self.fma([a, one, b], 0, round)
    }

    /// a × 2^power.
    #[inline(never)]
    pub(crate) fn scale(self, a: u64, power: i32, round: u32) -> u64 {
        let mut number = self.unpack(a);
        // More than the exponents' range changes nothing.
        number.exponent += power.clamp(-5000, 5000);
        self.pack(number, round)
    }

    fn product(self, a: u64, b: u64) -> Number {
        let (a, b) = (self.unpack(a), self.unpack(b));
        Number {
            negative: a.negative != b.negative,
            significand: a.significand * b.significand,
            exponent: a.exponent + b.exponent,
        }
    }
}

/// The sum of two numbers, not both zero: exact, or with its last bit set for what was lost far below it.
fn add(a: Number, b: Number, round: u32) -> Number {
    let (a, b) = (lined_up(a), lined_up(b));
    let (large, small) =
        if a.significand == 0 || b.significand != 0 && b.exponent > a.exponent { (b, a) } else { (a, b) };
    let distance = large.exponent.saturating_sub(small.exponent).max(0) as u32;
    let shifted = if small.significand == 0 {
        0
    } else if distance > TOP {
        1
    } else {
        let lost = small.significand & ((1 << distance) - 1) != 0;
        small.significand >> distance | u128::from(lost)
    };
    if large.negative == small.negative {
        return Number { significand: large.significand + shifted, ..large };
    }
    match large.significand.cmp(&shifted) {
        std::cmp::Ordering::Equal => Number { negative: round == 2, significand: 0, exponent: 0 },
        std::cmp::Ordering::Greater => Number { significand: large.significand - shifted, ..large },
        std::cmp::Ordering::Less => {
            Number { negative: small.negative, significand: shifted - large.significand, ..large }
        }
    }
}

/// A number shifted so that its first bit is at [`TOP`]. Products have 106 bits at most, so nothing is lost,
/// and 20 bits at least lie below them.
fn lined_up(number: Number) -> Number {
    if number.significand == 0 {
        return number;
    }
    let up = number.significand.leading_zeros() - (127 - TOP);
    Number { significand: number.significand << up, exponent: number.exponent - up as i32, ..number }
}
