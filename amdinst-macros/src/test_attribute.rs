//! `#[test]` for kernel tests.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Error, Expr, ExprLit, ItemFn, Lit, Meta, MetaNameValue};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let check = check(arguments)?;
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
                check: #check,
                run: |device| ::harness::IntoTestResult::into_test_result(#name(device)),
            }
        }
    })
}

/// What `check = "races,barriers"` says may be looked for, as an option.
fn check(arguments: TokenStream) -> syn::Result<TokenStream> {
    const EXPECTED: &str = "write #[harness::test] or #[harness::test(check = \"…\")], with `none` or some of `races`, `barriers`, \
         `uninitialised`, `waits`, `nan` and `atomicity`, with commas between: what is looked for in this test";
    if arguments.is_empty() {
        return Ok(quote!(::core::option::Option::None));
    }
    let bad = || Error::new_spanned(&arguments, EXPECTED);
    let given: MetaNameValue = syn::parse2(arguments.clone()).map_err(|_| bad())?;
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &given.value else { return Err(bad()) };
    if !given.path.is_ident("check") {
        return Err(bad());
    }
    let text = text.value();
    // As it was spelled first.
    let text = text.replace("uninitialised", "uninitialized");
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    let (all, none) = (words.contains(&"all"), words == ["none"]);
    // What is a mistake for certain, which `all` means; what may be meant; and how strict it is about races.
    const CERTAIN: [&str; 4] = ["races", "barriers", "uninitialized", "waits"];
    const OTHERS: [&str; 3] = ["nan", "atomicity", "all"];
    if !none && !words.iter().all(|word| CERTAIN.contains(word) || OTHERS.contains(word)) {
        return Err(bad());
    }
    let [races, barriers, uninitialised, waits] = CERTAIN.map(|known| all || words.contains(&known));
    let [nan, atomicity] = ["nan", "atomicity"].map(|known| words.contains(&known));
    let races = races || atomicity;
    Ok(quote! {
        ::core::option::Option::Some(::harness::Checks {
            races: #races,
            barriers: #barriers,
            uninitialised: #uninitialised,
            waits: #waits,
            nan: #nan,
            atomicity: #atomicity,
        })
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
