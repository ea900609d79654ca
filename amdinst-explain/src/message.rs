//! The message of a panic, read from what its lane held: the arguments of the function that trapped, and what
//! they point to.
//!
//! Without optimisation all of it is there. The forms are those of `core::fmt::Arguments` and
//! `core::fmt::rt::Argument` since Rust 1.93; what is not of these forms is left out, or the message as a
//! whole.

use std::borrow::Cow;

use amdgpu_object::RelocationKind;
use amdinst_core::names::demangled;

use amdinst_emu::{LaneState, PRIVATE_APERTURE};

use crate::arguments::arguments;
use crate::code::Code;

/// What the function of Rust's library that traps at `pc` was to say, if its arguments are still there.
pub(crate) fn read(code: &Code<'_>, pc: u64, state: &LaneState) -> Option<String> {
    let object = code.object?;
    let function = object.functions.iter().find(|function| function.code.contains(&pc))?;
    let name = demangled(&function.name)?;
    let name = name.strip_prefix("core::panicking::")?;
    let arguments = arguments(object, &function.code, pc, state)?;
    let wide = |argument: usize| {
        let [low, high] = [arguments[2 * argument]?, arguments[2 * argument + 1]?].map(u64::from);
        Some(low | high << 32)
    };
    match name {
        "panic_bounds_check" => {
            let (index, len) = (wide(0)?, wide(1)?);
            Some(format!("index out of bounds: the len is {len} but the index is {index}"))
        }
        "panic_fmt" | "panic_nounwind_fmt" | "panic_nounwind_fmt::runtime" => {
            let text = Memory { code, state }.formatted(wide(0)?, wide(1)?, 0)?;
            let lines: Vec<_> = text.lines().map(str::trim).collect();
            Some(lines.join(", "))
        }
        _ => None,
    }
}

/// Bytes of a literal and placeholders of a message, at most.
const MOST: usize = 1 << 10;
/// Arguments that are messages again, and references, are followed so far.
const DEEPEST: usize = 8;
/// Stands for what cannot be told.
const UNKNOWN: &str = "…";

/// What a pointer of the lane can be to.
struct Memory<'a> {
    code: &'a Code<'a>,
    state: &'a LaneState,
}

impl Memory<'_> {
    /// Bytes of the code object's data, or of the lane's private memory.
    fn bytes(&self, address: u64, size: usize) -> Option<&[u8]> {
        if let Some(offset) = address.checked_sub(PRIVATE_APERTURE).filter(|offset| *offset < 1 << 32) {
            let offset = offset as usize;
            return self.state.scratch.get(offset..offset.checked_add(size)?);
        }
        self.code.object?.bytes_at(address.wrapping_sub(self.state.bias), size)
    }

    fn number<const SIZE: usize>(&self, address: u64) -> Option<[u8; SIZE]> {
        self.bytes(address, SIZE)?.try_into().ok()
    }

    fn word(&self, address: u64) -> Option<u64> {
        self.number(address).map(u64::from_le_bytes)
    }

    fn text(&self, address: u64, size: u64) -> Option<&str> {
        let size = usize::try_from(size).ok().filter(|size| *size <= MOST)?;
        std::str::from_utf8(self.bytes(address, size)?).ok()
    }

    /// A `core::fmt::Arguments`: a text, if `args` is odd, or a template and the arguments for its
    /// placeholders.
    fn formatted(&self, template: u64, args: u64, depth: usize) -> Option<String> {
        if args & 1 != 0 {
            return self.text(template, args >> 1).map(str::to_owned);
        }
        if depth > DEEPEST {
            return None;
        }
        let mut told = String::new();
        let mut at = template;
        let mut next = 0;
        let mut take = |bytes: u64| {
            let from = at;
            at = at.wrapping_add(bytes);
            from
        };
        for _ in 0..MOST {
            let [kind] = self.number(take(1))?;
            let literal = match kind {
                0 => return Some(told),
                1..0x80 => u64::from(kind),
                0x80 => u64::from(u16::from_le_bytes(self.number(take(2))?)),
                0xc0.. => {
                    // Flags; then width, precision and the argument's number, each if there is one.
                    let present = |bit: u8| kind >> bit & 1 != 0;
                    take(if present(0) { 4 } else { 0 });
                    take(2 * (u64::from(present(1)) + u64::from(present(2))));
                    if present(3) {
                        next = u64::from(u16::from_le_bytes(self.number(take(2))?));
                    }
                    let argument = args.wrapping_add(16 * next);
                    next += 1;
                    told += &self.argument(argument, depth).unwrap_or(UNKNOWN.into());
                    continue;
                }
                _ => return None,
            };
            told += self.text(take(literal), literal)?;
        }
        None
    }

    /// A `core::fmt::rt::Argument`: a pointer to a value and one to the function that formats it, in either
    /// order.
    fn argument(&self, address: u64, depth: usize) -> Option<Cow<'static, str>> {
        let [first, second] = [self.word(address)?, self.word(address + 8)?];
        [(first, second), (second, first)].into_iter().find_map(|(value, function)| {
            let function = (self.code.original_pc)(function.wrapping_sub(self.state.bias))?;
            self.formatted_by(function, value, depth)
        })
    }

    /// A value, as a function at an address of the code object formats it.
    fn formatted_by(&self, function: u64, value: u64, depth: usize) -> Option<Cow<'static, str>> {
        let functions = &self.code.object?.functions;
        let found = functions.iter().find(|known| known.code.start == function)?;
        let name = demangled(&found.name)?;
        let implementation = name.strip_prefix('<')?.strip_suffix(">::fmt")?;
        let (of, how) = implementation.rsplit_once(" as core::fmt::")?;
        let debug = match how {
            "Debug" => true,
            "Display" => false,
            _ => return None,
        };
        self.value(of, debug, value, depth)
    }

    /// A value of a type, for `{:?}` or `{}`.
    fn value(&self, of: &str, debug: bool, at: u64, depth: usize) -> Option<Cow<'static, str>> {
        macro_rules! number {
            ($kind:ty) => {{
                let value = <$kind>::from_le_bytes(self.number(at)?);
                Some(if debug { format!("{value:?}") } else { value.to_string() }.into())
            }};
        }
        let deeper = depth + 1;
        match of {
            "u8" => number!(u8),
            "u16" => number!(u16),
            "u32" => number!(u32),
            "u64" | "usize" => number!(u64),
            "u128" => number!(u128),
            "i8" => number!(i8),
            "i16" => number!(i16),
            "i32" => number!(i32),
            "i64" | "isize" => number!(i64),
            "i128" => number!(i128),
            "f32" => number!(f32),
            "f64" => number!(f64),
            "bool" => Some(if self.number::<1>(at)? == [0] { "false" } else { "true" }.into()),
            "char" => {
                let value = char::from_u32(u32::from_le_bytes(self.number(at)?))?;
                Some(if debug { format!("{value:?}") } else { value.to_string() }.into())
            }
            "()" => Some("()".into()),
            "&str" => {
                let text = self.text(self.word(at)?, self.word(at + 8)?)?;
                Some(if debug { format!("{text:?}") } else { text.to_owned() }.into())
            }
            "core::fmt::Arguments" => {
                self.formatted(self.word(at)?, self.word(at + 8)?, deeper).map(Cow::Owned)
            }
            _ if depth > DEEPEST => None,
            // A pointer to the value, and to a table: what drops it, its size, its alignment, the one method.
            "&dyn core::fmt::Debug" | "&dyn core::fmt::Display" => {
                let (value, table) = (self.word(at)?, self.word(at + 8)?);
                self.formatted_by(self.pointer(table + 24)?, value, deeper)
            }
            _ => self.value(of.strip_prefix('&')?, debug, self.word(at)?, deeper),
        }
    }

    /// A pointer in the code object's data, which the loader fills in, as an address of the code object.
    fn pointer(&self, address: u64) -> Option<u64> {
        let address = address.wrapping_sub(self.state.bias);
        let relocations = &self.code.object?.relocations;
        let found = relocations.binary_search_by_key(&address, |relocation| relocation.address).ok()?;
        let relocation = &relocations[found];
        match (relocation.kind, &relocation.symbol) {
            (RelocationKind::Relative64, _) => Some(relocation.addend as u64),
            (RelocationKind::Abs64, Some((_, Some(symbol)))) => {
                Some(symbol.wrapping_add_signed(relocation.addend))
            }
            _ => None,
        }
    }
}
