//! The instances of a generic kernel: `#[kernel(T = [f32, f64], N = [16, 32])]`, each with each.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, GenericParam, Generics, Signature, Token, Type, Visibility, bracketed, parse_quote};

/// How an instance list is written.
const EXAMPLE: &str =
    "write `#[kernel(T = [f32, f64], N = [16, 32])]`: each parameter with all that it stands for";

/// All instances of a kernel; one without values, if it is not generic.
pub(crate) struct Instances {
    parameters: Vec<Parameter>,
}

struct Parameter {
    name: Ident,
    /// Of a constant.
    ty: Option<Type>,
    values: Vec<TokenStream>,
}

/// One instance: the values of the parameters.
pub(crate) struct Instance<'a>(Vec<(&'a Parameter, &'a TokenStream)>);

/// What the host has of a generic kernel.
pub(crate) struct Handle {
    /// The trait that `()` has for each instance.
    pub(crate) items: TokenStream,
    pub(crate) generics: TokenStream,
    pub(crate) bound: TokenStream,
    /// An instance's name.
    pub(crate) name: TokenStream,
}

/// `T = [f32, f64]`.
struct List {
    name: Ident,
    values: Punctuated<TokenStreamOf, Token![,]>,
}

/// A type or a constant.
struct TokenStreamOf(TokenStream);

impl Parse for TokenStreamOf {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ahead = input.fork();
        if ahead.parse::<Type>().is_ok() && (ahead.is_empty() || ahead.peek(Token![,])) {
            return input.parse::<Type>().map(|ty| Self(ty.into_token_stream()));
        }
        input.parse::<Expr>().map(|constant| Self(constant.into_token_stream()))
    }
}

impl Parse for List {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        let content;
        bracketed!(content in input);
        let values = content.parse_terminated(TokenStreamOf::parse, Token![,])?;
        Ok(Self { name, values })
    }
}

impl Instances {
    /// The instances that the arguments of `#[kernel]` list for a function.
    pub(crate) fn new(arguments: TokenStream, signature: &Signature) -> syn::Result<Self> {
        let lists: Vec<List> = if arguments.is_empty() {
            Vec::new()
        } else {
            let parser = Punctuated::<List, Token![,]>::parse_terminated;
            let lists = syn::parse::Parser::parse2(parser, arguments.clone())
                .map_err(|error| Error::new(error.span(), format!("{error}; {EXAMPLE}")))?;
            lists.into_iter().collect()
        };
        let mut parameters = Vec::new();
        for generic in &signature.generics.params {
            let (name, ty) = match generic {
                GenericParam::Type(parameter) => (&parameter.ident, None),
                GenericParam::Const(parameter) => (&parameter.ident, Some(parameter.ty.clone())),
                GenericParam::Lifetime(_) => continue,
            };
            let mut of_it = lists.iter().filter(|list| list.name == *name);
            let Some(List { values, .. }) = of_it.next() else {
                return Err(Error::new_spanned(
                    name,
                    format!(
                        "a kernel is compiled for what it is launched with, which is to be listed: nothing says what `{name}` stands for; \
                         {EXAMPLE}"
                    ),
                ));
            };
            if let Some(again) = of_it.next() {
                return Err(Error::new_spanned(&again.name, "this parameter has a list already"));
            }
            if values.is_empty() {
                return Err(Error::new_spanned(name, format!("the list of `{name}` is empty; {EXAMPLE}")));
            }
            let values = values.iter().map(|value| value.0.clone()).collect();
            parameters.push(Parameter { name: name.clone(), ty, values });
        }
        if let Some(unknown) =
            lists.iter().find(|list| parameters.iter().all(|parameter| parameter.name != list.name))
        {
            let message = format!("the kernel has no generic parameter `{}`", unknown.name);
            return Err(Error::new_spanned(&unknown.name, message));
        }
        Ok(Self { parameters })
    }

    pub(crate) fn is_generic(&self) -> bool {
        !self.parameters.is_empty()
    }

    /// What `make` makes of each instance.
    pub(crate) fn each(&self, make: impl FnMut(&Instance<'_>) -> TokenStream) -> TokenStream {
        let mut all = vec![Vec::new()];
        for parameter in &self.parameters {
            let with = |before: &Vec<_>| {
                let before = before.clone();
                parameter.values.iter().map(move |value| {
                    let mut values = before.clone();
                    values.push((parameter, value));
                    values
                })
            };
            all = all.iter().flat_map(with).collect();
        }
        all.into_iter().map(Instance).collect::<Vec<_>>().iter().map(make).collect()
    }

    /// The function on the host that gives the handle of an instance.
    pub(crate) fn handle(&self, name: &Ident, vis: &Visibility, generics: &Generics) -> Handle {
        let list = format_ident!("instance_of_{}", name);
        let declared: Vec<_> = self
            .parameters
            .iter()
            .map(|Parameter { name, ty, .. }| match ty {
                Some(ty) => quote!(const #name: #ty),
                None => quote!(#name),
            })
            .collect();
        let names: Vec<_> = self.parameters.iter().map(|parameter| &parameter.name).collect();
        let impls = self.each(|instance| {
            let (arguments, text) = (instance.arguments(), instance.name(name));
            quote! {
                #[cfg(not(target_arch = "amdgpu"))]
                impl #list<#arguments> for () {
                    const NAME: &'static ::core::primitive::str = #text;
                }
            }
        });
        let message = format!("kernel `{name}` is not compiled for {}", {
            let each: Vec<_> = names.iter().map(|name| format!("`{name} = {{{name}}}`")).collect();
            each.join(", ")
        });
        let mut generics = generics.clone();
        for parameter in generics.type_params_mut() {
            parameter.bounds.push(parse_quote!('static));
        }
        generics.make_where_clause().predicates.push(parse_quote!((): #list<#(#names),*>));
        let (declaration, _, bound) = generics.split_for_impl();
        Handle {
            items: quote! {
                #[cfg(not(target_arch = "amdgpu"))]
                #[doc(hidden)]
                #[allow(non_camel_case_types, missing_docs, unreachable_pub)]
                #[diagnostic::on_unimplemented(
                    message = #message,
                    label = "not in the list of `#[kernel(…)]` above it",
                    note = "add it there: each value is an entry point of its own"
                )]
                #vis trait #list<#(#declared),*> {
                    const NAME: &'static ::core::primitive::str;
                }
                #impls
            },
            generics: declaration.into_token_stream(),
            bound: bound.into_token_stream(),
            name: quote!(<() as #list<#(#names),*>>::NAME),
        }
    }
}

impl Instance<'_> {
    /// Names for the values, as the signature has them.
    pub(crate) fn declarations(&self) -> TokenStream {
        let one = |(parameter, value): &(&Parameter, &TokenStream)| {
            let Parameter { name, ty, .. } = parameter;
            match ty {
                Some(ty) => quote!(#[allow(dead_code, non_upper_case_globals)] const #name: #ty = #value;),
                None => quote!(#[allow(dead_code, non_camel_case_types)] type #name = #value;),
            }
        };
        self.0.iter().map(one).collect()
    }

    /// The values as generic arguments.
    pub(crate) fn arguments(&self) -> TokenStream {
        let one = |(parameter, value): &(&Parameter, &TokenStream)| match &parameter.ty {
            Some(_) => quote!({ #value }),
            None => quote!(#value),
        };
        let values = self.0.iter().map(one);
        quote!(#(#values),*)
    }

    /// The kernel's name, as reports have it: `scale<f32,16>`.
    pub(crate) fn name(&self, kernel: &Ident) -> String {
        if self.0.is_empty() {
            return kernel.to_string();
        }
        let values: Vec<_> =
            self.0.iter().map(|(_, value)| value.to_string().replace(char::is_whitespace, "")).collect();
        format!("{kernel}<{}>", values.join(","))
    }
}
