//! LLVM's offload binaries (`llvm/Object/OffloadBinary.h`, version 1): each has one image, and strings that
//! say what it is for. Objects and libraries have them in `.llvm.offloading`, one after another.

use std::ops::Range;

use super::ContainerError;

const MAGIC: &[u8] = b"\x10\xff\x10\xad";
const VERSION: u32 = 1;
/// What bitcode begins with.
const BITCODE: &[u8] = b"BC\xc0\xde";
/// They begin at multiples of it.
const ALIGNMENT: usize = 8;

/// An image.
pub(super) struct OffloadImage {
    /// The triple that it is for: `amdgcn-amd-amdhsa`.
    pub(super) triple: String,
    /// The processor that it is for: `gfx90a`.
    pub(super) processor: String,
    /// It is bitcode.
    pub(super) is_bitcode: bool,
    pub(super) range: Range<usize>,
}

pub(super) fn starts_here(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The images of the binaries in a range of the file.
pub(super) fn read(bytes: &[u8], range: Range<usize>) -> Result<Vec<OffloadImage>, ContainerError> {
    let mut images = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let binary = Binary { bytes: &bytes[at..range.end], at };
        let (image, size) = binary.read()?;
        images.push(image);
        at += size.next_multiple_of(ALIGNMENT);
    }
    Ok(images)
}

/// A binary that begins at `at`.
struct Binary<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Binary<'_> {
    /// Its image, and its size.
    fn read(&self) -> Result<(OffloadImage, usize), ContainerError> {
        if !starts_here(self.bytes) {
            return Err(self.damaged("it does not start as an offload binary"));
        }
        let version = u32::from_le_bytes(self.field(4)?);
        if version != VERSION {
            let what = format!("version {version} of offload binaries");
            return Err(ContainerError::Unsupported { at: self.at, what });
        }
        let size = self.word(8)?;
        if size < ALIGNMENT || size > self.bytes.len() {
            let there_are = self.bytes.len();
            return Err(self.damaged(&format!("its header says {size:#x} bytes, there are {there_are:#x}")));
        }
        let entry = self.word(16)?;
        let part = |number: usize| self.word(entry.saturating_add(8 * number));
        let (strings, count, image, image_size) = (part(1)?, part(2)?, part(3)?, part(4)?);
        let end = image.checked_add(image_size).filter(|&end| end <= size);
        let end = end.ok_or_else(|| self.damaged("its image is not inside"))?;
        let (mut triple, mut processor) = (String::new(), String::new());
        for number in 0..count {
            let pair = strings.saturating_add(number.saturating_mul(16));
            let value = self.string(self.word(pair.saturating_add(8))?)?;
            match &*self.string(self.word(pair)?)? {
                "triple" => triple = value,
                "arch" => processor = value,
                _ => {}
            }
        }
        let is_bitcode = self.bytes[image..end].starts_with(BITCODE);
        let range = self.at + image..self.at + end;
        Ok((OffloadImage { triple, processor, is_bitcode, range }, size))
    }

    fn field<const N: usize>(&self, start: usize) -> Result<[u8; N], ContainerError> {
        let field = start.checked_add(N).and_then(|end| self.bytes.get(start..end)?.try_into().ok());
        field.ok_or_else(|| self.damaged("it is cut short"))
    }

    fn word(&self, start: usize) -> Result<usize, ContainerError> {
        let word = u64::from_le_bytes(self.field(start)?);
        usize::try_from(word).map_err(|_| self.damaged("a number in it is too large"))
    }

    /// A text with a zero behind it.
    fn string(&self, start: usize) -> Result<String, ContainerError> {
        let text = self.bytes.get(start..).and_then(|rest| rest.split(|&byte| byte == 0).next());
        let text = text.ok_or_else(|| self.damaged("a string is not inside"))?;
        Ok(amdinst_text::name(text).into_owned())
    }

    fn damaged(&self, problem: &str) -> ContainerError {
        ContainerError::Damaged { at: self.at, problem: problem.to_owned() }
    }
}
