//! What a Rust panic says.
//!
//! Kernels are built so that a failed check traps where it stands and formats nothing. Its text is had from
//! what is left: the names of `core`'s functions around the trap; the arguments of the innermost one and what
//! they point to, where the compiler has not removed them (`message`); the macro in the source.

use amdinst_format::probes::SiteFrame;
use amdinst_format::report::Origin;

/// What is told of a panic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) text: String,
    /// It has values that cannot be read any more.
    pub(crate) lacks_values: bool,
}

impl Said {
    pub(crate) fn whole(text: impl Into<String>) -> Self {
        Self { text: text.into(), lacks_values: false }
    }

    fn in_part(text: impl Into<String>) -> Self {
        Self { text: text.into(), lacks_values: true }
    }
}

/// The frames of a panic in a stack, innermost first: all up to the one that panicked.
pub(crate) struct Panic<'a> {
    /// Rust's own functions, and before them what a panic handler may have called.
    inner: &'a [SiteFrame],
    /// The function that panicked, then its callers.
    pub(crate) outer: &'a [SiteFrame],
}

impl<'a> Panic<'a> {
    /// The outermost panic of a stack, if there is one.
    pub(crate) fn of(frames: &'a [SiteFrame]) -> Option<Self> {
        let panics = frames.iter().rposition(|frame| library_file(frame) == Some(PANICS))?;
        let library = frames[panics..].iter().take_while(|frame| library_file(frame).is_some());
        let (inner, outer) = frames.split_at(panics + library.count());
        Some(Self { inner, outer })
    }

    /// The allocation that failed, of a stack that trapped: `alloc` calls no function of its own to say it,
    /// once all is inlined.
    pub(crate) fn of_allocation(frames: &'a [SiteFrame]) -> Option<Self> {
        let library = frames.iter().take_while(|frame| library_file(frame).is_some()).count();
        let (inner, outer) = frames.split_at(library);
        let allocates =
            |frame: &SiteFrame| matches!(library_file(frame), Some("src/raw_vec/mod.rs" | "src/alloc.rs"));
        inner.first().is_some_and(allocates).then_some(Self { inner, outer })
    }

    /// What can be told without its arguments.
    pub(crate) fn text(&self, source: impl Fn(&str) -> Option<String>) -> Option<Said> {
        let of_assertion = || {
            let asserts = self.inner.iter().any(|frame| name(frame) == Some("assert_failed"));
            asserts.then(|| Said::in_part("assertion failed"))
        };
        // Of a slice of a slice, the function that fails may be gone, and that which asked it is left.
        let of_slice = || {
            let slices = self.inner.iter().any(|frame| library_file(frame) == Some(SLICES));
            slices.then(|| Said::in_part(OUT_OF_RANGE))
        };
        let of_function = || self.of_names().or_else(of_slice).or_else(|| self.of_source(source));
        of_function().or_else(|| self.of_library()).or_else(of_assertion)
    }

    /// The function of Rust's library that the user called, if one of its checks failed.
    fn of_library(&self) -> Option<Said> {
        let is_own = |frame: &&SiteFrame| library_file(frame) != Some(PANICS);
        let mut names = self.inner.iter().rev().take_while(is_own).filter_map(name);
        let called = names.find(|name| !name.starts_with('{'))?;
        Some(Said::in_part(format!("a check of `{called}` in Rust's library failed")))
    }

    /// What the names of Rust's own functions say, the outermost first.
    fn of_names(&self) -> Option<Said> {
        let names: Vec<_> = self.inner.iter().filter_map(|frame| Some((name(frame)?, frame))).collect();
        let told =
            |at: usize| text(names[at].0, library_file(names[at].1)?, names.get(at + 1).map(|next| next.0));
        (0..names.len()).rev().find_map(told)
    }

    /// The macro that panicked, as the source has it: `` `assert!(i < n)` ``.
    fn of_source(&self, source: impl Fn(&str) -> Option<String>) -> Option<Said> {
        let frame = self.outer.first()?;
        let text = source(frame.file.as_deref()?)?;
        let line = text.lines().skip(usize::try_from(frame.line?).ok()?.checked_sub(1)?);
        let invocation = invocation(line, usize::try_from(frame.column?).ok()?.checked_sub(1)?)?;
        let compares = ["assert_eq!", "assert_ne!"].iter().any(|name| invocation.contains(name));
        Some(Said { text: format!("`{invocation}`"), lacks_values: compares || invocation.contains('{') })
    }
}

/// The file of a frame in `core`, `alloc` or `std`.
fn library_file(frame: &SiteFrame) -> Option<&str> {
    match Origin::of(frame.file.as_deref()?) {
        Origin::Library { path, .. } => Some(path),
        _ => None,
    }
}

/// The function's own name, without its path and generic arguments.
fn name(frame: &SiteFrame) -> Option<&str> {
    let full = frame.function.as_deref()?;
    let mut depth = 0_usize;
    let mut last = (0, full.len());
    let mut begin = 0;
    let bytes = full.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' if at == 0 || bytes[at - 1] != b'-' => depth = depth.saturating_sub(1),
            b':' if depth == 0 && bytes.get(at + 1) == Some(&b':') => {
                last = (begin, at);
                begin = at + 2;
            }
            _ => {}
        }
    }
    // `f::<u32>` is called `f`.
    let (start, end) = if full[begin..].starts_with('<') { last } else { (begin, full.len()) };
    let name = &full[start..end];
    Some(name.split('<').next().unwrap_or(name))
}

/// What is said of an allocation that failed. More memory helps, or less of it in one launch.
const OUT_OF_MEMORY: &str =
    "memory allocation failed: a launch has as much as `heap` in [package.metadata.amdinst] says";

/// The file of what panics.
const PANICS: &str = "src/panicking.rs";

/// The file of what takes parts of slices, and what is said of those that are not there.
const SLICES: &str = "src/slice/index.rs";
const OUT_OF_RANGE: &str = "slice index out of range";

/// The text of the panic that a function of Rust's own library is there for; `caller` calls it.
fn text(name: &str, file: &str, caller: Option<&str>) -> Option<Said> {
    if let Some(rest) = name.strip_prefix("panic_const_") {
        return arithmetic(rest).map(Said::whole);
    }
    let text = match (name, file) {
        ("panic_bounds_check", _) => return Some(Said::in_part("index out of bounds")),
        ("panic_misaligned_pointer_dereference", _) => {
            return Some(Said::in_part("misaligned pointer dereference"));
        }
        ("panic_null_pointer_dereference", _) => "null pointer dereference occurred",
        ("panic_invalid_enum_construction", _) => {
            return Some(Said::in_part("trying to construct an enum from an invalid value"));
        }
        ("panic_already_borrowed" | "panic_already_mutably_borrowed", _) => "RefCell already borrowed",
        ("precondition_check", _) => "unsafe precondition(s) violated",
        ("handle_alloc_error", _) | (_, "src/raw_vec/mod.rs" | "src/alloc.rs") => OUT_OF_MEMORY,
        ("unwrap_failed", "src/option.rs") => "called `Option::unwrap()` on a `None` value",
        // With a text of the user's.
        ("expect_failed", "src/option.rs") => {
            return Some(Said::in_part("called `Option::expect()` on a `None` value"));
        }
        ("unwrap_failed", "src/result.rs") => {
            let caller = caller.unwrap_or("unwrap");
            let held = if caller.ends_with("_err") { "Ok" } else { "Err" };
            return Some(Said::in_part(format!("called `Result::{caller}()` on an `{held}` value")));
        }
        (name, SLICES) if name.starts_with("slice_") => return Some(Said::in_part(OUT_OF_RANGE)),
        _ => return None,
    };
    Some(Said::whole(text))
}

/// `add_overflow` of `panic_const_add_overflow`.
fn arithmetic(name: &str) -> Option<String> {
    let what = match name {
        "div_by_zero" => return Some("attempt to divide by zero".to_owned()),
        "rem_by_zero" => {
            return Some("attempt to calculate the remainder with a divisor of zero".to_owned());
        }
        _ => match name.strip_suffix("_overflow")? {
            "add" => "add",
            "sub" => "subtract",
            "mul" => "multiply",
            "div" => "divide",
            "rem" => "calculate the remainder",
            "neg" => "negate",
            "shl" => "shift left",
            "shr" => "shift right",
            _ => return None,
        },
    };
    Some(format!("attempt to {what} with overflow"))
}

/// Characters of a macro's text that are told.
const MOST: usize = 120;

/// A macro's invocation that begins at a byte of the first of some lines: to its closing bracket, in one
/// line.
fn invocation<'a>(mut lines: impl Iterator<Item = &'a str>, column: usize) -> Option<String> {
    let first = lines.next()?.get(column..)?;
    let (name, _) = first.split_once('!')?;
    let path = |character: char| character.is_alphanumeric() || "_:".contains(character);
    if name.is_empty() || !name.chars().all(path) {
        return None;
    }
    let mut told = String::new();
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for line in std::iter::once(first).chain(lines.take(16)) {
        if !told.is_empty() {
            told.push(' ');
        }
        for character in line.trim().chars() {
            told.push(character);
            match character {
                _ if escaped => escaped = false,
                '\\' if quoted => escaped = true,
                '"' => quoted = !quoted,
                '(' | '[' | '{' if !quoted => depth += 1,
                ')' | ']' | '}' if !quoted => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Some(told);
                    }
                }
                _ => {}
            }
            if told.chars().count() == MOST {
                return Some(told + "…");
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, file: &str) -> SiteFrame {
        SiteFrame { function: Some(function.into()), file: Some(file.into()), line: Some(2), column: Some(5) }
    }

    fn core(function: &str, file: &str) -> SiteFrame {
        frame(function, &format!("/rustc/f2d3ce0bd/library/core/src/{file}"))
    }

    #[test]
    fn names_of_functions() {
        for (full, own) in [
            ("unwrap<u32>", "unwrap"),
            ("panic_fmt", "panic_fmt"),
            ("core::panicking::assert_failed::<u32, u32>", "assert_failed"),
            ("<core::option::Option<u32>>::unwrap", "unwrap"),
            ("<*mut _>::add::runtime_add_nowrap", "runtime_add_nowrap"),
            ("core::ops::function::FnOnce::call_once::<fn(u32) -> u32>", "call_once"),
        ] {
            assert_eq!(name(&frame(full, "x.rs")), Some(own));
        }
    }

    #[test]
    fn an_allocation_that_failed() {
        let alloc =
            |function: &str, file: &str| frame(function, &format!("/rustc/0/library/alloc/src/{file}"));
        let stack = [
            alloc("with_capacity_in<A>", "raw_vec/mod.rs"),
            alloc("collect", "vec/mod.rs"),
            frame("k", "src/lib.rs"),
        ];
        assert!(Panic::of(&stack).is_none());
        let panic = Panic::of_allocation(&stack).unwrap();
        assert_eq!((panic.text(|_| None), panic.outer.len()), (Some(Said::whole(OUT_OF_MEMORY)), 1));
        assert!(Panic::of_allocation(&stack[1..]).is_none() && Panic::of_allocation(&stack[2..]).is_none());
    }

    #[test]
    fn what_names_say() {
        let said =
            |frames: &[SiteFrame]| Panic::of(frames).map(|panic| (panic.text(|_| None), panic.outer.len()));
        let fmt = || core("panic_fmt", "panicking.rs");
        let user = || frame("k", "src/lib.rs");
        let told = |text: &str, outer| Some((Some(Said::whole(text)), outer));
        let in_part = |text: &str, outer| Some((Some(Said::in_part(text)), outer));
        assert_eq!(
            said(&[fmt(), core("panic_const_add_overflow", "panicking.rs"), user()]),
            told("attempt to add with overflow", 1)
        );
        assert_eq!(
            said(&[
                fmt(),
                core("unwrap_failed", "result.rs"),
                core("core::result::Result<u32, ()>::unwrap_err", "result.rs"),
                user(),
                user()
            ]),
            in_part("called `Result::unwrap_err()` on an `Ok` value", 2)
        );
        assert_eq!(
            said(&[core("panic_bounds_check", "panicking.rs"), core("index<u32>", "slice/index.rs"), user()]),
            in_part("index out of bounds", 1)
        );
        assert_eq!(
            said(&[fmt(), core("index<u32, core::ops::range::Range<usize>>", "slice/index.rs"), user()]),
            in_part("slice index out of range", 1)
        );
        assert_eq!(said(&[fmt(), user()]), Some((None, 1)));
        assert_eq!(
            said(&[
                fmt(),
                core("assert_failed_inner", "panicking.rs"),
                core("assert_failed<u32, u32>", "panicking.rs"),
                user()
            ]),
            in_part("assertion failed", 1)
        );
        assert_eq!(
            said(&[
                fmt(),
                core("len_mismatch_fail", "panic.rs"),
                core("copy_from_slice<u8>", "slice/mod.rs"),
                core("{closure#0}", "iter/adapters/map.rs"),
                user()
            ]),
            in_part("a check of `copy_from_slice` in Rust's library failed", 1)
        );
        // No panic.
        assert_eq!(said(&[core("write<u32>", "ptr/mod.rs"), user()]), None);
        // A handler of the user's, that waits for ever, and what it calls.
        assert_eq!(
            said(&[user(), fmt(), core("panic_const_div_by_zero", "panicking.rs"), user()]),
            told("attempt to divide by zero", 1)
        );
    }

    #[test]
    fn the_macro_in_the_source() {
        let source = "fn f() {\n    assert!(\n        a(i) < 3,\n        \"no \\\"(\",\n    );\n}\n";
        let frames = [core("panic_fmt", "panicking.rs"), frame("f", "src/lib.rs")];
        let told = |text: &str| {
            Panic::of(&frames).unwrap().of_source(|file| (file == "src/lib.rs").then(|| text.to_owned()))
        };
        assert_eq!(told(source), Some(Said::whole(r#"`assert!( a(i) < 3, "no \"(", )`"#)));
        assert_eq!(told("\n    todo!()"), Some(Said::whole("`todo!()`")));
        assert_eq!(told("\n    panic!(\"{i}\")"), Some(Said::in_part("`panic!(\"{i}\")`")));
        assert_eq!(told("\n    assert_eq!(i, 3)"), Some(Said::in_part("`assert_eq!(i, 3)`")));
        // Another text than the one that was compiled.
        assert_eq!(told("fn f() {\n    x != 3 && g(y)\n}\n"), None);
        assert_eq!(told(""), None);
        let long = format!("\n    panic!(\"{}\")", "é".repeat(200));
        assert_eq!(told(&long).map(|said| said.text.chars().count()), Some(MOST + 3));
    }
}
