//! Words that stand in files, as LLVM's own tests have them.
//!
//! An instruction is a line: `// GFX11: v_nop ; encoding: [0x00,0x00,0x00,0x7e]` of an assembler test, or the
//! bytes alone of a disassembler test, `0x00,0x00,0x00,0x7e` or `[0x00 0x00 0x00 0x7e]`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

use super::draw::PAD;

/// The instructions of some files, each once, as blocks.
pub(super) fn blocks(files: &[PathBuf]) -> Result<Vec<Vec<u32>>> {
    let mut all = BTreeSet::new();
    for file in files {
        let bytes = std::fs::read(file).with_context(|| format!("reading {}", file.display()))?;
        all.extend(String::from_utf8_lossy(&bytes).lines().filter_map(words));
    }
    Ok(all.into_iter().map(|words| [&words[..], &[PAD]].concat()).collect())
}

/// The words of a line, if it has any.
fn words(line: &str) -> Option<Vec<u32>> {
    let line = line.trim();
    let list = match line.split_once("encoding: [") {
        Some((_, list)) => list.split(']').next()?,
        None if line.starts_with("0x") || line.starts_with('[') => line,
        None => return None,
    };
    let separators = |letter: char| matches!(letter, ',' | ' ' | '[' | ']');
    let byte = |part: &str| u8::from_str_radix(part.strip_prefix("0x")?, 16).ok();
    let parts = list.split(separators).filter(|part| !part.is_empty());
    let bytes: Vec<u8> = parts.map(byte).collect::<Option<_>>()?;
    let (words, rest) = bytes.as_chunks::<4>();
    (!words.is_empty() && rest.is_empty())
        .then(|| words.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn lines_of_both_kinds_are_read() {
        assert_eq!(words("// GFX11: v_nop ; encoding: [0x00,0x00,0x00,0x7e]"), Some(vec![0x7e00_0000]));
        assert_eq!(words("0x01,0x02,0x03,0x04,0x05,0x06,0x07,0x08"), Some(vec![0x0403_0201, 0x0807_0605]));
        assert_eq!(words("[0x00 0x00 0x80 0xbf]"), Some(vec![0xbf80_0000]));
        assert_eq!(words("// GFX11: v_nop"), None);
        assert_eq!(words("0x00,0x00"), None);
    }
}
