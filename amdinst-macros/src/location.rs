//! Where a piece of syntax stands in its source file.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Block, Signature, Visibility};

/// The source range of a syntax node. Lines and columns count from 1, as DWARF line tables do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    /// The file as the compiler spells it: relative to the directory that cargo starts it in.
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) end_line: usize,
    /// One past the last character.
    pub(crate) end_column: usize,
}

impl Location {
    /// The range from the first to the last token of `node`.
    ///
    /// `Span::join` works on nightly only, so both ends are looked up in the tokens.
    pub(crate) fn of(node: &impl ToTokens) -> Self {
        Self::of_tokens(node.to_token_stream())
    }

    /// The range of a function from its visibility or its first keyword on. Attributes and documentation are
    /// left out, as the compiler does in debug information.
    pub(crate) fn of_function(vis: &Visibility, signature: &Signature, block: &Block) -> Self {
        Self::of_tokens(quote!(#vis #signature #block))
    }

    fn of_tokens(tokens: TokenStream) -> Self {
        let first = first_span(tokens.clone()).unwrap_or_else(Span::call_site);
        let last = last_span(tokens).unwrap_or(first);
        let (start, end) = (first.start(), last.end());
        Self {
            file: first.file(),
            line: start.line,
            column: start.column + 1,
            end_line: end.line,
            end_column: end.column + 1,
        }
    }
}

fn first_span(tokens: TokenStream) -> Option<Span> {
    tokens.into_iter().next().and_then(|tree| match tree {
        // A group without delimiters is what a `macro_rules` fragment leaves; its own span is the macro's.
        TokenTree::Group(group) if group.delimiter() == proc_macro2::Delimiter::None => {
            first_span(group.stream())
        }
        TokenTree::Group(group) => Some(group.span_open()),
        other => Some(other.span()),
    })
}

fn last_span(tokens: TokenStream) -> Option<Span> {
    tokens.into_iter().last().and_then(|tree| match tree {
        TokenTree::Group(group) if group.delimiter() == proc_macro2::Delimiter::None => {
            last_span(group.stream())
        }
        TokenTree::Group(group) => Some(group.span_close()),
        other => Some(other.span()),
    })
}
