//! `shared!`: variables in the local data share.
//!
//! Rust has no static in LDS. A variable is the address that an undefined function returns; the link step
//! defines that function, and the variable in address space 3 that it returns the address of. What it must
//! know stands in the section `.amdinst.shared`, one record a variable: size and alignment in bytes (two
//! little-endian u32) and the function's symbol, NUL-terminated.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, Ident, StaticMutability, Token, Type, Visibility};

use crate::symbol::unique_symbol;

struct Variables(Vec<Variable>);

struct Variable {
    attributes: Vec<Attribute>,
    vis: Visibility,
    name: Ident,
    ty: Type,
}

impl Parse for Variables {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut variables = Vec::new();
        while !input.is_empty() {
            let attributes = input.call(Attribute::parse_outer)?;
            let vis = input.parse()?;
            input.parse::<Token![static]>()?;
            if let mutability @ StaticMutability::Mut(_) = input.parse()? {
                return Err(Error::new_spanned(
                    mutability,
                    "write `static`: the variable is reached through a raw pointer in any case",
                ));
            }
            let name = input.parse()?;
            input.parse::<Token![:]>()?;
            let ty = input.parse()?;
            if let Ok(equals) = input.parse::<Token![=]>() {
                return Err(Error::new_spanned(
                    equals,
                    "LDS is uninitialized at the start of a kernel; let the work-items write it",
                ));
            }
            input.parse::<Token![;]>()?;
            variables.push(Variable { attributes, vis, name, ty });
        }
        Ok(Self(variables))
    }
}

pub(crate) fn expand(input: TokenStream) -> syn::Result<TokenStream> {
    let Variables(variables) = syn::parse2(input)?;
    Ok(variables.iter().map(expand_one).collect())
}

/// A variable of a parameter.
pub(crate) fn variable(name: &Ident, ty: &Type) -> TokenStream {
    let (attributes, vis) = (Vec::new(), Visibility::Inherited);
    expand_one(&Variable { attributes, vis, name: name.clone(), ty: ty.clone() })
}

fn expand_one(Variable { attributes, vis, name, ty }: &Variable) -> TokenStream {
    let symbol = unique_symbol("lds", name);
    let record = format!("{symbol}_record");
    let backing = format_ident!("__SharedBacking_{}", name);
    // A slice is LDS whose size the launch decides: to the link step, an array without elements.
    let (handle, make, ty) = match ty {
        Type::Slice(slice) => {
            let element = &slice.elem;
            (quote!(DynamicShared<#element, #backing>), quote!(dynamic_shared), quote!([#element; 0]))
        }
        ty => (quote!(Shared<#ty, #backing>), quote!(shared), quote!(#ty)),
    };
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, missing_docs)]
        #vis struct #backing;

        // SAFETY: on the device the link step defines the symbol as a function that returns the address of a
        // variable of the recorded size and alignment; the host's never returns.
        unsafe impl ::amdinst_device::__private::Backing<#ty> for #backing {
            #[cfg(target_arch = "amdgpu")]
            #[inline(always)]
            fn base() -> *mut #ty {
                const SYMBOL: &::core::primitive::str = #symbol;
                #[unsafe(export_name = #record)]
                #[unsafe(link_section = ".amdinst.shared")]
                static RECORD: [::core::primitive::u8; SYMBOL.len() + 9] =
                    ::amdinst_device::__private::shared_record::<#ty, { SYMBOL.len() + 9 }>(SYMBOL);
                unsafe extern "C" {
                    #[link_name = #symbol]
                    safe fn base() -> *mut ::core::primitive::u8;
                }
                base().cast()
            }

            #[cfg(not(target_arch = "amdgpu"))]
            fn base() -> *mut #ty {
                ::amdinst_device::__private::device_only()
            }
        }

        #(#attributes)*
        #vis const #name: ::amdinst_device::#handle = ::amdinst_device::__private::#make();
    }
}
