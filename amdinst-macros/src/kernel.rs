//! `#[kernel]`: the checks, and what a kernel becomes on the device and on the host.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Error, FnArg, ItemFn, Pat, ReturnType, Safety, Signature, Type};

use crate::features;
use crate::location::Location;
use crate::probe::{error_on_else_if, insert_first, take_inner, take_outer};
use crate::record::{device_section, host_table};

/// `KernelArgs` is implemented for tuples up to this long.
const MOST_PARAMETERS: usize = 16;

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    if !arguments.is_empty() {
        return Err(Error::new_spanned(arguments, "#[kernel] takes no arguments"));
    }
    let mut function: ItemFn = syn::parse2(item.clone()).map_err(|_| {
        error_on_else_if(&item).unwrap_or_else(|| Error::new_spanned(item, "#[kernel] stands on a function"))
    })?;
    let location = Location::of_function(&function.vis, &function.sig, &function.block);
    let parameters = check(&function)?;

    let mut probes = take_outer(&mut function.attrs, &location)?;
    take_inner(&mut function.block, &mut probes)?;

    // Points the compiler's complaint at the parameter's type, once on either side.
    let assertions: TokenStream = parameters
        .iter()
        .map(|ty| quote_spanned!(ty.span()=> ::amdinst_device::__private::assert_kernel_arg::<#ty>();))
        .collect();
    let check_parameters = quote!(const _: fn() = || { #assertions };);

    let name = &function.sig.ident;
    let vis = &function.vis;
    let (for_handle, for_function): (Vec<Attribute>, Vec<Attribute>) =
        function.attrs.iter().cloned().partition(belongs_to_handle);

    let section = device_section(&probes, name);
    let mut device_block = function.block.clone();
    insert_first(&mut device_block, section);
    let mut device_signature = function.sig.clone();
    device_signature.abi = Some(syn::parse_quote!(extern "gpu-kernel"));

    let table = host_table(&probes);
    let host_signature = &function.sig;
    let host_block = &function.block;
    let name_text = name.to_string();
    let features = match features::active(std::env::args()) {
        Some(names) => quote!(::core::option::Option::Some(#names)),
        None => quote!(::core::option::Option::None),
    };
    let (line, column) = (location.line as u32, location.column as u32);

    Ok(quote! {
        #[cfg(target_arch = "amdgpu")]
        #(#for_handle)*
        #(#for_function)*
        #[unsafe(no_mangle)]
        #vis #device_signature #device_block

        #[cfg(not(target_arch = "amdgpu"))]
        #(#for_handle)*
        #[allow(non_upper_case_globals)]
        #vis static #name: ::amdinst_device::Kernel<(#(#parameters,)*)> = ::amdinst_device::__private::kernel(
            #name_text,
            ::core::env!("CARGO_PKG_NAME"),
            #features,
            ::core::file!(),
            #line,
            #column,
            #table,
        );

        #[cfg(not(target_arch = "amdgpu"))]
        const _: () = {
            #(#for_function)*
            #[allow(dead_code, clippy::too_many_arguments)]
            #host_signature #host_block
        };

        #check_parameters
    })
}

/// Documentation and the like are the handle's on the host; lint levels and hints stay with the code.
fn belongs_to_handle(attribute: &Attribute) -> bool {
    ["doc", "cfg", "deprecated"].iter().any(|name| attribute.path().is_ident(name))
}

/// The parameters' types, if the signature is a kernel's.
fn check(function: &ItemFn) -> syn::Result<Vec<Type>> {
    let mut errors = Errors::default();
    let Signature { constness, asyncness, safety, abi, generics, inputs, variadic, output, .. } =
        &function.sig;

    if let Some(token) = asyncness {
        errors.push(Error::new_spanned(token, "a kernel cannot be `async`"));
    }
    if let Some(token) = constness {
        errors.push(Error::new_spanned(token, "a kernel cannot be `const`"));
    }
    if let Some(abi) = abi {
        errors.push(Error::new_spanned(abi, "#[kernel] sets the ABI itself; remove this"));
    }
    if !generics.params.is_empty() || generics.where_clause.is_some() {
        errors.push(Error::new_spanned(
            generics,
            "a kernel cannot be generic: its entry point has one symbol; write one kernel a type that calls a generic \
             function",
        ));
    }
    if let Some(variadic) = variadic {
        errors.push(Error::new_spanned(variadic, "a kernel has a fixed number of parameters"));
    }
    match output {
        ReturnType::Default => {}
        ReturnType::Type(_, ty) if matches!(&**ty, Type::Tuple(tuple) if tuple.elems.is_empty()) => {}
        ReturnType::Type(..) => errors.push(Error::new_spanned(
            output,
            "a kernel returns nothing: write results through a pointer parameter",
        )),
    }
    for attribute in &function.attrs {
        if ["no_mangle", "export_name", "unsafe"].iter().any(|name| attribute.path().is_ident(name)) {
            errors
                .push(Error::new_spanned(attribute, "a kernel's symbol is its name; remove this attribute"));
        }
    }

    let mut types = Vec::new();
    for input in inputs {
        match input {
            FnArg::Receiver(receiver) => errors.push(Error::new_spanned(
                receiver,
                "a kernel is a free function; it has no `self` parameter",
            )),
            FnArg::Typed(typed) => {
                if !matches!(&*typed.pat, Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none())
                    && !matches!(&*typed.pat, Pat::Wild(_))
                {
                    errors.push(Error::new_spanned(&typed.pat, "a kernel's parameter is a plain name"));
                }
                check_type(&typed.ty, matches!(safety, Safety::Unsafe(_)), &mut errors);
                types.push((*typed.ty).clone());
            }
        }
    }
    if types.len() > MOST_PARAMETERS {
        errors.push(Error::new_spanned(
            inputs,
            format!("a kernel has at most {MOST_PARAMETERS} parameters; put the rest in a buffer"),
        ));
    }
    errors.finish().map(|()| types)
}

fn check_type(ty: &Type, is_unsafe: bool, errors: &mut Errors) {
    match ty {
        Type::Reference(reference) => {
            let pointer = match (&*reference.elem, reference.mutability) {
                (Type::Slice(slice), mutability) => {
                    let element = &slice.elem;
                    let kind = if mutability.is_some() { "mut" } else { "const" };
                    format!("`*{kind} {}` and a length", quote!(#element))
                }
                (Type::Path(path), _) if path.path.is_ident("str") => "`*const u8` and a length".to_owned(),
                (element, Some(_)) => format!("`*mut {}`", quote!(#element)),
                (element, None) => format!("`*const {}`", quote!(#element)),
            };
            errors.push(Error::new_spanned(
                reference,
                format!(
                    "a kernel cannot take a reference: the launcher passes device addresses that every work-item \
                     shares; take {pointer}"
                ),
            ));
        }
        Type::Slice(_) | Type::Array(_) | Type::Tuple(_) => errors.push(Error::new_spanned(
            ty,
            "a kernel's parameters are scalars and raw pointers; put this in a buffer and take a pointer to it",
        )),
        Type::ImplTrait(_) => errors.push(Error::new_spanned(ty, "a kernel cannot be generic: name the type")),
        Type::Ptr(_) if !is_unsafe => errors.push(Error::new_spanned(
            ty,
            "a kernel that takes a pointer is an `unsafe fn`: whoever launches it vouches for the pointer",
        )),
        // Whether a named type is a scalar, only the compiler can tell: `KernelArg`.
        _ => {}
    }
}

/// Errors of one function, shown together.
#[derive(Default)]
struct Errors(Option<Error>);

impl Errors {
    fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            None => self.0 = Some(error),
        }
    }

    fn finish(self) -> syn::Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}
