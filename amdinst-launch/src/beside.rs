//! Code objects that are loaded beside the kernel's, and what arguments name of them.

use amdgpu_object::CodeObject;
use amdinst_core::names;
use amdinst_text::listed;

use crate::refused::{Refused, RefusedKind};

/// Names that an error lists, at most.
const LISTED: usize = 10;

/// Code objects in the order in which they are loaded.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// Each of them.
    pub objects: Vec<CodeObject>,
}

/// Where a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The code object, by its place among those beside the kernel's.
    pub object: usize,
    /// The address in it.
    pub address: u64,
}

impl Beside {
    /// Where a function or variable is: by its symbol, or by its name in the source without parameters.
    ///
    /// # Errors
    /// When none is called so, or several are.
    pub fn find(&self, name: &str) -> Result<Place, Refused> {
        let known: Vec<(&str, Place)> = self.symbols().collect();
        let by_symbol: Vec<_> = known.iter().filter(|(symbol, _)| *symbol == name).collect();
        let found = match by_symbol.is_empty() {
            false => by_symbol,
            true => known.iter().filter(|(symbol, _)| short(symbol) == name).collect(),
        };
        match found[..] {
            [(_, place)] => Ok(*place),
            [] => {
                let failure = Refused::new(
                    RefusedKind::Usage,
                    format!("symbol:{name}: no code object of --with has it"),
                );
                let mut names: Vec<String> = known.iter().map(|(symbol, _)| short(symbol)).collect();
                names.sort();
                Err(match (self.objects.is_empty(), names.is_empty()) {
                    (true, _) => failure.help("name the file with the function or variable: --with FILE"),
                    (false, true) => failure.note("they have no functions and variables"),
                    (false, false) => failure.note(format!("they have {}", listed(&names, LISTED))),
                })
            }
            _ => {
                let names: Vec<String> = found.iter().map(|(symbol, _)| (*symbol).to_owned()).collect();
                let message = format!("symbol:{name} is one of several: {}", listed(&names, LISTED));
                Err(Refused::new(RefusedKind::Usage, message).help("give the symbol, or fewer files"))
            }
        }
    }

    /// Functions and variables of all.
    fn symbols(&self) -> impl Iterator<Item = (&str, Place)> {
        self.objects.iter().enumerate().flat_map(|(object, code)| {
            let functions = code.functions.iter().map(|one| (one.name.as_str(), one.code.start));
            let variables = code.variables.iter().map(|one| (one.name.as_str(), one.address));
            functions.chain(variables).map(move |(name, address)| (name, Place { object, address }))
        })
    }
}

/// A symbol as people write it: `twice` for `_Z5twicef`.
fn short(symbol: &str) -> String {
    let name = names::demangled(symbol).unwrap_or_else(|| names::in_source(symbol).to_owned());
    name.split_once('(').map_or(name.as_str(), |(before, _)| before).to_owned()
}
