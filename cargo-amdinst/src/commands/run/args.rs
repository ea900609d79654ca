//! The `--arg` values of `cargo amdinst run`.

use std::num::IntErrorKind;
use std::path::PathBuf;
use std::str::FromStr;

/// One kernel argument as given on the command line.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgSpec {
    /// `in:FILE`: a buffer with the file's bytes.
    In(PathBuf),
    /// `out:BYTES:FILE`: a zeroed buffer, written to the file after the launch.
    Out(u64, PathBuf),
    /// `inout:FILE:FILE`: a buffer with the first file's bytes, written to the second after the launch.
    InOut(PathBuf, PathBuf),
    /// `buf:BYTES`: a zeroed buffer.
    Buf(u64),
    /// `TYPE:VALUE`: a number, as its little-endian bytes.
    Scalar(Scalar),
    /// `hex:DIGITS`: bytes by value, a structure for example.
    Hex(Vec<u8>),
    /// `bytes:FILE`: the file's bytes by value.
    Bytes(PathBuf),
}

/// A number with its type.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "Rust's own names")]
pub enum Scalar {
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    I32(i32),
    I64(i64),
    F32(f32),
    F64(f64),
}

impl Scalar {
    /// The type's name, as in `--arg`.
    pub const fn type_name(self) -> &'static str {
        match self {
            Self::U8(_) => "u8",
            Self::U16(_) => "u16",
            Self::U32(_) => "u32",
            Self::U64(_) => "u64",
            Self::I32(_) => "i32",
            Self::I64(_) => "i64",
            Self::F32(_) => "f32",
            Self::F64(_) => "f64",
        }
    }

    /// The little-endian bytes.
    pub fn bytes(self) -> Vec<u8> {
        match self {
            Self::U8(value) => value.to_le_bytes().to_vec(),
            Self::U16(value) => value.to_le_bytes().to_vec(),
            Self::U32(value) => value.to_le_bytes().to_vec(),
            Self::U64(value) => value.to_le_bytes().to_vec(),
            Self::I32(value) => value.to_le_bytes().to_vec(),
            Self::I64(value) => value.to_le_bytes().to_vec(),
            Self::F32(value) => value.to_le_bytes().to_vec(),
            Self::F64(value) => value.to_le_bytes().to_vec(),
        }
    }
}

/// A whole number, decimal or `0x…`.
fn whole<T: TryFrom<i128>>(text: &str, kind: &str) -> Result<T, String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).map(i128::from),
        None => digits.parse::<u64>().map(i128::from),
    };
    let value = value.map_err(|error| match error.kind() {
        IntErrorKind::PosOverflow => format!("`{text}` does not fit in {kind}"),
        _ => format!("`{text}` is not a whole number"),
    })?;
    T::try_from(sign * value).map_err(|_| format!("`{text}` does not fit in {kind}"))
}

/// Pairs of hexadecimal digits, a byte each, in the order of memory; `_` may stand between them.
fn hex(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'_').collect();
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let pair = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?);
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(pair).collect();
    bytes
        .filter(|bytes| !bytes.is_empty())
        .ok_or_else(|| format!("`{text}` is not pairs of hexadecimal digits"))
}

fn float<T: FromStr + Into<f64> + Copy>(text: &str, kind: &str) -> Result<T, String> {
    let value: T = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    // Infinity must be asked for by its name.
    if value.into().is_infinite() && text.contains(|c: char| c.is_ascii_digit()) {
        return Err(format!("`{text}` does not fit in {kind}"));
    }
    Ok(value)
}

fn path(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() { Err("the file's name is missing".to_owned()) } else { Ok(text.into()) }
}

impl FromStr for ArgSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, rest) = text.split_once(':').ok_or(
            "expected KIND:…, one of in, out, inout, buf, bytes, hex, u8, u16, u32, u64, i32, i64, f32, f64",
        )?;
        let two = |what: &str| rest.split_once(':').ok_or_else(|| format!("expected {what}"));
        Ok(match kind {
            "in" => Self::In(path(rest)?),
            "out" => {
                let (bytes, file) = two("out:BYTES:FILE")?;
                Self::Out(whole(bytes, "a size")?, path(file)?)
            }
            "inout" => {
                let (from, to) = two("inout:FILE:FILE")?;
                Self::InOut(path(from)?, path(to)?)
            }
            "buf" => Self::Buf(whole(rest, "a size")?),
            "u8" => Self::Scalar(Scalar::U8(whole(rest, kind)?)),
            "u16" => Self::Scalar(Scalar::U16(whole(rest, kind)?)),
            "u32" => Self::Scalar(Scalar::U32(whole(rest, kind)?)),
            "u64" => Self::Scalar(Scalar::U64(whole(rest, kind)?)),
            "i32" => Self::Scalar(Scalar::I32(whole(rest, kind)?)),
            "i64" => Self::Scalar(Scalar::I64(whole(rest, kind)?)),
            "f32" => Self::Scalar(Scalar::F32(float(rest, kind)?)),
            "f64" => Self::Scalar(Scalar::F64(float(rest, kind)?)),
            "hex" => Self::Hex(hex(rest)?),
            "bytes" => Self::Bytes(path(rest)?),
            _ => {
                return Err(format!(
                    "`{kind}` is not one of in, out, inout, buf, bytes, hex, u8, u16, u32, u64, i32, i64, f32, f64"
                ));
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind() {
        for (text, spec) in [
            ("in:a.bin", ArgSpec::In("a.bin".into())),
            ("out:0x400:b:c.bin", ArgSpec::Out(1024, "b:c.bin".into())),
            ("inout:a:b", ArgSpec::InOut("a".into(), "b".into())),
            ("buf:64", ArgSpec::Buf(64)),
            ("u8:255", ArgSpec::Scalar(Scalar::U8(255))),
            ("u16:0xffff", ArgSpec::Scalar(Scalar::U16(0xffff))),
            ("u64:18446744073709551615", ArgSpec::Scalar(Scalar::U64(u64::MAX))),
            ("i32:-0x80000000", ArgSpec::Scalar(Scalar::I32(i32::MIN))),
            ("i64:-9223372036854775808", ArgSpec::Scalar(Scalar::I64(i64::MIN))),
            ("f32:1.5", ArgSpec::Scalar(Scalar::F32(1.5))),
            ("f32:-inf", ArgSpec::Scalar(Scalar::F32(f32::NEG_INFINITY))),
            ("f64:-1e300", ArgSpec::Scalar(Scalar::F64(-1e300))),
            ("hex:01_fF00", ArgSpec::Hex(vec![1, 0xff, 0])),
            ("bytes:a.bin", ArgSpec::Bytes("a.bin".into())),
        ] {
            assert_eq!(text.parse(), Ok(spec), "{text}");
        }
    }

    #[test]
    fn every_mistake_is_told() {
        for (text, error) in [
            ("5", "expected KIND"),
            ("u8:256", "`256` does not fit in u8"),
            ("u64:99999999999999999999", "`99999999999999999999` does not fit in u64"),
            ("u32:-1", "`-1` does not fit in u32"),
            ("i32:x", "`x` is not a whole number"),
            ("f32:x", "`x` is not a number"),
            ("f32:-1e39", "`-1e39` does not fit in f32"),
            ("out:64", "expected out:BYTES:FILE"),
            ("in:", "the file's name is missing"),
            ("i8:1", "`i8` is not one of"),
            ("hex:012", "`012` is not pairs"),
            ("hex:0g", "`0g` is not pairs"),
            ("hex:", "`` is not pairs"),
            ("bytes:", "the file's name is missing"),
        ] {
            let message = text.parse::<ArgSpec>().unwrap_err();
            assert!(message.starts_with(error), "{text}: {message}");
        }
    }
}
