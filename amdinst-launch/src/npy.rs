//! NumPy's `.npy` files: reading arrays of the types that kernels have, and writing them.
//!
//! The format is numpy.org's "NPY format" (NEP 1): a magic number, a version, a header that is a Python
//! dictionary, and the elements. Crates that read it bring a parser of Python literals with a dozen
//! dependencies, for these three keys.

use std::ops::Range;

use super::language::Element;

const MAGIC: &[u8] = b"\x93NUMPY";
/// The elements begin at a multiple of this.
const ALIGNMENT: usize = 64;
/// What the key `descr` can be, by type. Little-endian, which all bytes are.
const TYPES: [(&str, Element); 11] = [
    ("|u1", Element::U8),
    ("|i1", Element::I8),
    ("<u2", Element::U16),
    ("<i2", Element::I16),
    ("<u4", Element::U32),
    ("<i4", Element::I32),
    ("<u8", Element::U64),
    ("<i8", Element::I64),
    ("<f2", Element::F16),
    ("<f4", Element::F32),
    ("<f8", Element::F64),
];

/// An array, as far as its header tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The type of its elements.
    pub element: Element,
    /// Its dimensions.
    pub shape: Vec<u64>,
    /// Where its elements are in the file.
    pub data: Range<usize>,
}

/// A file that is no array which this version reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NpyError {
    /// The file does not begin as an NPY file.
    #[error("it is no NumPy array: it does not begin with \\x93NUMPY")]
    Magic,
    /// The file is of another version of NPY.
    #[error("version {0} of the format is not supported; versions 1, 2 and 3 are")]
    Version(u8),
    /// The file ends within its header, or has another number of elements.
    #[error("it is cut off or damaged: {0}")]
    Damaged(String),
    /// Its elements are of a type that kernels have not.
    #[error(
        "elements of type `{0}` are not supported; u8 to u64, i8 to i64, f16, f32 and f64, little-endian, are"
    )]
    Type(String),
    /// Its elements are in another order.
    #[error("Fortran order is not supported; save it with numpy.ascontiguousarray")]
    FortranOrder,
}

impl Array {
    /// Reads the header of an array.
    ///
    /// # Errors
    /// Something else, something damaged, or an array that this version does not read.
    pub fn read(bytes: &[u8]) -> Result<Self, NpyError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(NpyError::Magic)?;
        let damaged = |what: &str| NpyError::Damaged(what.to_owned());
        let short = || damaged("the header is not there");
        let (length, start) = match rest {
            [1, _, low, high, ..] => (usize::from(u16::from_le_bytes([*low, *high])), MAGIC.len() + 4),
            [2 | 3, _, a, b, c, d, ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, MAGIC.len() + 6),
            [1..=3, ..] | [] => return Err(short()),
            [version, ..] => return Err(NpyError::Version(*version)),
        };
        let end = start.checked_add(length).filter(|&end| end <= bytes.len()).ok_or_else(short)?;
        let header = std::str::from_utf8(&bytes[start..end]).map_err(|_| damaged("the header is no text"))?;
        let value = |key: &str| {
            let found = [format!("'{key}':"), format!("\"{key}\":")]
                .iter()
                .find_map(|quoted| Some(header[header.find(quoted)? + quoted.len()..].trim_start()));
            found.ok_or_else(|| damaged(&format!("the header has no `{key}`")))
        };
        let descr = value("descr")?;
        let quote = descr.chars().next().filter(|quote| matches!(quote, '\'' | '"'));
        // Structured arrays have a list there.
        let name = quote.and_then(|quote| descr[1..].split(quote).next()).unwrap_or("a structure");
        let element = match TYPES.iter().find(|(descr, _)| *descr == name) {
            Some((_, element)) => *element,
            None if name == "|b1" => Element::U8,
            None => return Err(NpyError::Type(name.to_owned())),
        };
        let shape = value("shape")?;
        let inside = shape.strip_prefix('(').and_then(|shape| shape.split(')').next());
        let numbers = inside.into_iter().flat_map(|inside| inside.split(',')).map(str::trim);
        let shape: Option<Vec<u64>> = numbers
            .filter(|number| !number.is_empty())
            .map(|number| number.trim_end_matches('L').parse().ok())
            .collect();
        let shape = shape.filter(|_| inside.is_some()).ok_or_else(|| damaged("its shape cannot be read"))?;
        if value("fortran_order")?.starts_with("True") && shape.iter().filter(|&&size| size != 1).count() > 1
        {
            return Err(NpyError::FortranOrder);
        }
        let size = shape
            .iter()
            .try_fold(element.size() as u64, |size, &dimension| size.checked_mul(dimension))
            .ok_or_else(|| damaged("its shape is of more elements than there can be"))?;
        let there = bytes.len() - end;
        if there as u64 != size {
            return Err(NpyError::Damaged(format!(
                "{size} bytes of elements by its shape, {there} are there"
            )));
        }
        Ok(Self { element, shape, data: end..bytes.len() })
    }
}

/// The file of an array with these elements; `None` of a type that the format lacks.
pub fn write(element: Element, shape: &[u64], elements: &[u8]) -> Option<Vec<u8>> {
    let (descr, _) = TYPES.iter().find(|(_, of)| *of == element)?;
    let dimensions: Vec<_> = shape.iter().map(u64::to_string).collect();
    // A tuple of one has a comma.
    let comma = if shape.len() == 1 { "," } else { "" };
    let mut header = format!(
        "{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}{comma}), }}",
        dimensions.join(", ")
    );
    let start = MAGIC.len() + 4;
    let length = (start + header.len() + 1).next_multiple_of(ALIGNMENT) - start;
    let padding = length - header.len() - 1;
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    let mut file = Vec::with_capacity(start + length + elements.len());
    file.extend_from_slice(MAGIC);
    file.extend_from_slice(&[1, 0]);
    // A header of a hundred dimensions is shorter than this.
    file.extend_from_slice(&u16::try_from(length).ok()?.to_le_bytes());
    file.extend_from_slice(header.as_bytes());
    file.extend_from_slice(elements);
    Some(file)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What `numpy.save` of NumPy 2.4 writes for `np.array([[1, 2, 3], [4, 5, 6]], dtype=np.int16)`.
    const INT16: &[u8] = b"\x93NUMPY\x01\x00v\x00{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }                                                          \n\x01\0\x02\0\x03\0\x04\0\x05\0\x06\0";

    #[test]
    fn numpys_own_file_is_read_and_written_to_the_byte() {
        let array = Array::read(INT16).unwrap();
        assert_eq!(
            (array.element, &array.shape[..], array.data.clone()),
            (Element::I16, &[2, 3][..], 128..140)
        );
        assert_eq!(write(Element::I16, &[2, 3], &INT16[array.data]).unwrap(), INT16);
    }

    fn with_header(version: u8, header: &str, data: usize) -> Vec<u8> {
        let mut file = [MAGIC, &[version, 0]].concat();
        let length = header.len() as u32;
        file.extend_from_slice(&length.to_le_bytes()[..if version == 1 { 2 } else { 4 }]);
        file.extend_from_slice(header.as_bytes());
        file.extend(std::iter::repeat_n(0, data));
        file
    }

    #[test]
    fn headers_of_every_version() {
        for (version, header, shape) in [
            (1, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n", vec![]),
            (2, "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (1L,), }\n", vec![1]),
            (3, "{'shape': (1, 1), 'fortran_order': True, 'descr': '<f4'}", vec![1, 1]),
        ] {
            let array = Array::read(&with_header(version, header, 4)).unwrap();
            assert_eq!((array.element, array.shape), (Element::F32, shape));
        }
    }

    #[test]
    fn what_is_not_read_is_named() {
        let read = |header: &str, data| Array::read(&with_header(1, header, data)).unwrap_err().to_string();
        let of = |descr: &str, order: &str, shape: &str| {
            format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n")
        };
        for (header, data, error) in [
            (of("'>f4'", "False", "(1,)"), 4, "elements of type `>f4`"),
            (of("'<c8'", "False", "(1,)"), 8, "elements of type `<c8`"),
            (of("[('x', '<f4')]", "False", "(1,)"), 4, "elements of type `a structure`"),
            (of("'<f4'", "True", "(2, 2)"), 16, "Fortran order"),
            (of("'<f4'", "False", "(2, 2)"), 15, "16 bytes of elements by its shape, 15 are there"),
            (of("'<f4'", "False", "(-2,)"), 0, "its shape cannot be read"),
            (of("'<f4'", "False", "(9223372036854775808, 9)"), 0, "more elements than there can be"),
            ("{}".to_owned(), 0, "the header has no `descr`"),
        ] {
            let message = read(&header, data);
            assert!(message.contains(error), "{header}: {message}");
        }
        assert_eq!(Array::read(b"1,2,3"), Err(NpyError::Magic));
        assert_eq!(Array::read(b"\x93NUMPY\x07\x00"), Err(NpyError::Version(7)));
        assert!(matches!(Array::read(b"\x93NUMPY\x01\x00\xff\xff{"), Err(NpyError::Damaged(_))));
        assert_eq!(write(Element::BF16, &[1], &[0, 0]), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            (type_, shape) in (0..TYPES.len(), prop::collection::vec(0u64..5, 0..4)),
        ) {
            let element = TYPES[type_].1;
            let size = shape.iter().product::<u64>() as usize * element.size();
            let data: Vec<u8> = (0..size).map(|at| at as u8).collect();
            let file = write(element, &shape, &data).unwrap();
            let array = Array::read(&file).unwrap();
            prop_assert!(array.data.start.is_multiple_of(ALIGNMENT));
            prop_assert_eq!(&file[array.data.clone()], &data[..]);
            prop_assert_eq!((array.element, array.shape), (element, shape));
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..64), cut in 0..140_usize, at in 0..140_usize) {
            let _ = Array::read(&[MAGIC, &bytes[..]].concat());
            let _ = Array::read(&INT16[..cut]);
            let mut damaged = INT16.to_vec();
            if let (Some(to), Some(from)) = (damaged.get_mut(at), bytes.first()) {
                *to = *from;
            }
            let _ = Array::read(&damaged);
        }
    }
}
