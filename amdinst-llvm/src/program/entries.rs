//! Entry points of kernels, as their records (`records`) say they are, in textual IR.
//!
//! A structure that a kernel takes is a pointer in what rustc makes of it, for compilers differ in how they
//! pass one. Here the pointer becomes one to the kernarg segment (`byref`), which then has the structure
//! itself. A symbol becomes the kernel's name, or its path, if several kernels have that name.

use std::collections::{BTreeMap, BTreeSet};

use super::records::Entry;
use crate::error::LinkError;
use crate::ir::text::{closing, escaped, renamed, split};
use crate::ir::tokens::{Reference, references, replaced};

/// What the code object calls each kernel: its name, or its path without the crate (`scan::sum`), if the name
/// is another one's, too.
pub(crate) fn names(entries: &[Entry]) -> Result<Vec<String>, LinkError> {
    let mut times = BTreeMap::new();
    for entry in entries {
        *times.entry(entry.name.as_str()).or_insert(0_usize) += 1;
    }
    let called = |entry: &Entry| match times[entry.name.as_str()] {
        1 => entry.name.clone(),
        _ => match entry.module.split_once("::") {
            Some((_, modules)) => format!("{modules}::{}", entry.name),
            None => entry.name.clone(),
        },
    };
    let names: Vec<_> = entries.iter().map(called).collect();
    let mut sorted: Vec<_> = names.iter().collect();
    sorted.sort();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(LinkError::SameName { name: pair[0].clone() }),
        None => Ok(names),
    }
}

/// The program with its entry points as `entries` say, called `names`.
pub(crate) fn rewrite(ir: &str, entries: &[Entry], names: &[String]) -> Result<String, LinkError> {
    let called: BTreeMap<String, (&Entry, &String)> =
        entries.iter().zip(names).map(|pair| (escaped(&pair.0.symbol), pair)).collect();
    let quoted = |symbol: &str| called.get(symbol).map(|(_, name)| escaped(name));
    let mut found = BTreeSet::new();
    let mut changed = String::with_capacity(ir.len() + ir.len() / 64);
    let mut rest = ir;
    while !rest.is_empty() {
        let line = &rest[..rest.find('\n').map_or(rest.len(), |end| end + 1)];
        let name = line.strip_prefix("define ").and_then(defined);
        let entry = name.and_then(|name| called.get(name));
        let linkage = line.starts_with('!').then(|| line.split_once(LINKAGE_NAME)).flatten();
        let mut taken = line.len();
        if let Some((entry, name)) = entry {
            let different = || LinkError::Entry { kernel: (*name).clone() };
            taken = rest.find("\n}").ok_or_else(different)?;
            changed.push_str(&as_entry(&rest[..taken], entry).ok_or_else(different)?);
            found.insert(&entry.symbol);
        } else if let Some((before, behind)) = linkage
            && let Some((symbol, behind)) = behind.split_once('"')
            && let Some(name) = quoted(symbol)
        {
            changed.extend([before, LINKAGE_NAME, &name, "\"", behind]);
        } else {
            changed.push_str(line);
        }
        rest = &rest[taken..];
    }
    if let Some((_, (_, name))) =
        called.iter().find(|(_, (entry, _))| entry.changes() && !found.contains(&entry.symbol))
    {
        return Err(LinkError::Entry { kernel: (*name).clone() });
    }
    let mut renamed = String::with_capacity(changed.len());
    replaced(&changed, &mut renamed, |reference| match reference {
        Reference::Symbol(symbol) => quoted(symbol).map(|name| format!("@\"{name}\"")),
        _ => None,
    });
    Ok(renamed)
}

/// What stands before a function's symbol in its debug information.
const LINKAGE_NAME: &str = "linkageName: \"";

impl Entry {
    /// Whether its function is another one in the code object.
    fn changes(&self) -> bool {
        self.workgroup.is_some() || self.parameters.iter().any(Option::is_some)
    }
}

/// The function that the line of a definition is about.
fn defined(line: &str) -> Option<&str> {
    references(line).find_map(|(_, reference)| match reference {
        Reference::Symbol(name) => Some(name),
        _ => None,
    })
}

/// A function (without its last brace) as `entry` says.
fn as_entry(function: &str, entry: &Entry) -> Option<String> {
    let mut function = match entry.parameters.iter().any(Option::is_some) {
        true => with_structures(function, entry)?,
        false => function.to_owned(),
    };
    if let Some(most) = entry.workgroup {
        let open = function.find(&format!("@{}(", entry.symbol))? + entry.symbol.len() + 2;
        let behind = open + closing(&function[open..])? + 1;
        // Attributes stand behind `unnamed_addr`, and before what a function has besides.
        let rest = function[behind..].lines().next()?;
        let ends = [" #", " !dbg", " {"].iter().filter_map(|end| rest.find(end));
        function.insert_str(behind + ends.min()?, &format!(" \"amdgpu-flat-work-group-size\"=\"1,{most}\""));
    }
    Some(function)
}

/// A function (without its last brace) whose parameters stand in the kernarg segment where `entry` says so.
fn with_structures(function: &str, entry: &Entry) -> Option<String> {
    let (head, body) = function.split_once('\n')?;
    let open = head.find(&format!("@{}(", entry.symbol))? + entry.symbol.len() + 2;
    let close = open + closing(&head[open..])?;
    let parameters = split(&head[open..close]);
    if parameters.len() != entry.parameters.len() {
        return None;
    }
    let (mut taken, mut casts, mut body) = (Vec::new(), String::new(), body.to_owned());
    for (number, (parameter, layout)) in parameters.iter().zip(&entry.parameters).enumerate() {
        let Some((size, align)) = layout else {
            taken.push((*parameter).to_owned());
            continue;
        };
        let (kind, name) = (parameter.split(' ').next()?, parameter.rsplit(' ').next()?);
        if kind != "ptr" || !name.starts_with('%') {
            return None;
        }
        // The parameter keeps its name, which the note has; or its number, so that those behind it stay as
        // they are.
        let pointer = format!("%amdinst.structure.{number}");
        body = renamed(&body, name, &pointer);
        taken.push(format!("ptr addrspace(4) noundef byref([{size} x i8]) align {align} {name}"));
        casts.push_str(&format!("  {pointer} = addrspacecast ptr addrspace(4) {name} to ptr\n"));
    }
    // Behind the first block's label, if it has one.
    let first = body.split('\n').next()?;
    let label = if first.split(';').next()?.trim_end().ends_with(':') { first.len() + 1 } else { 0 };
    body.insert_str(label, &casts);
    Some(format!("{}{}{}\n{body}", &head[..open], taken.join(", "), &head[close..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(symbol: &str, module: &str, name: &str, parameters: &[Option<(u32, u32)>]) -> Entry {
        let [symbol, module, name] = [symbol, module, name].map(str::to_owned);
        Entry { symbol, module, name, workgroup: None, parameters: parameters.to_vec() }
    }

    #[test]
    fn a_workgroup_that_was_declared_is_an_attribute() {
        let ir = "define amdgpu_kernel void @k_1_(ptr dereferenceable(4) %o) unnamed_addr #1 !dbg !7 {\n}\n";
        let entry = Entry { workgroup: Some(256), ..entry("k_1_", "c::a", "k", &[None]) };
        let rewritten = rewrite(ir, &[entry], &["k".to_owned()]).unwrap();
        let expected = "define amdgpu_kernel void @\"k\"(ptr dereferenceable(4) %o) unnamed_addr \"amdgpu-flat-work-group-size\"=\"1,256\" #1 !dbg !7 {\n}\n";
        assert_eq!(rewritten, expected);
    }

    #[test]
    fn kernels_of_one_name_have_their_paths() {
        let of = |module: &str, name: &str| entry("s", module, name, &[]);
        let all = [of("k", "sum"), of("k::scan", "sum"), of("k::scan", "max"), of("k::a::b", "sum")];
        assert_eq!(names(&all).unwrap(), ["sum", "scan::sum", "max", "a::b::sum"]);
        let error = names(&[of("k::scan", "sum"), of("k::scan", "sum")]).unwrap_err().to_string();
        assert_eq!(error, "two kernels are called `scan::sum`, in one module: give one of them another name");
    }

    #[test]
    fn structures_stand_in_the_kernarg_segment() {
        let all = [entry("k_1_", "k", "k", &[None, Some((12, 4)), None])];
        let ir = "declare void @other(ptr)\ndefine amdgpu_kernel void @k_1_(ptr noundef %o, ptr noundef range(i64 0, 7) %by, i64 %n) #1 !dbg !7 {\nstart:\n  %by1 = load i32, ptr %by, align 4\n  ret void\n}\n!7 = distinct !DISubprogram(name: \"k\", linkageName: \"k_1_\")\n";
        assert_eq!(
            rewrite(ir, &all, &["a::k".to_owned()]).unwrap(),
            "declare void @other(ptr)\ndefine amdgpu_kernel void @\"a::k\"(ptr noundef %o, ptr addrspace(4) noundef byref([12 x i8]) align 4 %by, i64 %n) #1 !dbg !7 {\nstart:\n  %amdinst.structure.1 = addrspacecast ptr addrspace(4) %by to ptr\n  %by1 = load i32, ptr %amdinst.structure.1, align 4\n  ret void\n}\n!7 = distinct !DISubprogram(name: \"k\", linkageName: \"a::k\")\n"
        );
    }

    #[test]
    fn values_without_names_keep_their_numbers() {
        let all = [entry("k_1_", "k", "k", &[None, Some((12, 4))])];
        let ir = "define void @k_1_(ptr noundef %0, ptr %1) {\n  %3 = load i32, ptr %1\n  store i32 %3, ptr %10\n  ret void, !dbg !1\n}\n";
        assert_eq!(
            rewrite(ir, &all, &["k".to_owned()]).unwrap(),
            "define void @\"k\"(ptr noundef %0, ptr addrspace(4) noundef byref([12 x i8]) align 4 %1) {\n  %amdinst.structure.1 = addrspacecast ptr addrspace(4) %1 to ptr\n  %3 = load i32, ptr %amdinst.structure.1\n  store i32 %3, ptr %10\n  ret void, !dbg !1\n}\n"
        );
    }

    #[test]
    fn an_entry_of_another_version_is_an_error() {
        let two = [entry("k_1_", "k", "k", &[None, Some((12, 4))])];
        for ir in [
            "define void @k_1_(ptr %0) {\n  ret void\n}\n",
            "define void @k_1_(ptr %0, i32 %1) {\n  ret void\n}\n",
            "",
        ] {
            let error = rewrite(ir, &two, &["k".to_owned()]).unwrap_err();
            assert!(matches!(error, LinkError::Entry { .. }), "{error}");
        }
    }
}
