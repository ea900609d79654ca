//! `#[probe]`: found, checked and taken out of a function.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Block, Error, Expr, ImplItemFn, Item, LitStr, Meta, Path, parse_quote};

use crate::location::Location;
use crate::record::{Kind, Probe, device_section, outline_section};

/// `#[probe]` as the attribute of a device function.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let not_a_function = "#[probe] stands on a function, or inside one that carries #[kernel] or #[probe] on an `if`, \
                          `match`, `while`, `for` or `loop`";
    // An associated function's grammar contains a free function's.
    let mut function: ImplItemFn =
        syn::parse2(item.clone()).map_err(|_| Error::new(first_token_span(&item), not_a_function))?;

    if function.attrs.iter().any(is_kernel) {
        // The kernel's attribute collects all probes of its function, this one too.
        let this: Attribute =
            if arguments.is_empty() { parse_quote!(#[probe]) } else { parse_quote!(#[probe(#arguments)]) };
        function.attrs.push(this);
        return Ok(function.into_token_stream());
    }

    let location = Location::of_function(&function.vis, &function.sig, &function.block);
    let mut probes = vec![Probe { name: name_from_arguments(arguments)?, kind: Kind::Function, location }];
    take_inner(&mut function.block, &mut probes)?;
    let mut sections = device_section(&probes, &function.sig.ident);
    if is_never_inlined(&function.attrs) {
        sections.extend(outline_section(&function));
    }
    insert_first(&mut function.block, sections);
    Ok(function.into_token_stream())
}

/// Takes a `#[probe]` out of a kernel's own attributes.
pub(crate) fn take_outer(attributes: &mut Vec<Attribute>, location: &Location) -> syn::Result<Vec<Probe>> {
    let mut probes = Vec::new();
    if let Some((name, span)) = take(attributes)? {
        probes.push(Probe { name, kind: Kind::Kernel, location: location.clone() });
        if attributes.iter().any(is_probe) {
            return Err(Error::new(span, "more than one #[probe] on one function"));
        }
    }
    Ok(probes)
}

/// Takes every `#[probe]` out of a function's body and appends it to `probes`.
pub(crate) fn take_inner(block: &mut Block, probes: &mut Vec<Probe>) -> syn::Result<()> {
    let mut collector = Collector { probes, path: None, error: None };
    collector.visit_block_mut(block);
    if let Some(error) = collector.error {
        return Err(error);
    }
    if let Some(path) = collector.path {
        // The compiler never sees the attributes taken out, and would call their import unused.
        insert_first(block, quote!(#[allow(unused_imports)] use #path as _;));
    }
    Ok(())
}

/// Puts `tokens`, an item or nothing, at the head of `block`.
pub(crate) fn insert_first(block: &mut Block, tokens: TokenStream) {
    if !tokens.is_empty() {
        block.stmts.insert(0, syn::Stmt::Item(Item::Verbatim(tokens)));
    }
}

struct Collector<'a> {
    probes: &'a mut Vec<Probe>,
    /// How the source names the attribute, where it stands first.
    path: Option<Path>,
    error: Option<Error>,
}

impl Collector<'_> {
    fn report(&mut self, error: Error) {
        match &mut self.error {
            Some(first) => first.combine(error),
            None => self.error = Some(error),
        }
    }

    fn add(&mut self, kind: Kind, name: String, span: Span, location: Location) {
        if !name.is_empty() && self.probes.iter().any(|probe| probe.name == name) {
            self.report(Error::new(span, format!("this function already has a probe named \"{name}\"")));
            return;
        }
        self.probes.push(Probe { name, kind, location });
    }
}

impl VisitMut for Collector<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Some((kind, attributes)) = branch(expr) {
            if let Some(attribute) = attributes.iter().find(|attribute| is_probe(attribute)) {
                self.path.get_or_insert_with(|| attribute.path().clone());
            }
            match take(attributes) {
                Ok(Some((name, span))) => {
                    let location = Location::of(expr);
                    self.add(kind, name, span, location);
                }
                Ok(None) => {}
                Err(error) => self.report(error),
            }
        }
        visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_attribute_mut(&mut self, attribute: &mut Attribute) {
        if is_probe(attribute) {
            self.report(Error::new_spanned(
                attribute,
                "#[probe] stands on an `if`, `match`, `while`, `for` or `loop`; this is none of them",
            ));
        }
    }

    fn visit_item_mut(&mut self, _nested: &mut Item) {
        // Its own #[probe] is expanded after this one.
    }
}

/// The kind and the attributes of an expression that branches.
fn branch(expr: &mut Expr) -> Option<(Kind, &mut Vec<Attribute>)> {
    Some(match expr {
        Expr::If(expr) => (Kind::If, &mut expr.attrs),
        Expr::Match(expr) => (Kind::Match, &mut expr.attrs),
        Expr::While(expr) => (Kind::While, &mut expr.attrs),
        Expr::ForLoop(expr) => (Kind::For, &mut expr.attrs),
        Expr::Loop(expr) => (Kind::Loop, &mut expr.attrs),
        _ => return None,
    })
}

/// Removes the first `#[probe]` and gives its name and span.
fn take(attributes: &mut Vec<Attribute>) -> syn::Result<Option<(String, Span)>> {
    let Some(index) = attributes.iter().position(is_probe) else { return Ok(None) };
    let attribute = attributes.remove(index);
    let span = attribute.path().segments.last().map_or_else(Span::call_site, |segment| segment.ident.span());
    let name = match attribute.meta {
        Meta::Path(_) => String::new(),
        Meta::List(list) => name_from_arguments(list.tokens)?,
        Meta::NameValue(pair) => return Err(Error::new_spanned(pair, NOT_A_STRING)),
    };
    Ok(Some((name, span)))
}

const NOT_A_STRING: &str = "a probe's name is one string: #[probe(\"tail\")]";

fn name_from_arguments(arguments: TokenStream) -> syn::Result<String> {
    if arguments.is_empty() {
        return Ok(String::new());
    }
    let literal: LitStr =
        syn::parse2(arguments.clone()).map_err(|_| Error::new_spanned(&arguments, NOT_A_STRING))?;
    let name = literal.value();
    if name.is_empty() {
        return Err(Error::new_spanned(
            literal,
            "a probe's name is not empty; write #[probe] for one without",
        ));
    }
    if name.chars().any(char::is_control) {
        return Err(Error::new_spanned(literal, "a probe's name has no control characters"));
    }
    Ok(name)
}

fn is_probe(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|segment| segment.ident == "probe")
}

fn is_kernel(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|segment| segment.ident == "kernel")
}

/// Whether the function says `#[inline(never)]`.
fn is_never_inlined(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("inline")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|argument| argument == "never")
    })
}

fn first_token_span(tokens: &TokenStream) -> Span {
    tokens.clone().into_iter().next().map_or_else(Span::call_site, |tree| tree.span())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(block: &mut Block) -> syn::Result<Vec<(String, Kind)>> {
        let mut probes = Vec::new();
        take_inner(block, &mut probes)?;
        Ok(probes.into_iter().map(|probe| (probe.name, probe.kind)).collect())
    }

    #[test]
    fn every_kind_of_branch_is_found_and_stripped() {
        let mut block: Block = parse_quote!({
            #[probe("a")]
            if x {
                #[probe]
                loop {}
            }
            let y = #[probe("m")]
            match x {
                _ => 1,
            };
            #[probe("w")]
            while x {
                #[amdinst_device::probe("f")]
                for i in 0..3 {}
            }
        });
        let found = collect(&mut block).unwrap();
        let expected =
            [("a", Kind::If), ("", Kind::Loop), ("m", Kind::Match), ("w", Kind::While), ("f", Kind::For)];
        assert_eq!(found, expected.map(|(name, kind)| (name.to_owned(), kind)));
        // What is left is the import that keeps theirs in use.
        let text = quote!(#block).to_string();
        assert_eq!(text.matches("probe").count(), 1, "{text}");
        assert!(text.contains("use probe as _ ;"), "{text}");
    }

    #[test]
    fn a_probe_on_something_else_is_refused() {
        for mut block in [
            parse_quote!({
                #[probe]
                x = 1;
            }),
            parse_quote!({
                #[probe("x")]
                let y = 2;
            }),
        ] {
            assert!(collect(&mut block).unwrap_err().to_string().contains("none of them"));
        }
    }

    #[test]
    fn nested_items_keep_their_probes() {
        let mut block: Block = parse_quote!({
            #[probe]
            fn inner() {
                #[probe]
                if true {}
            }
        });
        assert_eq!(collect(&mut block).unwrap(), []);
        assert_eq!(quote!(#block).to_string().matches("probe").count(), 2);
    }
}
