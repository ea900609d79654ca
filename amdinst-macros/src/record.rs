//! What a probe leaves behind: a line in the section `.amdinst.probes` and an entry in the host's kernel handle.
//!
//! A line is tab-separated and ends in a newline:
//! `1 name kind file line column end_line end_column function`. The leading 1 is the format's version; `name` is empty
//! for a probe without one; `function` is the path of the function around it. Sections of several crates are
//! concatenated by the linker, in no particular order.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use crate::location::Location;

/// What a probe stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Function,
    If,
    Match,
    While,
    For,
    Loop,
}

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::If => "if",
            Self::Match => "match",
            Self::While => "while",
            Self::For => "for",
            Self::Loop => "loop",
        }
    }
}

/// One probe.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    /// Empty if it has none.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) location: Location,
}

/// The statement that puts `probes` of `function` into the code object; nothing on the host.
///
/// It stands inside the function's body, where an item may be put whether the function is free or a method.
pub(crate) fn device_section(probes: &[Probe], function: &Ident) -> TokenStream {
    if probes.is_empty() {
        return TokenStream::new();
    }
    let mut pieces = Vec::new();
    for probe in probes {
        let Location { file, line, column, end_line, end_column } = &probe.location;
        let file = file.replace(['\t', '\n'], " ");
        let head = format!(
            "1\t{}\t{}\t{file}\t{line}\t{column}\t{end_line}\t{end_column}\t",
            probe.name,
            probe.kind.name()
        );
        let tail = format!("::{function}\n");
        pieces.push(quote!(#head, ::core::module_path!(), #tail));
    }
    quote! {
        #[cfg(target_arch = "amdgpu")]
        const _: () = {
            const LINES: &::core::primitive::str = ::core::concat!(#(#pieces),*);
            #[used]
            #[unsafe(link_section = ".amdinst.probes")]
            static PROBES: [::core::primitive::u8; LINES.len()] = ::amdinst_device::__private::bytes(LINES);
        };
    }
}

/// The expression `&'static [amdinst_device::Probe]` for the host's handle.
pub(crate) fn host_table(probes: &[Probe]) -> TokenStream {
    let entries = probes.iter().map(|probe| {
        let name = &probe.name;
        let kind = probe.kind.name();
        let Location { file, line, column, end_line, end_column } = &probe.location;
        let [line, column, end_line, end_column] =
            [line, column, end_line, end_column].map(|&n| u32::try_from(n).unwrap_or(u32::MAX));
        quote! {
            ::amdinst_device::Probe {
                name: #name,
                kind: #kind,
                file: #file,
                line: #line,
                column: #column,
                end_line: #end_line,
                end_column: #end_column,
            }
        }
    });
    quote!(&[#(#entries),*])
}
