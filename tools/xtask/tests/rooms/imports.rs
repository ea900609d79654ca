//! What the files of a crate import from one another, by the paths in them that begin with `crate`, `self` or
//! `super`. Tests inside the files are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use syn::visit_mut::{VisitMut, visit_file_mut, visit_item_mod_mut};
use syn::{Attribute, ItemMod, ItemUse, Meta, UseTree};

/// The path of a module, from the crate's root on.
pub(crate) type Module = Vec<String>;

/// The modules that are files of their own, each with the paths in it.
pub(crate) fn of_crate(src: &Path) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut files = BTreeMap::new();
    read(src, &mut Vec::new(), &mut files);
    files
}

fn read(directory: &Path, module: &mut Module, files: &mut BTreeMap<Module, BTreeSet<Module>>) {
    for entry in std::fs::read_dir(directory).expect("a directory of sources") {
        let path = entry.expect("its entry").path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        if path.is_dir() {
            module.push(stem);
            read(&path, module, files);
            module.pop();
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let is_root = matches!(&*stem, "mod" | "lib" | "main");
            let own = module.iter().cloned().chain((!is_root).then_some(stem)).collect::<Module>();
            let text = std::fs::read_to_string(&path).expect("a source");
            let mut file = syn::parse_file(&text).expect("Rust");
            let mut paths = Paths { module: own.clone(), found: BTreeSet::new() };
            visit_file_mut(&mut paths, &mut file);
            files.insert(own, paths.found);
        }
    }
}

/// The file that a path leads into: the deepest module on it that is one.
pub(crate) fn file<'f>(files: &'f BTreeMap<Module, BTreeSet<Module>>, path: &[String]) -> Option<&'f Module> {
    (1..=path.len()).rev().find_map(|end| files.get_key_value(&path[..end])).map(|(module, _)| module)
}

struct Paths {
    /// The module that is looked at.
    module: Module,
    found: BTreeSet<Module>,
}

impl Paths {
    /// Notes a path if it tells where it begins.
    fn note(&mut self, path: &[String]) {
        let mut module = match path.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            Some("self" | "super") => self.module.clone(),
            _ => return,
        };
        for name in path {
            match &**name {
                "crate" | "self" => {}
                "super" => drop(module.pop()),
                name => module.push(name.to_owned()),
            }
        }
        self.found.insert(module);
    }

    fn tree(&mut self, tree: &UseTree, path: &mut Module) {
        match tree {
            UseTree::Path(part) => {
                path.push(part.ident.to_string());
                self.tree(&part.tree, path);
                path.pop();
            }
            UseTree::Group(group) => group.items.iter().for_each(|item| self.tree(item, path)),
            UseTree::Glob(_) => self.note(path),
            UseTree::Name(_) | UseTree::Rename(_) => {
                let name = match tree {
                    UseTree::Name(name) => &name.ident,
                    UseTree::Rename(rename) => &rename.ident,
                    _ => return,
                };
                path.push(name.to_string());
                self.note(path);
                path.pop();
            }
        }
    }
}

/// Whether it is `#[cfg(test)]`.
fn is_for_tests(attribute: &Attribute) -> bool {
    matches!(&attribute.meta, Meta::List(list) if list.path.is_ident("cfg") && list.tokens.to_string() == "test")
}

impl VisitMut for Paths {
    fn visit_item_use_mut(&mut self, item: &mut ItemUse) {
        self.tree(&item.tree, &mut Vec::new());
    }

    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        let names: Module = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.note(&names);
        syn::visit_mut::visit_path_mut(self, path);
    }

    // `pub(super)` and its like say who may import, not what is.
    fn visit_visibility_mut(&mut self, _: &mut syn::Visibility) {}

    fn visit_item_mod_mut(&mut self, item: &mut ItemMod) {
        if item.content.is_some() && !item.attrs.iter().any(is_for_tests) {
            self.module.push(item.ident.to_string());
            visit_item_mod_mut(self, item);
            self.module.pop();
        }
    }
}
