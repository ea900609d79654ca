//! `#[kernel]`: the checks, and what a kernel becomes on the device and on the host.
//!
//! On the device a kernel is an entry point with a symbol of its own, and a record
//! (`amdinst_device::__private::kernel_record`) from which the link step makes room for structures, and gives
//! the symbol the kernel's name. A generic kernel is a function, and an entry point for each instance, which
//! calls it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Error, FnArg, GenericParam, ItemFn, Lifetime, Meta, Pat, PatType, ReturnType, Safety,
    Signature, Type, TypeReference, parse_quote,
};

use crate::features;
use crate::instances::Instances;
use crate::location::Location;
use crate::probe::{error_on_else_if, insert_first, take_inner, take_outer};
use crate::record::{Probe, device_section, host_table};
use crate::shared;
use crate::symbol::unique_symbol;
use crate::workgroup;

/// `Arguments` of the harness is implemented for tuples up to this long.
const MOST_PARAMETERS: usize = 32;

/// The attribute of a parameter that is an array in LDS.
const SHARED: &str = "shared";

/// Types of such parameters.
const ARRAYS_IN_LDS: [&str; 2] = ["Lds", "Lds2d"];

/// Types that the compiler passes as they are.
const SCALARS: [&str; 13] =
    ["u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize", "f32", "f64", "bool"];

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let mut function: ItemFn = syn::parse2(item.clone()).map_err(|_| {
        error_on_else_if(&item).unwrap_or_else(|| Error::new_spanned(item, "#[kernel] stands on a function"))
    })?;
    let location = Location::of_function(&function.vis, &function.sig, &function.block);
    let parameters = check(&function)?;
    for input in &mut function.sig.inputs {
        if let FnArg::Typed(typed) = input {
            typed.attrs.retain(|attribute| !attribute.path().is_ident(SHARED));
        }
    }
    let (workgroup, arguments) = workgroup::take(arguments)?;
    let instances = Instances::new(arguments, &function.sig)?;

    let mut probes = take_outer(&mut function.attrs, &location)?;
    take_inner(&mut function.block, &mut probes)?;

    let kernel = Kernel { function, parameters, instances, workgroup, probes, location };
    let device = kernel.device();
    let host = kernel.host();
    let checks = kernel.checks();
    Ok(quote!(#device #host #checks))
}

/// A kernel without its probes.
struct Kernel {
    function: ItemFn,
    parameters: Vec<Parameter>,
    instances: Instances,
    /// The most work-items of a workgroup, if that was said.
    workgroup: Option<u32>,
    probes: Vec<Probe>,
    location: Location,
}

/// A parameter as it was written.
struct Parameter {
    /// Its name; `_` has none.
    name: Option<Ident>,
    pat: Pat,
    /// Its type, in which every lifetime is `'static`.
    ty: Type,
    /// It is an array in LDS (`#[shared]`), for which a launch passes nothing.
    is_shared: bool,
}

impl Parameter {
    /// Whether the compiler passes it as it is. What a named type is, only the compiler knows.
    fn is_direct(&self) -> bool {
        match &self.ty {
            Type::Ptr(_) => true,
            Type::Path(path) => SCALARS.iter().any(|name| path.path.is_ident(name)),
            _ => false,
        }
    }

    fn text(&self) -> String {
        self.name.as_ref().map_or_else(|| "_".to_owned(), ToString::to_string)
    }

    /// What the entry point calls it, and what it calls what follows.
    fn wires(&self, index: usize) -> (Ident, Ident) {
        let name = match &self.name {
            Some(name) => name.clone(),
            None => format_ident!("argument{}", index + 1),
        };
        let tail =
            Ident::new(&format!("{}_len", name.to_string().trim_start_matches("r#")), Span::mixed_site());
        (name, tail)
    }
}

impl Kernel {
    fn name(&self) -> &Ident {
        &self.function.sig.ident
    }

    /// Documentation and the like are the handle's on the host; lint levels and hints stay with the code.
    fn attributes(&self) -> (Vec<&Attribute>, Vec<&Attribute>) {
        let belongs_to_handle = |attribute: &&Attribute| {
            ["doc", "cfg", "deprecated"].iter().any(|name| attribute.path().is_ident(name))
        };
        self.function.attrs.iter().partition(belongs_to_handle)
    }

    /// The entry points, and for a generic kernel the function that they call.
    fn device(&self) -> TokenStream {
        let (for_handle, for_function) = self.attributes();
        let mut block = self.function.block.clone();
        insert_first(&mut block, device_section(&self.probes, self.name()));
        let signature = &self.function.sig;
        if self.instances.is_generic() {
            let calls = self.instances.each(|instance| {
                let symbol = self.symbol();
                let declarations = instance.declarations();
                let record = self.record(&symbol, &instance.name(self.name()));
                let (wires, from_wires, arguments) = self.entry(true);
                let name = self.name();
                let generics = instance.arguments();
                let call = match signature.safety {
                    Safety::Unsafe(_) => quote!(unsafe { #name::<#generics>(#(#arguments),*) }),
                    _ => quote!(#name::<#generics>(#(#arguments),*)),
                };
                quote! {
                    #[cfg(target_arch = "amdgpu")]
                    const _: () = {
                        #declarations
                        #[allow(unknown_lints, improper_ctypes_definitions, improper_gpu_kernel_arg, unused_unsafe)]
                        #[allow(clippy::all)]
                        #[unsafe(export_name = #symbol)]
                        unsafe extern "gpu-kernel" fn entry(#(#wires),*) {
                            #record
                            #from_wires
                            #call
                        }
                    };
                }
            });
            return quote! {
                #[cfg(target_arch = "amdgpu")]
                #(#for_handle)*
                #(#for_function)*
                #[inline(always)]
                #[allow(dead_code, clippy::too_many_arguments)]
                #signature #block

                #calls
            };
        }
        let symbol = self.symbol();
        let (wires, from_wires, _) = self.entry(false);
        insert_first(&mut block, quote!(#from_wires));
        insert_first(&mut block, self.record(&symbol, &self.name().to_string()));
        let vis = &self.function.vis;
        let name = self.name();
        let safety = &signature.safety;
        quote! {
            #[cfg(target_arch = "amdgpu")]
            #(#for_handle)*
            #(#for_function)*
            #[allow(unknown_lints, improper_ctypes_definitions, improper_gpu_kernel_arg)]
            #[unsafe(export_name = #symbol)]
            #vis #safety extern "gpu-kernel" fn #name(#(#wires),*) #block
        }
    }

    /// A symbol that begins no other one: the link step puts the kernel's name in its place.
    fn symbol(&self) -> String {
        format!("{}_", unique_symbol("kernel", self.name()))
    }

    /// The parameters for which a launch passes something.
    fn passed(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|parameter| !parameter.is_shared)
    }

    /// The record of an entry point.
    fn record(&self, symbol: &str, name: &str) -> TokenStream {
        // It does not begin with the symbol, either.
        let record = format!("{}record", symbol.trim_end_matches('_'));
        let workgroup = self.workgroup.map(|most| format!("{most}\0")).unwrap_or_default();
        let (symbol, name) = (format!("{symbol}\0"), format!("\0{name}\0{workgroup}"));
        let passed = self.passed().map(|parameter| {
            let ty = &parameter.ty;
            match parameter.is_direct() {
                true => quote!(::amdinst_device::__private::Passed::DIRECTLY),
                false => quote!(::amdinst_device::__private::Passed::of::<#ty>()),
            }
        });
        quote! {
            #[cfg(target_arch = "amdgpu")]
            const _: () = {
                const TEXT: &::core::primitive::str = ::core::concat!(#symbol, ::core::module_path!(), #name);
                const PASSED: &[::amdinst_device::__private::Passed] = &[#(#passed),*];
                const LENGTH: ::core::primitive::usize = ::amdinst_device::__private::kernel_record_length(PASSED, TEXT);
                #[unsafe(export_name = #record)]
                #[unsafe(link_section = ".amdinst.kernels")]
                static RECORD: [::core::primitive::u8; LENGTH] = ::amdinst_device::__private::kernel_record(PASSED, TEXT);
            };
        }
    }

    /// What an entry point takes, what makes the parameters of that, and their names.
    fn entry(&self, is_called: bool) -> (Vec<TokenStream>, TokenStream, Vec<Ident>) {
        let (mut wires, mut from_wires, mut names) = (Vec::new(), TokenStream::new(), Vec::new());
        for (index, parameter) in self.parameters.iter().enumerate() {
            let Parameter { pat, ty, .. } = parameter;
            let (wire, tail) = parameter.wires(index);
            let bound = if is_called { wire.to_token_stream() } else { pat.to_token_stream() };
            if parameter.is_shared {
                let variable = format_ident!("{}", parameter.text().trim_start_matches("r#").to_uppercase());
                let array: Type = parse_quote!(<#ty as ::amdinst_device::__private::SharedParameter>::Array);
                let declared = shared::variable(&variable, &array);
                from_wires.extend(quote! {
                    let #bound = {
                        #declared
                        // SAFETY: a variable of this parameter's own, and a work-item comes here once.
                        unsafe { <#ty as ::amdinst_device::__private::SharedParameter>::new(#variable.get()) }
                    };
                });
            } else if parameter.is_direct() {
                wires.push(if is_called { quote!(#wire: #ty) } else { quote!(#pat: #ty) });
            } else {
                wires.push(quote!(#wire: <#ty as ::amdinst_device::KernelArg>::Wire));
                wires.push(quote!(#tail: <#ty as ::amdinst_device::KernelArg>::Tail));
                from_wires.extend(quote! {
                    // SAFETY: this is where the launch's arguments come to.
                    let #bound = unsafe { <#ty as ::amdinst_device::KernelArg>::from_wire(#wire, #tail) };
                });
            }
            names.push(wire);
        }
        (wires, from_wires, names)
    }

    /// The function that gives the handle, of an instance if it is generic; and the body, which is
    /// type-checked.
    fn host(&self) -> TokenStream {
        let (for_handle, for_function) = self.attributes();
        let (vis, name) = (&self.function.vis, self.name());
        let types: Vec<_> = self.passed().map(|parameter| &parameter.ty).collect();
        let markers: Vec<_> = (1_usize..)
            .zip(self.passed())
            .map(|(number, parameter)| match &parameter.name {
                Some(of) => format_ident!("{}_of_{}", of, name, span = of.span()),
                None => format_ident!("parameter_{}_of_{}", number, name),
            })
            .collect();
        let texts = self.passed().map(Parameter::text);
        let table = host_table(&self.probes);
        let features = match features::active(std::env::args()) {
            Some(names) => quote!(::core::option::Option::Some(#names)),
            None => quote!(::core::option::Option::None),
        };
        let workgroup = match self.workgroup {
            Some(most) => quote!(::core::option::Option::Some(#most)),
            None => quote!(::core::option::Option::None),
        };
        let (line, column) = (self.location.line as u32, self.location.column as u32);
        let handle = |kernel: TokenStream| {
            quote! {
                ::amdinst_device::__private::kernel(::amdinst_device::__private::Written {
                    name: #kernel,
                    module: ::core::module_path!(),
                    package: ::core::env!("CARGO_PKG_NAME"),
                    features: #features,
                    file: ::core::file!(),
                    line: #line,
                    column: #column,
                    probes: #table,
                    parameters: &[#(#texts),*],
                    workgroup: #workgroup,
                })
            }
        };
        let shown = for_handle.iter().any(|attribute| attribute.path().is_ident("doc")).then(|| {
            let text = format!("\n```text\n{}\n```", shown(&self.function.sig));
            quote!(#[doc = #text])
        });
        let ty = quote!(::amdinst_device::NamedKernel<(#(#types,)*), (#(#markers,)*)>);
        let item = if self.instances.is_generic() {
            let kernel = self.instances.handle(name, vis, &self.function.sig.generics);
            let (items, generics, bound, named) = (kernel.items, kernel.generics, kernel.bound, kernel.name);
            let value = handle(named);
            quote! {
                #items

                #[cfg(not(target_arch = "amdgpu"))]
                #(#for_handle)*
                #shown
                #[allow(clippy::multiple_bound_locations)]
                #vis const fn #name #generics () -> #ty #bound { #value }
            }
        } else {
            let text = name.to_string();
            let value = handle(quote!(#text));
            // A function, since the name of a static could be none of a variable.
            quote! {
                #[cfg(not(target_arch = "amdgpu"))]
                #(#for_handle)*
                #shown
                #[allow(non_snake_case)]
                #vis const fn #name() -> #ty { #value }
            }
        };
        let (signature, block) = (&self.function.sig, &self.function.block);
        quote! {
            #(
                #[cfg(not(target_arch = "amdgpu"))]
                #[doc(hidden)]
                #[allow(non_camel_case_types, missing_docs, missing_debug_implementations, unreachable_pub)]
                #vis enum #markers {}
            )*

            #item

            #[cfg(not(target_arch = "amdgpu"))]
            const _: () = {
                #(#for_function)*
                #[allow(dead_code, clippy::too_many_arguments)]
                #signature #block
            };
        }
    }

    /// Points the compiler's complaints at the parameters' types, once on either side.
    fn checks(&self) -> TokenStream {
        let is_unsafe = matches!(self.function.sig.safety, Safety::Unsafe(_));
        let of_parameter = |parameter: &Parameter| {
            let ty = &parameter.ty;
            if parameter.is_shared {
                return quote_spanned!(ty.span()=> const _: () = ::amdinst_device::__private::assert_shared::<#ty>(););
            }
            let vouched = is_unsafe || parameter.is_direct();
            let message = format!(
                "kernel `{}`: the parameter `{}` holds a pointer, so the kernel is an `unsafe fn`: whoever launches it vouches for the \
                 pointer",
                self.name(),
                parameter.text()
            );
            quote_spanned! {ty.span()=>
                const _: () = ::amdinst_device::__private::assert_kernel_arg::<#ty>(#vouched, #message);
            }
        };
        let checks: TokenStream = self.parameters.iter().map(of_parameter).collect();
        self.instances.each(|instance| {
            let declarations = instance.declarations();
            quote! {
                const _: () = {
                    #declarations
                    #checks
                };
            }
        })
    }
}

/// The signature as documentation shows it.
fn shown(signature: &Signature) -> String {
    let mut text = signature.to_token_stream().to_string();
    for (from, to) in [
        (" :: ", "::"),
        (" < ", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" , ", ", "),
        (" : ", ": "),
        ("& ", "&"),
        ("* ", "*"),
        (" ;", ";"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        ("[ ", "["),
        (" ]", "]"),
        (" ,", ","),
        (",)", ")"),
    ] {
        text = text.replace(from, to);
    }
    text
}

/// The parameters, if the signature is a kernel's.
fn check(function: &ItemFn) -> syn::Result<Vec<Parameter>> {
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
    for parameter in &generics.params {
        if let GenericParam::Lifetime(lifetime) = parameter {
            errors.push(Error::new_spanned(
                lifetime,
                "what a kernel takes outlives it; leave this lifetime out",
            ));
        }
    }
    if let Some(variadic) = variadic {
        errors.push(Error::new_spanned(variadic, "a kernel has a fixed number of parameters"));
    }
    match output {
        ReturnType::Default => {}
        ReturnType::Type(_, ty) if matches!(&**ty, Type::Tuple(tuple) if tuple.elems.is_empty()) => {}
        ReturnType::Type(..) => errors.push(Error::new_spanned(
            output,
            "a kernel returns nothing: write results through a parameter (`PerItem<T>`, `*mut T`)",
        )),
    }
    for attribute in &function.attrs {
        if ["no_mangle", "export_name", "unsafe"].iter().any(|name| attribute.path().is_ident(name)) {
            errors
                .push(Error::new_spanned(attribute, "a kernel's symbol is its name; remove this attribute"));
        }
    }

    let mut parameters = Vec::new();
    for input in inputs {
        match input {
            FnArg::Receiver(receiver) => errors.push(Error::new_spanned(
                receiver,
                "a kernel is a free function; it has no `self` parameter",
            )),
            FnArg::Typed(typed) => {
                let name = match &*typed.pat {
                    Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => {
                        Some(pat.ident.clone())
                    }
                    Pat::Wild(_) => None,
                    other => {
                        errors.push(Error::new_spanned(other, "a kernel's parameter is a plain name"));
                        None
                    }
                };
                let is_shared = is_shared(typed, &mut errors);
                if !is_shared {
                    check_type(&typed.ty, matches!(safety, Safety::Unsafe(_)), &mut errors);
                }
                let mut ty = (*typed.ty).clone();
                Outlives.visit_type_mut(&mut ty);
                parameters.push(Parameter { name, pat: (*typed.pat).clone(), ty, is_shared });
            }
        }
    }
    if parameters.iter().filter(|parameter| !parameter.is_shared).count() > MOST_PARAMETERS {
        errors.push(Error::new_spanned(
            inputs,
            format!(
                "a kernel has at most {MOST_PARAMETERS} parameters; put some in a structure with `#[derive(KernelArg)]`"
            ),
        ));
    }
    errors.finish().map(|()| parameters)
}

/// Whether a parameter has `#[shared]`, as one has whose type says that it stands in LDS.
fn is_shared(parameter: &PatType, errors: &mut Errors) -> bool {
    let found = parameter.attrs.iter().find(|attribute| attribute.path().is_ident(SHARED));
    if let Some(attribute) = found
        && !matches!(attribute.meta, Meta::Path(_))
    {
        errors.push(Error::new_spanned(
            attribute,
            "`#[shared]` takes nothing: the type of the parameter says how large the array is",
        ));
    }
    let last = match &*parameter.ty {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    };
    if let (None, Some(name)) = (found, last)
        && ARRAYS_IN_LDS.iter().any(|known| name.ident == known)
    {
        let message = format!(
            "no launch passes an array in LDS: write `#[shared]` before `{}`",
            parameter.pat.to_token_stream()
        );
        errors.push(Error::new_spanned(&parameter.ty, message));
        return true;
    }
    found.is_some()
}

/// Makes every lifetime `'static`: what a kernel takes outlives it.
struct Outlives;

impl VisitMut for Outlives {
    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        if reference.lifetime.is_none() {
            reference.lifetime = Some(parse_quote!('static));
        }
        visit_mut::visit_type_reference_mut(self, reference);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        *lifetime = Lifetime::new("'static", lifetime.span());
    }
}

fn check_type(ty: &Type, is_unsafe: bool, errors: &mut Errors) {
    match ty {
        Type::Reference(reference) => {
            let instead = match (&*reference.elem, reference.mutability) {
                (Type::Slice(_), None) => return,
                (Type::Slice(slice), Some(_)) => {
                    let element = slice.elem.to_token_stream();
                    format!(
                        "the buffer: every work-item would have all of it. Take `PerItem<{element}>` (an element each), \
                         `Strided<{element}>`, `PerGroup<{element}>`, atomics (`&[AtomicU32]`), or `*mut {element}`"
                    )
                }
                (Type::Path(path), _) if path.path.is_ident("str") => "text: take its bytes, `&[u8]`".to_owned(),
                (element, Some(_)) => {
                    format!("one value: every work-item would have it. Take `*mut {}`", element.to_token_stream())
                }
                (element, None) => {
                    let element = element.to_token_stream();
                    format!("one value: take it as it is, `{element}`, or a slice, `&[{element}]`")
                }
            };
            errors.push(Error::new_spanned(
                reference,
                format!("a kernel cannot take a reference to {instead}"),
            ));
        }
        Type::Slice(slice) => errors.push(Error::new_spanned(
            ty,
            format!("a kernel takes a slice by reference: `&[{}]`", slice.elem.to_token_stream()),
        )),
        Type::Tuple(_) => errors.push(Error::new_spanned(
            ty,
            "the layout of a tuple is not defined, and may be another on the host: take a structure with `#[repr(C)]` and \
             `#[derive(Clone, Copy, KernelArg)]`",
        )),
        Type::ImplTrait(_) => errors.push(Error::new_spanned(
            ty,
            "an entry point has one type for each parameter: name it, or a type parameter with `#[kernel(T = [f32, f64])]`",
        )),
        Type::Ptr(_) if !is_unsafe => errors.push(Error::new_spanned(
            ty,
            "a kernel that takes a pointer is an `unsafe fn`: whoever launches it vouches for the pointer. Slices (`&[T]`) and \
             `PerItem<T>` need no `unsafe`",
        )),
        // Whether a named type can be passed, only the compiler can tell: `KernelArg`.
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
