//! The elements of a buffer that two launches have left different.

/// The type of a buffer's elements, as far as its label tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementType {
    F32,
    F64,
    /// An integer of so many bytes.
    Integer(usize),
}

impl ElementType {
    /// That of a buffer with a label as the harness gives it (`buffer of 64 f32`); dwords if it does not
    /// tell.
    pub(super) fn of(label: &str) -> Self {
        match label.rsplit(' ').next() {
            Some("f32") => Self::F32,
            Some("f64") => Self::F64,
            Some("u8" | "i8" | "bool") => Self::Integer(1),
            Some("u16" | "i16") => Self::Integer(2),
            Some("u64" | "i64" | "usize" | "isize") => Self::Integer(8),
            _ => Self::Integer(4),
        }
    }

    /// Bytes of an element.
    pub(super) const fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F64 => 8,
            Self::Integer(bytes) => bytes,
        }
    }

    /// An element as people read it.
    pub(super) fn shown(self, element: &[u8]) -> String {
        let bits = bits(element);
        match self {
            Self::F32 => format!("{:?}", f32::from_bits(bits as u32)),
            Self::F64 => format!("{:?}", f64::from_bits(bits)),
            Self::Integer(_) if bits > 0xffff => format!("{bits:#x}"),
            Self::Integer(_) => bits.to_string(),
        }
    }

    /// Units in the last place between two finite floats, if they are close: both signs alike.
    pub(super) fn ulp(self, here: &[u8], there: &[u8]) -> Option<u64> {
        let (here, there) = (bits(here), bits(there));
        let are_finite = match self {
            Self::F32 => [here, there].iter().all(|bits| f32::from_bits(*bits as u32).is_finite()),
            Self::F64 => [here, there].iter().all(|bits| f64::from_bits(*bits).is_finite()),
            Self::Integer(_) => false,
        };
        let sign = 8 * self.bytes() as u32 - 1;
        // Of floats of one sign, the order is that of their bits.
        (are_finite && here >> sign == there >> sign).then(|| here.abs_diff(there))
    }
}

fn bits(element: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    for (byte, own) in bytes.iter_mut().zip(element) {
        *byte = *own;
    }
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_tell_types_and_types_tell_values() {
        assert_eq!(ElementType::of("buffer of 64 f32"), ElementType::F32);
        assert_eq!(ElementType::of("x"), ElementType::Integer(4));
        assert_eq!(ElementType::F64.shown(&1.5f64.to_le_bytes()), "1.5");
        assert_eq!(ElementType::Integer(2).shown(&[1, 2]), "513");
        assert_eq!(ElementType::Integer(8).shown(&u64::MAX.to_le_bytes()), "0xffffffffffffffff");
    }

    #[test]
    fn neighbours_are_one_apart() {
        let apart = |here: f32, there: f32| ElementType::F32.ulp(&here.to_le_bytes(), &there.to_le_bytes());
        assert_eq!(apart(1.0, 1.0 + f32::EPSILON), Some(1));
        assert_eq!(apart(-1.0, 1.0), None);
        assert_eq!(apart(f32::NAN, 1.0), None);
        assert_eq!(ElementType::Integer(4).ulp(&[1, 0, 0, 0], &[2, 0, 0, 0]), None);
    }
}
