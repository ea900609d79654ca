//! The sentences in Rust sources that users read: messages of errors, and doc comments of public items.

use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprLit, Field, ImplItemFn, Item, Lit, LitStr, Meta, TraitItem, Visibility};

use crate::rules::{Sentence, split};
use crate::{files, markdown};

/// The messages of `#[error("…")]` in all crates.
pub(crate) fn errors(root: &Path) -> Vec<Sentence> {
    all(root, Wanted::Errors)
}

/// The doc comments of what the crates make public.
pub(crate) fn docs(root: &Path) -> Vec<Sentence> {
    all(root, Wanted::Docs)
}

/// The sentences in the sources of every crate of the workspace.
fn all(root: &Path, wanted: Wanted) -> Vec<Sentence> {
    let mut found = Found { wanted, name: String::new(), sentences: Vec::new() };
    let manifest: toml::Table = fs::read_to_string(root.join("Cargo.toml")).unwrap().parse().unwrap();
    for member in manifest["workspace"]["members"].as_array().unwrap() {
        found.under(&root.join(member.as_str().unwrap()).join("src"), root);
    }
    found.sentences
}

#[derive(PartialEq, Eq)]
enum Wanted {
    Errors,
    Docs,
}

struct Found {
    wanted: Wanted,
    /// The file that is read.
    name: String,
    sentences: Vec<Sentence>,
}

impl Found {
    fn under(&mut self, directory: &Path, root: &Path) {
        for (path, text) in files::sources(directory) {
            self.name = path.strip_prefix(root).unwrap().display().to_string();
            self.visit_file(&syn::parse_file(&text).unwrap());
        }
    }

    /// The doc comments of fields.
    fn fields<'f>(&mut self, of: &str, fields: impl Iterator<Item = &'f Field>) {
        for field in fields {
            let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
            self.docs(&format!("{of}.{name}"), &field.attrs);
        }
    }

    /// The text of the doc comment among some attributes.
    fn docs(&mut self, of: &str, attributes: &[Attribute]) {
        let hidden =
            |attribute: &Attribute| matches!(&attribute.meta, Meta::List(list) if list.path.is_ident("doc"));
        if self.wanted != Wanted::Docs || attributes.iter().any(hidden) {
            return;
        }
        let lines: Vec<String> = attributes.iter().filter_map(doc_line).collect();
        let place = format!("{} {of}", self.name);
        let own = markdown::sentences(&place, &lines.join("\n"));
        self.sentences.extend(own.into_iter().map(|sentence| Sentence { place: place.clone(), ..sentence }));
    }
}

/// A message with a word in place of each value and each piece of code.
fn without_values(message: &str) -> String {
    let mut text = String::new();
    let (mut in_value, mut in_code) = (false, false);
    for character in message.chars() {
        match character {
            '`' if !in_value => {
                in_code = !in_code;
                text.push_str(if in_code { "CODE" } else { "" });
            }
            '{' => {
                in_value = true;
                text.push_str(if in_code { "" } else { "VALUE" });
            }
            '}' => in_value = false,
            _ if !in_value && !in_code => text.push(character),
            _ => {}
        }
    }
    text
}

/// A line of a doc comment.
fn doc_line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &pair.value else { return None };
    pair.path
        .is_ident("doc")
        .then(|| text.value().strip_prefix(' ').map_or_else(|| text.value(), str::to_owned))
}

impl<'ast> Visit<'ast> for Found {
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if self.wanted == Wanted::Errors
            && attribute.path().is_ident("error")
            && let Meta::List(list) = &attribute.meta
        {
            let text = list.tokens.clone().into_iter().next();
            if let Some(Ok(text)) = text.map(|token| syn::parse_str::<LitStr>(&token.to_string())) {
                split(&self.name, &without_values(&text.value()), &mut self.sentences);
            }
        }
    }

    fn visit_item(&mut self, item: &'ast Item) {
        let (name, visibility, attributes) = match item {
            Item::Fn(item) => (item.sig.ident.to_string(), &item.vis, &item.attrs),
            Item::Struct(item) => (item.ident.to_string(), &item.vis, &item.attrs),
            Item::Enum(item) => (item.ident.to_string(), &item.vis, &item.attrs),
            Item::Trait(item) => (item.ident.to_string(), &item.vis, &item.attrs),
            Item::Const(item) => (item.ident.to_string(), &item.vis, &item.attrs),
            Item::Mod(item) => (item.ident.to_string(), &item.vis, &item.attrs),
            _ => return visit::visit_item(self, item),
        };
        if !matches!(visibility, Visibility::Public(_)) {
            return visit::visit_item(self, item);
        }
        self.docs(&name, attributes);
        match item {
            Item::Struct(item) => {
                let public = item.fields.iter().filter(|field| matches!(field.vis, Visibility::Public(_)));
                self.fields(&name, public);
            }
            Item::Enum(item) => {
                for variant in &item.variants {
                    self.docs(&format!("{name}::{}", variant.ident), &variant.attrs);
                    self.fields(&name, variant.fields.iter());
                }
            }
            Item::Trait(item) => {
                for method in &item.items {
                    if let TraitItem::Fn(method) = method {
                        self.docs(&format!("{name}::{}", method.sig.ident), &method.attrs);
                    }
                }
            }
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        if matches!(item.vis, Visibility::Public(_)) {
            self.docs(&item.sig.ident.to_string(), &item.attrs);
        }
    }
}
