//! What a probe leaves behind: a line in the section `.amdinst.probes` and an entry in the host's kernel
//! handle.
//!
//! A line is tab-separated and ends in a newline:
//! `1 name kind file line column end_line end_column function`. The leading 1 is the format's version; `name`
//! is empty for a probe without one; `function` is the path of the function around it. A probe whose
//! divergence is meant has the version 2 and one more field, `expect`. Sections of several crates are
//! concatenated by the linker, in no particular order.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use crate::location::Location;
use crate::symbol::unique_symbol;

/// What a probe stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Kernel,
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
            Self::Kernel => "kernel",
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
    /// Divergence there is meant.
    pub(crate) expect: bool,
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
            "{}\t{}\t{}\t{file}\t{line}\t{column}\t{end_line}\t{end_column}\t",
            if probe.expect { 2 } else { 1 },
            probe.name,
            probe.kind.name()
        );
        let tail = format!("::{function}{}\n", if probe.expect { "\texpect" } else { "" });
        pieces.push(quote!(#head, ::core::module_path!(), #tail));
    }
    // Exported so that it lasts until the link step reads it: what `#[used]` makes on this target is no valid
    // IR.
    let symbol = unique_symbol("probes", function);
    quote! {
        #[cfg(target_arch = "amdgpu")]
        const _: () = {
            const LINES: &::core::primitive::str = ::core::concat!(#(#pieces),*);
            #[unsafe(export_name = #symbol)]
            #[unsafe(link_section = ".amdinst.probes")]
            static PROBES: [::core::primitive::u8; LINES.len()] = ::amdinst_device::__private::bytes(LINES);
        };
    }
}

/// The statement that tells the link step not to inline `function`: rustc drops `#[inline(never)]` on this
/// target.
///
/// The section `.amdinst.outline` has one line a function: its name, a tab, and the line that its debug
/// information says it is on.
pub(crate) fn outline_section(function: &syn::ImplItemFn) -> TokenStream {
    let name = &function.sig.ident;
    let line = Location::of_function(&function.vis, &function.sig, &function.block).line;
    let text = format!("{name}\t{line}\n");
    let symbol = unique_symbol("outline", name);
    quote! {
        #[cfg(target_arch = "amdgpu")]
        const _: () = {
            const LINE: &::core::primitive::str = #text;
            #[unsafe(export_name = #symbol)]
            #[unsafe(link_section = ".amdinst.outline")]
            static OUTLINE: [::core::primitive::u8; LINE.len()] = ::amdinst_device::__private::bytes(LINE);
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
