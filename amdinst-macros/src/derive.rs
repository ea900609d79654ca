//! `#[derive(KernelArg)]`: structures that kernels take by value.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Member, Type, parse_quote};

pub(crate) fn expand(item: TokenStream) -> syn::Result<TokenStream> {
    let input: DeriveInput = syn::parse2(item)?;
    let fields = match &input.data {
        Data::Struct(data) => &data.fields,
        Data::Enum(data) => {
            return Err(Error::new(
                data.enum_token.span,
                "#[derive(KernelArg)] is for structures: pass an enum as a number, so that no other value comes to be one of it",
            ));
        }
        Data::Union(data) => {
            return Err(Error::new(
                data.union_token.span,
                "#[derive(KernelArg)] is for structures: which bytes of a union have a value is not known",
            ));
        }
    };
    if !has_layout(&input) {
        return Err(Error::new_spanned(
            &input.ident,
            "a structure that a kernel takes has the layout of C, the same on the host and the device: write `#[repr(C)]` above it",
        ));
    }
    let types: Vec<_> = fields.iter().map(|field| &field.ty).collect();
    let members: Vec<Member> = fields.members().collect();
    let name = &input.ident;
    let mut generics = input.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(::amdinst_device::Plain));
    }
    let (declared, arguments, bounds) = generics.split_for_impl();
    let any_field_has = |what: &str| {
        let what = format_ident!("{what}");
        let fields =
            types.iter().map(|ty| quote_spanned!(ty.span()=> <#ty as ::amdinst_device::Plain>::#what));
        quote!(false #(|| #fields)*)
    };
    let (has_pointer, has_bool) = (any_field_has("HAS_POINTER"), any_field_has("HAS_BOOL"));
    let has_padding = any_field_has("HAS_PADDING");
    let gaps = members.iter().zip(&types).zip(ends(&members)).map(|((member, ty), end)| {
        quote!(|| ::core::mem::offset_of!(Self, #member) + ::core::mem::size_of::<#ty>() != #end)
    });
    // A field that cannot be passed is told of once: with the constant.
    let stores = members.iter().zip(&types).map(|(member, ty)| {
        quote! {
            <#ty as ::amdinst_device::Plain>::store(&{ self.#member }, &mut bytes[::core::mem::offset_of!(Self, #member)..]);
        }
    });
    let is_element = is_element(name, &members, &types);
    let bytes = if members.is_empty() { format_ident!("_bytes") } else { format_ident!("bytes") };
    Ok(quote! {
        // SAFETY: `#[repr(C)]` lays it out in the same way on both sides, and its fields are what may be
        // passed.
        #[diagnostic::do_not_recommend]
        unsafe impl #declared ::amdinst_device::Plain for #name #arguments #bounds {
            const HAS_POINTER: ::core::primitive::bool = #has_pointer;
            const HAS_BOOL: ::core::primitive::bool = #has_bool;
            const HAS_PADDING: ::core::primitive::bool = #has_padding #(#gaps)*;
            const IS_ELEMENT: () = { #is_element };

            fn store(&self, #bytes: &mut [::core::primitive::u8]) {
                #(#stores)*
            }
        }

        // SAFETY: the fields are what may be passed, and the constant is the one above.
        unsafe impl #declared ::amdinst_device::__private::Structure for #name #arguments #bounds {}

        // SAFETY: it is read where the launch has put it.
        unsafe impl #declared ::amdinst_device::KernelArg for #name #arguments #bounds {
            type Wire = *const Self;
            type Tail = ::amdinst_device::__private::NoTail;
            const IN_MEMORY: ::core::option::Option<::core::alloc::Layout> =
                ::core::option::Option::Some(::core::alloc::Layout::new::<Self>());
            const HAS_POINTER: ::core::primitive::bool = #has_pointer;

            #[inline(always)]
            unsafe fn from_wire(wire: Self::Wire, _: Self::Tail) -> Self {
                // SAFETY: it points to the kernarg segment, where the launch has put a value.
                unsafe { wire.read() }
            }
        }
    })
}

/// Where each field ends if there is no padding behind it.
fn ends(members: &[Member]) -> impl Iterator<Item = TokenStream> {
    let next = members.iter().skip(1).map(|next| quote!(::core::mem::offset_of!(Self, #next)));
    next.chain([quote!(::core::mem::size_of::<Self>())])
}

/// What else takes padding away, behind the number of its bytes.
const OR_ORDERED: &str = "]`), or the fields of the greatest alignment first";

/// What does not compile if the structure has padding, or a field that no buffer holds. It is looked at for
/// structures in buffers alone.
fn is_element(name: &Ident, members: &[Member], types: &[&Type]) -> TokenStream {
    let field = |member: &Member| match member {
        Member::Named(name) => format!("`{name}`"),
        Member::Unnamed(index) => format!("{}", index.index),
    };
    let checks = members.iter().enumerate().zip(ends(members)).map(|((at, member), end)| {
        let (ty, this) = (types[at], field(member));
        let place = match members.get(at + 1) {
            Some(next) => format!("between its fields {this} and {}", field(next)),
            None => format!("behind its last field, {this}"),
        };
        let of_bool = format!(
            "a buffer cannot hold `{name}`: other bytes than 0 and 1 are no `bool`, which is in its field {this}. Take a `u8`"
        );
        let within = format!("a buffer cannot hold `{name}`: there is padding within its field {this}, whose bytes have no value");
        let behind = format!(
            "a buffer cannot hold `{name}`: there is padding {place}, whose bytes have no value. Put a field of your own there \
             (`_unused: [u8; "
        );
        quote_spanned! {ty.span()=>
            ::core::assert!(!<#ty as ::amdinst_device::Plain>::HAS_BOOL, #of_bool);
            ::core::assert!(!<#ty as ::amdinst_device::Plain>::HAS_PADDING, #within);
            let padding = #end - (::core::mem::offset_of!(Self, #member) + ::core::mem::size_of::<#ty>());
            if padding > 0 {
                ::amdinst_device::__private::panic_with(#behind, padding, #OR_ORDERED);
            }
        }
    });
    checks.collect()
}

/// Whether its layout is defined: `#[repr(C)]`, or `#[repr(transparent)]`.
fn has_layout(input: &DeriveInput) -> bool {
    let mut found = false;
    let of_c = |meta: syn::meta::ParseNestedMeta<'_>| {
        found |= meta.path.is_ident("C") || meta.path.is_ident("transparent");
        // `packed(2)`, `align(8)`
        if meta.input.peek(syn::token::Paren) {
            let content;
            syn::parenthesized!(content in meta.input);
            content.parse::<TokenStream>()?;
        }
        Ok(())
    };
    let mut of_c = of_c;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        // What is no `repr` at all, the compiler tells.
        let _ = attribute.parse_nested_meta(&mut of_c);
    }
    found
}
