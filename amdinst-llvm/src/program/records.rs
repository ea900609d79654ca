//! The records that the macros of `amdinst-device` leave in a program, read from its textual IR.
//!
//! Each is a constant byte array in one of four sections: `.amdinst.probes` and `.amdinst.outline` hold lines
//! of text, `.amdinst.shared` a size, an alignment and a symbol, `.amdinst.kernels` what an entry point takes
//! and how the kernel is called. (`amdinst_macros` and `amdinst_device` describe them.)
//!
//! `#[used]` makes invalid IR on this target, so the arrays are exported. The link step drops them after
//! reading. The probes come back as a section that is not loaded, so that they move no address.

use std::collections::BTreeSet;

use crate::error::LinkError;
use crate::ir::text::unescaped;

/// What a program's records say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Records {
    /// The lines of `.amdinst.probes`, sorted.
    pub(crate) probes: BTreeSet<String>,
    /// Variables in LDS.
    pub(crate) shared: Vec<SharedVariable>,
    /// Symbols of functions that are not to be inlined.
    pub(crate) outlined: BTreeSet<String>,
    /// Whether kernels print.
    pub(crate) prints: bool,
    /// Whether their panics say why.
    pub(crate) panics: bool,
    /// Whether kernels allocate.
    pub(crate) allocates: bool,
    /// Whether kernels call what `amdgpu-device-libs` asks its host for.
    pub(crate) asks_its_host: bool,
    /// Entry points, by symbol.
    pub(crate) entries: Vec<Entry>,
}

/// The entry point of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    /// Its symbol, as rustc knows it.
    pub(crate) symbol: String,
    /// The path of the module that the kernel is written in, the crate at its beginning.
    pub(crate) module: String,
    /// The kernel's name.
    pub(crate) name: String,
    /// The most work-items of a workgroup, if the kernel says so.
    pub(crate) workgroup: Option<u32>,
    /// For each parameter that stands in the kernarg segment: size and alignment in bytes.
    pub(crate) parameters: Vec<Option<(u32, u32)>>,
}

/// A variable in LDS, and the function that Rust code asks for its address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SharedVariable {
    pub(crate) symbol: String,
    /// Bytes; 0 for LDS whose size the launcher decides.
    pub(crate) size: u32,
    /// Bytes.
    pub(crate) align: u32,
}

impl Records {
    /// Reads the module-level lines of `llvm-dis`.
    pub(crate) fn read(ir: &str) -> Result<Self, LinkError> {
        let declares = |name: &str| {
            ir.lines().any(|line| line.starts_with("declare ") && line.contains(&format!(" @{name}")))
        };
        let mut records = Self {
            prints: declares("__amdinst_print(") || declares("__amdgpu_util_print_stdout("),
            panics: declares("__amdinst_panic("),
            allocates: declares("__amdinst_allocate(") || declares("__amdgpu_util_alloc("),
            asks_its_host: declares("__amdgpu_util_"),
            ..Self::default()
        };
        let mut outline_lines = BTreeSet::new();
        for line in ir.lines().filter(|line| line.starts_with('@')) {
            let Some((symbol, section, bytes)) = constant(line) else { continue };
            let malformed = || LinkError::Record { symbol: symbol.clone() };
            match section {
                ".amdinst.probes" | ".amdinst.outline" => {
                    let text = String::from_utf8(bytes).map_err(|_| malformed())?;
                    let lines = text.lines().map(str::to_owned);
                    if section == ".amdinst.probes" {
                        records.probes.extend(lines);
                    } else {
                        outline_lines.extend(lines);
                    }
                }
                ".amdinst.kernels" => records.entries.push(entry(&bytes).ok_or_else(malformed)?),
                ".amdinst.shared" => records.shared.push(shared_variable(&bytes).ok_or_else(malformed)?),
                _ => {}
            }
        }
        records.entries.sort();
        records.shared.sort();
        records.shared.dedup();
        if !outline_lines.is_empty() {
            records.outlined = outlined_symbols(ir, &outline_lines);
        }
        Ok(records)
    }
}

/// The symbol, section and bytes of `@symbol = … constant [N x i8] c"…", section "…", align 1`.
fn constant(line: &str) -> Option<(String, &str, Vec<u8>)> {
    let (head, rest) = line.split_once(" x i8] c\"")?;
    let (bytes, rest) = rest.split_once('"')?;
    let (_, rest) = rest.split_once("section \"")?;
    let (section, _) = rest.split_once('"')?;
    let symbol = head.strip_prefix('@')?.split(" = ").next()?.trim_matches('"').to_owned();
    Some((symbol, section, unescaped(bytes)?))
}

/// The count of parameters, size and alignment of each, and three or four texts that end in NUL.
fn entry(record: &[u8]) -> Option<Entry> {
    let (count, mut rest) = record.split_first_chunk::<4>()?;
    let mut parameters = Vec::new();
    for _ in 0..u32::from_le_bytes(*count) {
        let (size, tail) = rest.split_first_chunk::<4>()?;
        let (align, tail) = tail.split_first_chunk::<4>()?;
        let (size, align) = (u32::from_le_bytes(*size), u32::from_le_bytes(*align));
        match align {
            0 => parameters.push(None),
            _ if align.is_power_of_two() => parameters.push(Some((size, align))),
            _ => return None,
        }
        rest = tail;
    }
    let text = std::str::from_utf8(rest).ok()?.strip_suffix('\0')?;
    let texts: Vec<&str> = text.split('\0').collect();
    let (&[symbol, module, name], workgroup) = texts.split_first_chunk()?;
    let workgroup = match workgroup {
        [] => None,
        [most] => Some(most.parse().ok()?),
        _ => return None,
    };
    let [symbol, module, name] = [symbol, module, name].map(str::to_owned);
    Some(Entry { symbol, module, name, workgroup, parameters })
}

fn shared_variable(record: &[u8]) -> Option<SharedVariable> {
    let (size, rest) = record.split_first_chunk::<4>()?;
    let (align, rest) = rest.split_first_chunk::<4>()?;
    let (align, symbol) = (u32::from_le_bytes(*align), rest.strip_suffix(&[0])?);
    if !align.is_power_of_two() || symbol.contains(&0) {
        return None;
    }
    Some(SharedVariable {
        symbol: String::from_utf8(symbol.to_vec()).ok()?,
        size: u32::from_le_bytes(*size),
        align,
    })
}

/// The symbols of the functions that `lines` (`name`, tab, line of its definition) speak of, every instance
/// of a generic one among them. rustc drops `#[inline(never)]` on this target, so the record is matched with
/// the debug information.
fn outlined_symbols(ir: &str, lines: &BTreeSet<String>) -> BTreeSet<String> {
    let field = |text: &str, key: &str| {
        let rest = text.split_once(key)?.1;
        Some(rest.split([',', ')']).next()?.trim_matches('"').to_owned())
    };
    ir.lines()
        .filter(|line| line.starts_with('!') && line.contains("!DISubprogram("))
        .filter_map(|text| {
            let name = field(text, "(name: ")?;
            let name = name.split('<').next()?;
            let line = field(text, " line: ")?;
            lines.contains(&format!("{name}\t{line}")).then(|| field(text, "linkageName: "))?
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_each_kind() {
        let ir = r#"
@__amdinst_probes_k = constant [16 x i8] c"1\09a\\b\09if\0A1\09c\0A", section ".amdinst.probes", align 1
@"__amdinst_lds_T_record" = addrspace(1) constant [10 x i8] c"\00\04\00\00\04\00\00\00T\00", section ".amdinst.shared", align 1
@__amdinst_outline_f = addrspace(1) constant [5 x i8] c"f\0942\0A", section ".amdinst.outline", align 1
@other = constant [2 x i8] c"hi", align 1
!7 = distinct !DISubprogram(name: "f<u32>", linkageName: "_RINvCs_1k1f", scope: !1, file: !2, line: 42, type: !3)
!8 = distinct !DISubprogram(name: "f", linkageName: "_RNvCs_1k1g", scope: !1, file: !2, line: 43, type: !3)
"#;
        let records = Records::read(ir).unwrap();
        assert_eq!(records.probes, BTreeSet::from(["1\ta\\b\tif".to_owned(), "1\tc".to_owned()]));
        assert_eq!(records.shared, [SharedVariable { symbol: "T".to_owned(), size: 1024, align: 4 }]);
        assert_eq!(records.outlined, BTreeSet::from(["_RINvCs_1k1f".to_owned()]));
    }

    #[test]
    fn a_broken_record_is_an_error() {
        let ir = r#"@r = constant [3 x i8] c"\00\00\00", section ".amdinst.shared", align 1"#;
        assert!(matches!(Records::read(ir), Err(LinkError::Record { symbol }) if symbol == "r"));
    }
}
