//! `#[probe]`: found, checked and taken out of a function.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Block, Error, Expr, ImplItemFn, Item, ItemFn, LitStr, Meta, Path, Stmt, TraitItemFn,
    parse_quote,
};

use crate::location::Location;
use crate::record::{Kind, Probe, device_section, outline_section};

/// `#[probe]` as an attribute that the compiler expands: on a device function, or where it cannot stand.
///
/// An item that cannot carry it stays, without its probes, so that whoever uses the item gets no further
/// errors.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    // An associated function's grammar contains a free function's.
    let expanded = match syn::parse2::<ImplItemFn>(item.clone()) {
        Ok(function) => expand_function(arguments, function),
        Err(_) => Err(misplaced(&item)),
    };
    expanded.unwrap_or_else(|error| {
        let mut tokens = error.into_compile_error();
        // An expression cannot stand behind another one.
        if is_item(&item) {
            let item = without_probes(item);
            tokens.extend(quote!(#[allow(warnings)] #item));
        }
        tokens
    })
}

/// Why `#[probe]` cannot stand on `item`, and where it can.
fn misplaced(item: &TokenStream) -> Error {
    if let Some(attribute) = on_else_if(item.clone()) {
        return Error::new_spanned(attribute, ON_ELSE_IF);
    }
    let message = if syn::parse2::<TraitItemFn>(item.clone()).is_ok() {
        "#[probe] stands on a function with a body: put it on the `fn` of the trait's implementation"
    } else if syn::parse2::<Item>(item.clone()).is_ok_and(|item| matches!(item, Item::Impl(_))) {
        "#[probe] stands on a function: put it on each `fn` of this `impl` that it is meant for"
    } else if syn::parse2::<Stmt>(item.clone()).is_ok_and(|mut statement| is_branch(&mut statement)) {
        UNMARKED
    } else {
        "#[probe] stands on a function, or inside one that carries #[kernel] or #[probe] on an `if`, `match`, `while`, `for` or \
         `loop`"
    };
    Error::new(first_token_span(item), message)
}

const UNMARKED: &str = "#[probe] on a branch needs #[kernel] or #[probe] on the function around it: write #[probe] above its `fn`";
const NOT_A_BRANCH: &str =
    "#[probe] stands on an `if`, `match`, `while`, `for` or `loop`; this is none of them";
const ON_ELSE_IF: &str =
    "#[probe] cannot stand on an `else if`: put it on the first `if`, or write `else { #[probe] if … }`";

/// Whether a statement without its attributes is one that branches.
fn is_branch(statement: &mut Stmt) -> bool {
    let Stmt::Expr(expr, _) = statement else { return false };
    branch(expr).is_some()
}

/// Whether `tokens` are an item, in a module or elsewhere; else they are a statement or an expression.
fn is_item(tokens: &TokenStream) -> bool {
    // A macro's call could be either.
    let item = syn::parse2::<Item>(tokens.clone());
    item.is_ok_and(|item| !matches!(item, Item::Macro(_) | Item::Verbatim(_)))
        || syn::parse2::<TraitItemFn>(tokens.clone()).is_ok()
        || syn::parse2::<ImplItemFn>(tokens.clone()).is_ok()
}

/// The first `#[probe]` between `else` and `if`, which is no Rust and so comes here only as tokens.
pub(crate) fn on_else_if(tokens: TokenStream) -> Option<TokenStream> {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(word) if word == "else" => {
                let Some(hash @ TokenTree::Punct(_)) = tokens.peek().cloned() else { continue };
                tokens.next();
                if let Some(TokenTree::Group(group)) = tokens.peek()
                    && names_probe(group)
                {
                    return Some([hash, TokenTree::Group(group.clone())].into_iter().collect());
                }
            }
            TokenTree::Group(group) => {
                if let Some(found) = on_else_if(group.stream()) {
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    None
}

/// The error for a `#[probe]` on an `else if` of `item`, if there is one.
pub(crate) fn error_on_else_if(item: &TokenStream) -> Option<Error> {
    on_else_if(item.clone()).map(|attribute| Error::new_spanned(attribute, ON_ELSE_IF))
}

/// Whether the brackets of an attribute hold `probe`, however it is called.
fn names_probe(brackets: &Group) -> bool {
    syn::parse2::<Meta>(brackets.stream())
        .is_ok_and(|meta| meta.path().segments.last().is_some_and(|segment| segment.ident == "probe"))
}

/// `tokens` without every `#[probe]` in them.
fn without_probes(tokens: TokenStream) -> TokenStream {
    let mut kept = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match (&token, tokens.peek()) {
            (TokenTree::Punct(hash), Some(TokenTree::Group(group)))
                if hash.as_char() == '#' && names_probe(group) =>
            {
                tokens.next();
            }
            (TokenTree::Group(group), _) => {
                let mut inner = Group::new(group.delimiter(), without_probes(group.stream()));
                inner.set_span(group.span());
                kept.push(TokenTree::Group(inner));
            }
            _ => kept.push(token),
        }
    }
    kept.into_iter().collect()
}

fn expand_function(arguments: TokenStream, mut function: ImplItemFn) -> syn::Result<TokenStream> {
    if function.attrs.iter().any(is_kernel) {
        // The kernel's attribute collects all probes of its function, this one too.
        let this: Attribute =
            if arguments.is_empty() { parse_quote!(#[probe]) } else { parse_quote!(#[probe(#arguments)]) };
        function.attrs.push(this);
        return Ok(function.into_token_stream());
    }

    let location = Location::of_function(&function.vis, &function.sig, &function.block);
    let Arguments { name, expect } = Arguments::parse(arguments)?;
    let mut probes = vec![Probe { name, kind: Kind::Function, location, expect }];
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
    if let Some((Arguments { name, expect }, span)) = take(attributes)? {
        probes.push(Probe { name, kind: Kind::Kernel, location: location.clone(), expect });
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
        block.stmts.insert(0, Stmt::Item(Item::Verbatim(tokens)));
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

    fn add(&mut self, kind: Kind, arguments: Arguments, span: Span, location: Location) {
        let Arguments { name, expect } = arguments;
        if !name.is_empty() && self.probes.iter().any(|probe| probe.name == name) {
            self.report(Error::new(span, format!("this function already has a probe named \"{name}\"")));
            return;
        }
        self.probes.push(Probe { name, kind, location, expect });
    }
}

impl VisitMut for Collector<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Some((kind, attributes)) = branch(expr) {
            if let Some(attribute) = attributes.iter().find(|attribute| is_probe(attribute)) {
                self.path.get_or_insert_with(|| attribute.path().clone());
            }
            match take(attributes) {
                Ok(Some((arguments, span))) => {
                    let location = Location::of(expr);
                    self.add(kind, arguments, span, location);
                }
                Ok(None) => {}
                Err(error) => self.report(error),
            }
        }
        visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_attribute_mut(&mut self, attribute: &mut Attribute) {
        if is_probe(attribute) {
            self.report(Error::new_spanned(attribute, NOT_A_BRANCH));
        }
    }

    fn visit_item_mut(&mut self, nested: &mut Item) {
        // Probes in functions that carry one are expanded after this one; others the compiler would refuse in
        // words of its own.
        let mut unmarked = Unmarked(None);
        unmarked.visit_item_mut(nested);
        if let Some(error) = unmarked.0 {
            self.report(error);
        }
    }
}

/// Looks for the first `#[probe]` inside a function that carries none.
struct Unmarked(Option<Error>);

impl Unmarked {
    fn is_marked(attributes: &[Attribute]) -> bool {
        attributes.iter().any(|attribute| is_probe(attribute) || is_kernel(attribute))
    }
}

impl VisitMut for Unmarked {
    fn visit_item_fn_mut(&mut self, function: &mut ItemFn) {
        if !Self::is_marked(&function.attrs) {
            self.visit_block_mut(&mut function.block);
        }
    }

    fn visit_impl_item_fn_mut(&mut self, function: &mut ImplItemFn) {
        if !Self::is_marked(&function.attrs) {
            self.visit_block_mut(&mut function.block);
        }
    }

    fn visit_item_mut(&mut self, item: &mut Item) {
        // What stands on the item itself is expanded there.
        match item {
            Item::Fn(function) => self.visit_item_fn_mut(function),
            Item::Impl(block) => block.items.iter_mut().for_each(|item| self.visit_impl_item_mut(item)),
            _ => {}
        }
    }

    fn visit_attribute_mut(&mut self, attribute: &mut Attribute) {
        if is_probe(attribute) && self.0.is_none() {
            self.0 = Some(Error::new_spanned(attribute, UNMARKED));
        }
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

/// Removes the first `#[probe]` and gives what it says, and its span.
fn take(attributes: &mut Vec<Attribute>) -> syn::Result<Option<(Arguments, Span)>> {
    let Some(index) = attributes.iter().position(is_probe) else { return Ok(None) };
    let attribute = attributes.remove(index);
    let span = attribute.path().segments.last().map_or_else(Span::call_site, |segment| segment.ident.span());
    let arguments = match attribute.meta {
        Meta::Path(_) => Arguments::default(),
        Meta::List(list) => Arguments::parse(list.tokens)?,
        Meta::NameValue(pair) => return Err(Error::new_spanned(pair, NOT_A_STRING)),
    };
    Ok(Some((arguments, span)))
}

const NOT_A_STRING: &str = "a probe's name is one string: #[probe(\"tail\")]; behind it, or alone, may stand `expect`: divergence there is meant";

/// What stands in the parentheses of a `#[probe]`: nothing, a name, `expect`, or a name and `expect`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Arguments {
    /// Empty if it has none.
    name: String,
    /// Divergence there is meant.
    expect: bool,
}

impl Arguments {
    fn parse(tokens: TokenStream) -> syn::Result<Self> {
        let parts = |input: syn::parse::ParseStream<'_>| {
            let literal = input.peek(LitStr).then(|| input.parse::<LitStr>()).transpose()?;
            if literal.is_some() && !input.is_empty() {
                input.parse::<syn::Token![,]>()?;
            }
            let word = if input.is_empty() { None } else { Some(input.parse::<syn::Ident>()?) };
            if word.is_some() && !input.is_empty() {
                input.parse::<syn::Token![,]>()?;
            }
            let is_all = input.is_empty() && word.as_ref().is_none_or(|word| word == "expect");
            is_all.then_some((literal, word)).ok_or_else(|| input.error(NOT_A_STRING))
        };
        let parsed = syn::parse::Parser::parse2(parts, tokens.clone());
        let (literal, word) = parsed.map_err(|_| Error::new_spanned(&tokens, NOT_A_STRING))?;
        let name = literal.map(checked_name).transpose()?.unwrap_or_default();
        Ok(Self { name, expect: word.is_some() })
    }
}

fn checked_name(literal: LitStr) -> syn::Result<String> {
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
    fn what_stands_in_the_parentheses() {
        let parse = |text: &str| Arguments::parse(text.parse().unwrap());
        for (text, name, expect) in [
            ("", "", false),
            ("\"tail\"", "tail", false),
            ("\"tail\",", "tail", false),
            ("expect", "", true),
            ("\"leader\", expect", "leader", true),
            ("\"leader\", expect,", "leader", true),
        ] {
            assert_eq!(parse(text).unwrap(), Arguments { name: name.to_owned(), expect }, "{text}");
        }
        for text in [
            "tail",
            "1",
            "expect, \"leader\"",
            "\"a\" expect",
            "\"a\", \"b\"",
            "\"a\", expected",
            "expect = true",
            ",",
        ] {
            assert!(parse(text).unwrap_err().to_string().contains("divergence there is meant"), "{text}");
        }
        assert!(parse("\"\", expect").unwrap_err().to_string().contains("is not empty"));
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
