//! `workgroup = 256` among the arguments of `#[kernel]`: the most work-items of a workgroup that the kernel
//! is launched with.
//!
//! The compiler plans registers and LDS for the largest workgroup, 1024 work-items, unless it knows of a
//! smaller one.

use proc_macro2::{TokenStream, TokenTree};
use syn::{Error, LitInt, Token, parse2};

/// What a processor can hold.
const MOST: u32 = 1024;

/// Takes it out of the arguments.
pub(crate) fn take(arguments: TokenStream) -> syn::Result<(Option<u32>, TokenStream)> {
    let (mut found, mut others) = (None, Vec::<TokenTree>::new());
    let tokens: Vec<TokenTree> = arguments.into_iter().collect();
    for argument in tokens.split_inclusive(is_comma) {
        match argument {
            [TokenTree::Ident(name), value @ ..] if name == "workgroup" => {
                let value = value.split(is_comma).next().unwrap_or_default();
                if found.replace(work_items(name, value)?).is_some() {
                    return Err(Error::new(name.span(), "`workgroup` is given twice"));
                }
            }
            _ => others.extend_from_slice(argument),
        }
    }
    Ok((found, others.into_iter().collect()))
}

fn is_comma(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',')
}

fn work_items(name: &proc_macro2::Ident, value: &[TokenTree]) -> syn::Result<u32> {
    let wrong = || {
        Error::new(
            name.span(),
            format!("`workgroup` is a number of work-items from 1 to {MOST}: `workgroup = 256`"),
        )
    };
    let (equals, number) = value.split_first().ok_or_else(wrong)?;
    parse2::<Token![=]>(equals.clone().into()).map_err(|_| wrong())?;
    let number: LitInt = parse2(number.iter().cloned().collect()).map_err(|_| wrong())?;
    number.base10_parse().ok().filter(|number| (1..=MOST).contains(number)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_from_among_others() {
        let of = |text: &str| {
            let taken = take(text.parse().unwrap()).map_err(|error| error.to_string());
            taken.map(|(size, rest)| (size, rest.to_string()))
        };
        assert_eq!(of(""), Ok((None, String::new())));
        assert_eq!(of("workgroup = 256"), Ok((Some(256), String::new())));
        assert_eq!(of("T = [f32, f64], workgroup = 64,"), Ok((Some(64), "T = [f32 , f64] ,".to_owned())));
        for text in ["workgroup", "workgroup = 0", "workgroup = 1025", "workgroup = x", "workgroup 64"] {
            assert!(of(text).unwrap_err().contains("from 1 to 1024"), "{text}");
        }
        assert!(of("workgroup = 1, workgroup = 2").unwrap_err().contains("twice"));
    }
}
