//! One launch: the kernel, its arguments, and what must stand in its buffers afterwards.

use super::bytes::{Plain, bytes, numbers};

/// A judgement of a buffer's bytes: why they are wrong.
type Judge = Box<dyn Fn(&[u8]) -> Result<(), String>>;

/// What a buffer must hold after the launch.
pub(crate) enum After {
    /// Its contents from before.
    Same,
    /// The buffer holds these bytes, of numbers of `size` bytes.
    Exactly { bytes: Vec<u8>, size: usize },
    /// Any contents that the judge lets pass.
    Judged(Judge),
}

/// One argument.
pub(crate) enum Arg {
    /// A number or a structure by value.
    Value(Vec<u8>),
    /// A buffer.
    Buffer { before: Vec<u8>, after: After },
}

/// A number by value.
pub(crate) fn value<T: Plain>(number: T) -> Arg {
    Arg::Value(bytes(&[number]))
}

/// A buffer that the kernel reads.
pub(crate) fn input<T: Plain>(before: &[T]) -> Arg {
    Arg::Buffer { before: bytes(before), after: After::Same }
}

/// A buffer of zeros for what the kernel writes.
pub(crate) fn output<T: Plain>(after: &[T]) -> Arg {
    Arg::Buffer { before: vec![0; size_of_val(after)], after: exactly(after) }
}

/// A buffer that the kernel changes.
pub(crate) fn changed<T: Plain>(before: &[T], after: &[T]) -> Arg {
    Arg::Buffer { before: bytes(before), after: exactly(after) }
}

/// A buffer of zeros of the size of `after`, for floating-point results within a tolerance of it.
pub(crate) fn near<T: Float>(after: Vec<T>, tolerance: Tolerance) -> Arg {
    let before = vec![0; size_of_val(&after[..])];
    changed_near(before, after, tolerance)
}

/// A buffer that begins with these bytes, for floating-point results within a tolerance.
pub(crate) fn changed_near<T: Float>(before: Vec<u8>, after: Vec<T>, tolerance: Tolerance) -> Arg {
    let judge = move |found: &[u8]| {
        let found = numbers::<T>(found);
        match found.iter().zip(&after).position(|(found, after)| !tolerance.takes(found.wide(), after.wide()))
        {
            Some(at) => Err(format!(
                "[{at}] is {:e}, not {:e} within {tolerance:?}",
                found[at].wide(),
                after[at].wide()
            )),
            None => Ok(()),
        }
    };
    judged(before, judge)
}

/// A buffer that begins with these bytes, and of which a function says whether it is right afterwards.
pub(crate) fn judged(before: Vec<u8>, judge: impl Fn(&[u8]) -> Result<(), String> + 'static) -> Arg {
    Arg::Buffer { before, after: After::Judged(Box::new(judge)) }
}

fn exactly<T: Plain>(after: &[T]) -> After {
    After::Exactly { bytes: bytes(after), size: size_of::<T>() }
}

/// A floating-point number that is compared in a wider format.
pub(crate) trait Float: Plain + 'static {
    /// The number in double precision.
    fn wide(self) -> f64;
}

impl Float for half::f16 {
    fn wide(self) -> f64 {
        self.to_f64()
    }
}

impl Float for f32 {
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

impl Float for f64 {
    fn wide(self) -> f64 {
        self
    }
}

/// How far a result may be from the expected one: the larger of the two distances.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tolerance {
    /// Tolerated difference, as a part of the expected number's magnitude.
    pub(crate) relative: f64,
    /// Whatever the magnitude.
    pub(crate) absolute: f64,
}

impl Tolerance {
    fn takes(self, found: f64, expected: f64) -> bool {
        if expected.is_nan() || found.is_nan() {
            return expected.is_nan() && found.is_nan();
        }
        let distance = self.absolute.max(self.relative * expected.abs());
        // Nothing finite is near infinity.
        found == expected || (expected.is_finite() && (found - expected).abs() <= distance)
    }
}

impl After {
    /// Why `found` is not what the buffer must hold.
    pub(crate) fn judge(&self, before: &[u8], found: &[u8]) -> Result<(), String> {
        let (expected, size) = match self {
            Self::Judged(judge) => return judge(found),
            Self::Same => (before, 1),
            Self::Exactly { bytes, size } => (&bytes[..], *size),
        };
        let Some(at) = found.iter().zip(expected).position(|(found, expected)| found != expected) else {
            return if found.len() == expected.len() {
                Ok(())
            } else {
                Err(format!("{} bytes expected of a buffer of {}", expected.len(), found.len()))
            };
        };
        let at = at / size;
        let hex = |bytes: &[u8]| -> String {
            bytes.iter().skip(at * size).take(size).rev().map(|byte| format!("{byte:02x}")).collect()
        };
        let wrong = found
            .chunks(size)
            .zip(expected.chunks(size))
            .filter(|(found, expected)| found != expected)
            .count();
        Err(format!("[{at}] is 0x{}, not 0x{}; {wrong} are wrong", hex(found), hex(expected)))
    }
}

/// One launch.
pub(crate) struct Case {
    /// The kernel's name, as far as the source gives it.
    pub(crate) name: String,
    /// Workgroups.
    pub(crate) grid: [u32; 3],
    /// Work-items of one.
    pub(crate) block: [u32; 3],
    /// Bytes of dynamic LDS.
    pub(crate) lds: u32,
    /// The arguments.
    pub(crate) args: Vec<Arg>,
}

impl Case {
    /// A launch in one dimension.
    pub(crate) fn new(kernel: &str, grid: u32, block: u32, args: Vec<Arg>) -> Self {
        let (grid, block) = ([grid, 1, 1], [block, 1, 1]);
        Self { name: kernel.to_owned(), grid, block, lds: 0, args }
    }

    /// The case with other sizes of grid and workgroup.
    pub(crate) fn sized(self, grid: [u32; 3], block: [u32; 3]) -> Self {
        Self { grid, block, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of `found` in a buffer.
    fn judge(arg: Arg, found: &[u8]) -> Result<(), String> {
        let Arg::Buffer { before, after } = arg else { unreachable!("a buffer") };
        after.judge(&before, found)
    }

    #[test]
    fn wrong_bytes_are_found() {
        let found = bytes(&[1u32, 2, 7]);
        assert_eq!(judge(output(&[1u32, 2, 7]), &found), Ok(()));
        let why = judge(output(&[1u32, 3, 4]), &found).unwrap_err();
        assert_eq!(why, "[1] is 0x00000002, not 0x00000003; 2 are wrong");
        assert!(judge(output(&[1u32, 2]), &found).is_err(), "one is missing");
        assert!(judge(input(&[1u32, 2, 6]), &found).is_err(), "what is only read has changed");
    }

    #[test]
    fn distances_count_and_nan_is_nan_alone() {
        let tolerance = Tolerance { relative: 1e-3, absolute: 1e-6 };
        let judge_one = |expected: f32, found: f32| judge(near(vec![expected], tolerance), &bytes(&[found]));
        for (expected, found) in [(1.0, 1.0009), (0.0, 9e-7), (-0.0, 0.0), (f32::NAN, f32::NAN)] {
            assert_eq!(judge_one(expected, found), Ok(()), "{expected} {found}");
        }
        for (expected, found) in
            [(1.0, 1.0011), (0.0, 2e-6), (1.0, f32::NAN), (f32::NAN, 1.0), (f32::INFINITY, f32::MAX)]
        {
            assert!(judge_one(expected, found).is_err(), "{expected} {found}");
        }
    }
}
