//! What of a file is compiled for the GPU: the kernels, and what they name. The rest of it, which may use
//! `std` and the harness, is for the host alone.

use std::collections::BTreeSet;
use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned as _;
use syn::{Attribute, File, Ident, Item, Type, UseTree};

/// Crates that the GPU has not.
const OF_HOST: [&str; 2] = ["harness", "std"];

/// What a file has.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DevicePart {
    /// The file, with spaces in the place of what is for the host: everything else stands where it stood.
    pub(super) text: String,
    pub(super) has_kernels: bool,
    /// There is a test of the harness.
    pub(super) has_tests: bool,
}

impl DevicePart {
    /// All of a file, whose parts are not known.
    pub(super) const fn whole(text: String) -> Self {
        Self { text, has_kernels: true, has_tests: true }
    }

    /// Takes a file apart.
    ///
    /// # Errors
    /// A text that is no Rust.
    pub(super) fn of(text: &str) -> Result<Self, syn::Error> {
        let file: File = syn::parse_file(text)?;
        let mut parts = Vec::new();
        gather(&file.items, None, &mut parts);
        let kept = kept(&parts);
        let mut blanked: Vec<char> = text.chars().collect();
        for (number, part) in parts.iter().enumerate().filter(|(number, _)| !kept.contains(number)) {
            // A module of which something is kept stays around it.
            if !kept.iter().any(|&inner| is_within(&parts, inner, number)) {
                blank(&mut blanked, text, part.item.span().byte_range());
            }
        }
        let has_tests = parts.iter().any(|part| has_attribute(attributes(part.item), "test"));
        Ok(Self { text: blanked.into_iter().collect(), has_kernels: !kernels(&parts).is_empty(), has_tests })
    }
}

/// An item, and the module that it stands in, by number.
struct Part<'a> {
    item: &'a Item,
    within: Option<usize>,
}

fn gather<'a>(items: &'a [Item], within: Option<usize>, parts: &mut Vec<Part<'a>>) {
    for item in items {
        let number = parts.len();
        parts.push(Part { item, within });
        if let Item::Mod(module) = item
            && let Some((_, inner)) = &module.content
        {
            gather(inner, Some(number), parts);
        }
    }
}

fn is_within(parts: &[Part<'_>], mut inner: usize, outer: usize) -> bool {
    while let Some(within) = parts[inner].within {
        if within == outer {
            return true;
        }
        inner = within;
    }
    false
}

fn kernels(parts: &[Part<'_>]) -> BTreeSet<usize> {
    let is_kernel = |part: &Part<'_>| has_attribute(attributes(part.item), "kernel");
    parts.iter().enumerate().filter(|(_, part)| is_kernel(part)).map(|(number, _)| number).collect()
}

/// The kernels, the items that they name, and what those name; and the names that both may be by.
fn kept(parts: &[Part<'_>]) -> BTreeSet<usize> {
    let mut kept = kernels(parts);
    let mut named = BTreeSet::new();
    for &number in &kept {
        names(parts[number].item.to_token_stream(), &mut named);
    }
    loop {
        let before = kept.len();
        for (number, part) in parts.iter().enumerate() {
            if !kept.contains(&number) && is_needed(part.item, &named) && is_in_use(parts, number, &kept) {
                kept.insert(number);
                names(part.item.to_token_stream(), &mut named);
            }
        }
        if kept.len() == before {
            return kept;
        }
    }
}

/// Whether the GPU has the module of an item: no tests, and something else there that is kept.
fn is_in_use(parts: &[Part<'_>], number: usize, kept: &BTreeSet<usize>) -> bool {
    let Some(module) = parts[number].within else { return true };
    let others = || kept.iter().filter(|&&other| is_within(parts, other, module));
    let is_import = matches!(parts[number].item, Item::Use(_) | Item::ExternCrate(_));
    let is_of_tests = |module: usize| is_for_tests(parts[module].item);
    let mut modules = std::iter::successors(Some(module), |&module| parts[module].within);
    !modules.any(is_of_tests) && (!is_import || others().next().is_some())
}

/// Whether an item is a test, or there for tests alone.
fn is_for_tests(item: &Item) -> bool {
    let is_cfg = |attribute: &Attribute| {
        let text = attribute.to_token_stream().to_string();
        attribute.path().is_ident("cfg") && text.contains("test") && !text.contains("not")
    };
    let attributes = attributes(item);
    has_attribute(attributes, "test") || attributes.iter().any(is_cfg)
}

/// Whether an item is there for others of these names.
fn is_needed(item: &Item, named: &BTreeSet<String>) -> bool {
    if is_for_tests(item) {
        return false;
    }
    match item {
        Item::Use(item) => !is_of_host(&item.tree),
        Item::ExternCrate(item) => !is_host(&item.ident),
        Item::Impl(item) => last_name(&item.self_ty).is_some_and(|name| named.contains(&name)),
        Item::Macro(item) if item.ident.is_none() => {
            !item.mac.path.segments.first().is_some_and(|first| is_host(&first.ident))
        }
        // What of it is needed keeps it.
        Item::Mod(item) if item.content.is_some() => false,
        Item::Const(item) if item.ident == "_" => true,
        item => name_of(item).is_none_or(|name| named.contains(&name.to_string())),
    }
}

fn name_of(item: &Item) -> Option<&Ident> {
    Some(match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Mod(item) => &item.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::TraitAlias(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    })
}

/// Whether it is the name of a crate that the GPU has not.
fn is_host(name: &Ident) -> bool {
    OF_HOST.iter().any(|host| name == host)
}

fn is_of_host(tree: &UseTree) -> bool {
    match tree {
        UseTree::Path(path) => is_host(&path.ident),
        UseTree::Name(name) => is_host(&name.ident),
        UseTree::Rename(name) => is_host(&name.ident),
        UseTree::Group(group) => group.items.iter().any(is_of_host),
        UseTree::Glob(_) => false,
    }
}

/// `Point` of `shapes::Point<f32>`.
fn last_name(of: &Type) -> Option<String> {
    match of {
        Type::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
        Type::Reference(reference) => last_name(&reference.elem),
        _ => None,
    }
}

fn names(tokens: TokenStream, named: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => _ = named.insert(name.to_string()),
            TokenTree::Group(group) => names(group.stream(), named),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Whether one of them is called so: `#[kernel(…)]`, `#[amdinst_device::kernel]`.
fn has_attribute(attributes: &[Attribute], name: &str) -> bool {
    let is_so =
        |attribute: &Attribute| attribute.path().segments.last().is_some_and(|segment| segment.ident == name);
    attributes.iter().any(is_so)
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Fn(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Const(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        _ => &[],
    }
}

/// Puts a space in the place of each character but the ends of lines.
fn blank(chars: &mut [char], text: &str, bytes: Range<usize>) {
    let first = text[..bytes.start].chars().count();
    let length = text[bytes].chars().count();
    for char in &mut chars[first..first + length] {
        if *char != '\n' {
            *char = ' ';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
use amdinst_device::{PerItem, kernel};
use harness::{Device, TestResult};
use std::collections::BTreeMap;

const FACTOR: f32 = 2.0;
struct Übrig;
struct Scale(f32);
impl Scale { fn of(self, x: f32) -> f32 { x * self.0 } }

/// Doubles.
#[kernel]
fn double(mut values: PerItem<f32>) { for value in values.chunk() { *value = twice(*value); } }
fn twice(x: f32) -> f32 { Scale(FACTOR).of(x) }
fn on_the_host(x: &[f32]) -> Vec<f32> { x.iter().map(|x| twice(*x)).collect() }

mod inner {
    #[amdinst_device::kernel] pub fn other(mut values: super::PerItem<f32>) {}
    pub fn unused() -> String { String::new() }
}
#[cfg(test)]
mod of_tests { use super::*; }
#[harness::test]
fn numbers_are_doubled(device: &Device) -> TestResult { Ok(()) }
";

    #[test]
    fn kernels_stay_with_what_they_name_each_where_it_stood() {
        let part = DevicePart::of(FILE).unwrap();
        assert!(part.has_kernels && part.has_tests);
        assert_eq!(part.text.lines().count(), FILE.lines().count());
        for (line, own) in part.text.lines().zip(FILE.lines()) {
            let is_for_host =
                ["harness", "std::", "Übrig", "on_the_host", "unused", "cfg(test)", "of_tests", "numbers"]
                    .iter()
                    .any(|word| own.contains(word));
            assert_eq!(line.chars().count(), own.chars().count());
            assert_eq!(line.trim(), if is_for_host { "" } else { own.trim() });
        }
    }

    #[test]
    fn a_text_may_have_no_kernel_or_be_no_rust() {
        assert!(DevicePart::of("fn b( {}\n").is_err());
        let part = DevicePart::of("fn main() {}").unwrap();
        assert!(!part.has_kernels && !part.has_tests);
    }
}
