//! `#[test]` for kernel tests.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Error, Expr, ExprLit, ItemFn, Lit, Meta, MetaNameValue};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    if !arguments.is_empty() {
        return Err(Error::new_spanned(arguments, "this #[test] takes no arguments"));
    }
    let mut function: ItemFn =
        syn::parse2(item.clone()).map_err(|_| Error::new_spanned(item, "#[test] stands on a function"))?;
    let signature = &function.sig;
    if let Some(token) = &signature.asyncness {
        return Err(Error::new_spanned(token, "a kernel test cannot be `async`"));
    }
    if !signature.generics.params.is_empty() {
        return Err(Error::new_spanned(&signature.generics, "a kernel test cannot be generic"));
    }
    if signature.inputs.len() != 1 {
        return Err(Error::new_spanned(
            signature,
            "a kernel test takes the device it runs on: `fn name(device: &Device)`",
        ));
    }

    let mut ignored = quote!(::core::option::Option::None);
    if let Some(index) = function.attrs.iter().position(|attribute| attribute.path().is_ident("ignore")) {
        let reason = ignore_reason(&function.attrs.remove(index))?;
        ignored = quote!(::core::option::Option::Some(#reason));
    }
    if let Some(attribute) = function.attrs.iter().find(|attribute| attribute.path().is_ident("should_panic"))
    {
        return Err(Error::new_spanned(
            attribute,
            "a kernel test asserts on the launch's error instead: `launch(…).unwrap_err()`",
        ));
    }
    let name = &function.sig.ident;
    let name_text = name.to_string();
    Ok(quote! {
        #function

        ::harness::inventory::submit! {
            ::harness::TestCase {
                name: #name_text,
                module: ::core::module_path!(),
                file: ::core::file!(),
                line: ::core::line!(),
                ignored: #ignored,
                run: |device| ::harness::IntoTestResult::into_test_result(#name(device)),
            }
        }
    })
}

/// The text of `#[ignore = "text"]`; empty for `#[ignore]`.
fn ignore_reason(attribute: &Attribute) -> syn::Result<String> {
    match &attribute.meta {
        Meta::Path(_) => Ok(String::new()),
        Meta::NameValue(MetaNameValue { value: Expr::Lit(ExprLit { lit: Lit::Str(text), .. }), .. }) => {
            Ok(text.value())
        }
        other => Err(Error::new_spanned(other, "write #[ignore] or #[ignore = \"why\"]")),
    }
}
