//! A module of textual LLVM IR as the things that it has, and what each of them refers to.
//!
//! [`Module::part`] writes some of them with all that they reach as a module of their own. It numbers
//! metadata and attributes anew, in the order of their use, as it does private constants: so a part of two
//! programs that differ elsewhere is the same text.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use crate::ir::tokens::{Reference, references, replaced};

/// What a module has under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Type,
    Comdat,
    /// A declaration: what it names stands in another module.
    Declared,
    Constant,
    /// A variable that kernels of all units must find in one place.
    Mutable,
    /// A variable that each kernel has for itself (LDS).
    OfKernel,
    /// Another name of something.
    Alias,
    Function,
}

/// A thing of a module, by name.
#[derive(Debug)]
pub(super) struct Item<'a> {
    pub(super) kind: Kind,
    pub(super) name: &'a str,
    pub(super) text: &'a str,
    /// The names that it refers to, as numbers of items.
    pub(super) reaches: Vec<usize>,
}

impl Item<'_> {
    /// Whether it is a kernel.
    pub(super) fn is_kernel(&self) -> bool {
        self.kind == Kind::Function && head(self.text).contains(" amdgpu_kernel ")
    }

    /// Whether it is a constant whose name is of no consequence.
    fn is_private(&self) -> bool {
        self.kind == Kind::Constant && self.text.contains(" = private ")
    }
}

/// The first line.
fn head(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// A module.
#[derive(Debug, Default)]
pub(super) struct Module<'a> {
    /// Lines that say what the module is for.
    head: Vec<&'a str>,
    /// Lines of assembly.
    pub(super) assembly: Vec<&'a str>,
    /// In the order of the text.
    pub(super) items: Vec<Item<'a>>,
    by_name: FxHashMap<(Space, &'a str), usize>,
    attributes: FxHashMap<u32, &'a str>,
    nodes: FxHashMap<u32, &'a str>,
    /// `!llvm.ident = !{…}`: its name and nodes.
    lists: BTreeMap<&'a str, Vec<u32>>,
}

/// Names of one kind do not hide those of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Space {
    Symbol,
    Type,
    Comdat,
}

impl Kind {
    fn space(self) -> Space {
        match self {
            Self::Type => Space::Type,
            Self::Comdat => Space::Comdat,
            _ => Space::Symbol,
        }
    }
}

/// The list of compile units; each part has those that its functions are of.
const COMPILE_UNITS: &str = "llvm.dbg.cu";
/// The list of facts about the whole module, each under a name of its own.
const FLAGS: &str = "llvm.module.flags";

impl<'a> Module<'a> {
    /// Reads texts of which no two have a number in common ([`Module::numbered_from`]), as one module: of
    /// what several define, the first counts.
    pub(super) fn read(texts: &[&'a str]) -> Self {
        let mut module = Self::default();
        for text in texts {
            module.add(text);
        }
        module.join_flags();
        let all: Vec<Vec<usize>> = module.items.iter().map(|item| module.reached(item)).collect();
        for (item, reaches) in module.items.iter_mut().zip(all) {
            item.reaches = reaches;
        }
        module
    }

    fn add(&mut self, text: &'a str) {
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
            let line = rest[..end].trim_end();
            let whole = match line.starts_with("define ") {
                true => rest.find("\n}\n").map_or(rest.len(), |end| end + 3),
                false => end,
            };
            let (of_it, behind) = rest.split_at(whole);
            self.add_thing(line, of_it);
            rest = behind;
        }
    }

    /// Adds what `text` has, which begins with `line`.
    fn add_thing(&mut self, line: &'a str, text: &'a str) {
        let first = references(line).next();
        let kind = match line.as_bytes().first() {
            Some(b'd') if line.starts_with("define ") => Kind::Function,
            Some(b'd') if line.starts_with("declare ") => Kind::Declared,
            Some(b'@') => variable(line),
            Some(b'%') => Kind::Type,
            Some(b'$') => Kind::Comdat,
            Some(b'a') if line.starts_with("attributes #") => {
                if let (Some((_, Reference::Attributes(number))), Some((_, group))) =
                    (first, line.split_once(" = "))
                {
                    self.attributes.insert(number, group);
                }
                return;
            }
            Some(b'!') => {
                let Some((name, value)) = line.split_once(" = ") else { return };
                match first {
                    Some((range, Reference::Node(number))) if range == (0..name.len()) => {
                        self.nodes.insert(number, value);
                    }
                    _ => self.lists.entry(&name[1..]).or_default().extend(nodes(value)),
                }
                return;
            }
            Some(b'm') if line.starts_with("module asm ") => return self.assembly.push(line),
            Some(b't' | b's') if self.items.is_empty() && !self.head.contains(&line) => {
                return self.head.push(line);
            }
            _ => return,
        };
        let name = references(line).find_map(|(_, reference)| match (reference, kind.space()) {
            (Reference::Symbol(name), Space::Symbol)
            | (Reference::Value(name), Space::Type)
            | (Reference::Comdat(name), Space::Comdat) => Some(name),
            _ => None,
        });
        let Some(name) = name else { return };
        let item = Item { kind, name, text: text.trim_end(), reaches: Vec::new() };
        match self.by_name.get(&(kind.space(), name)) {
            Some(&there) if self.items[there].kind == Kind::Declared => self.items[there] = item,
            Some(_) => {}
            None => {
                self.by_name.insert((kind.space(), name), self.items.len());
                self.items.push(item);
            }
        }
    }

    /// Leaves one flag of each name.
    fn join_flags(&mut self) {
        let nodes = &self.nodes;
        let mut names = BTreeSet::new();
        let is_first = |node: &u32| {
            let name = nodes.get(node).and_then(|text| text.split('"').nth(1));
            name.is_none_or(|name| names.insert(name))
        };
        if let Some(flags) = self.lists.get_mut(FLAGS) {
            flags.retain(is_first);
        }
    }

    fn reached(&self, item: &Item<'a>) -> Vec<usize> {
        let of = |reference| match reference {
            Reference::Symbol(name) => self.by_name.get(&(Space::Symbol, name)),
            Reference::Value(name) => self.by_name.get(&(Space::Type, name)),
            Reference::Comdat(name) => self.by_name.get(&(Space::Comdat, name)),
            Reference::Attributes(_) | Reference::Node(_) => None,
        };
        // A group has the name of the symbol that is in it, unless it says another.
        let group =
            self.by_name.get(&(Space::Comdat, item.name)).filter(|_| head(item.text).contains(" comdat"));
        let named = references(item.text).filter_map(|(_, it)| of(it)).chain(group);
        let found: BTreeSet<usize> = named.copied().collect();
        found.into_iter().collect()
    }

    /// The number of the item with that symbol.
    pub(super) fn symbol(&self, name: &str) -> Option<usize> {
        self.by_name.get(&(Space::Symbol, name)).copied()
    }

    /// The file that a function is written in, if debug information says so.
    pub(super) fn file_of(&self, item: &Item<'_>) -> Option<&'a str> {
        let (_, attached) = head(item.text).rsplit_once("!dbg !")?;
        let scope = self.nodes.get(&attached.split(|of: char| !of.is_ascii_digit()).next()?.parse().ok()?)?;
        let (_, file) = scope.split_once("file: !")?;
        let file = self.nodes.get(&file.split([',', ')']).next()?.parse().ok()?)?;
        file.split_once("filename: \"")?.1.split('"').next()
    }

    /// `roots` and all that they reach.
    pub(super) fn closure(&self, roots: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        let mut reached: BTreeSet<usize> = roots.into_iter().collect();
        let mut work: Vec<usize> = reached.iter().copied().collect();
        while let Some(item) = work.pop() {
            work.extend(self.items[item].reaches.iter().copied().filter(|next| reached.insert(*next)));
        }
        reached
    }

    /// A module of these items, which reach no others, and of lines of assembly. `rewritten` gives another
    /// text for an item.
    pub(super) fn part(
        &self,
        items: &BTreeSet<usize>,
        assembly: &[&str],
        rewritten: impl Fn(&Item<'a>) -> Option<String>,
    ) -> String {
        let numbers = Numbers::default;
        let mut part = Part {
            module: self,
            out: String::new(),
            attributes: numbers(),
            nodes: numbers(),
            constants: numbers(),
        };
        for line in self.head.iter().chain(assembly) {
            part.out.extend([line, "\n"]);
        }
        // The order of a program changes with what else it has.
        let mut named: Vec<&Item<'_>> = items.iter().map(|item| &self.items[*item]).collect();
        named.retain(|item| !item.is_private());
        named.sort_by_key(|item| (item.kind.space(), item.name));
        for item in named {
            match rewritten(item) {
                Some(text) => part.write(&text),
                None => part.write(item.text),
            }
            part.out.push('\n');
        }
        part.finish()
    }
}

/// Numbers in the order in which they are asked for.
#[derive(Debug, Default)]
struct Numbers {
    given: FxHashMap<u32, usize>,
    /// Those whose text is not written yet.
    open: VecDeque<u32>,
}

impl Numbers {
    fn of(&mut self, number: u32) -> usize {
        let next = self.given.len();
        *self.given.entry(number).or_insert_with(|| {
            self.open.push_back(number);
            next
        })
    }
}

/// A part of a module while it is written.
struct Part<'m, 'a> {
    module: &'m Module<'a>,
    out: String,
    attributes: Numbers,
    nodes: Numbers,
    constants: Numbers,
}

impl Part<'_, '_> {
    /// Writes text with the part's own numbers, and names of constants that nobody else sees.
    fn write(&mut self, text: &str) {
        let Self { module, out, attributes, nodes, constants } = self;
        replaced(text, out, |reference| match reference {
            Reference::Attributes(number) => Some(format!("#{}", attributes.of(number))),
            Reference::Node(number) => Some(format!("!{}", nodes.of(number))),
            Reference::Symbol(name) => {
                let item = module.symbol(name).filter(|item| module.items[*item].is_private())?;
                Some(format!("@constant.{}", constants.of(item as u32)))
            }
            Reference::Value(_) | Reference::Comdat(_) => None,
        });
    }

    /// Constants, attributes and metadata.
    fn finish(mut self) -> String {
        while let Some(item) = self.constants.open.pop_front() {
            self.write(self.module.items[item as usize].text);
            self.out.push('\n');
        }
        while let Some(number) = self.attributes.open.pop_front() {
            let _ = write!(self.out, "attributes #{} = ", self.attributes.given[&number]);
            self.write(self.module.attributes.get(&number).unwrap_or(&"{ }"));
            self.out.push('\n');
        }
        for (name, nodes) in &self.module.lists {
            if *name != COMPILE_UNITS {
                self.list(name, nodes.iter().copied());
            }
        }
        while let Some(number) = self.nodes.open.pop_front() {
            let _ = write!(self.out, "!{} = ", self.nodes.given[&number]);
            let text = self.module.nodes.get(&number).copied().unwrap_or("!{}");
            match DROPPED.iter().find(|(node, _)| text.starts_with(node)) {
                Some((_, field)) => self.write(&without_field(text, field)),
                None => self.write(text),
            }
            self.out.push('\n');
        }
        let all = self.module.lists.get(COMPILE_UNITS).map_or(&[][..], Vec::as_slice);
        let here: Vec<u32> = all.iter().copied().filter(|unit| self.nodes.given.contains_key(unit)).collect();
        if !here.is_empty() {
            self.list(COMPILE_UNITS, here.into_iter());
        }
        self.out
    }

    fn list(&mut self, name: &str, nodes: impl Iterator<Item = u32>) {
        let nodes: Vec<String> = nodes.map(|node| format!("!{}", self.nodes.of(node))).collect();
        let _ = writeln!(self.out, "!{name} = !{{{}}}", nodes.join(", "));
    }
}

/// Fields of nodes that tell of what a part has not: how a node begins, and how the field does.
const DROPPED: [(&str, &str); 2] = [
    // It lists all variables of its crate.
    ("distinct !DICompileUnit(", "globals: !"),
    // It is another one when any line of the file is.
    ("!DIFile(", "checksumkind: CSK_MD5, checksum: "),
];

/// A node without a field, whose value has neither comma nor parenthesis.
fn without_field(text: &str, field: &str) -> String {
    let Some((before, behind)) = text.split_once(field) else { return text.to_owned() };
    let behind = &behind[behind.find([',', ')']).unwrap_or(behind.len())..];
    match behind.strip_prefix(", ") {
        Some(behind) => format!("{before}{behind}"),
        None => format!("{}{behind}", before.strip_suffix(", ").unwrap_or(before)),
    }
}

/// The nodes that a list has.
fn nodes(text: &str) -> impl Iterator<Item = u32> {
    references(text).filter_map(|(_, reference)| match reference {
        Reference::Node(number) => Some(number),
        _ => None,
    })
}

/// What `@name = …` is.
fn variable(line: &str) -> Kind {
    // What a string has is none of these words.
    let words = line.split(" = ").nth(1).unwrap_or_default();
    let is = |word: &str| {
        words.split([' ', '"']).take_while(|it| !it.starts_with(['[', '{', '<'])).any(|it| it == word)
    };
    let is_kernels = || words.contains("addrspace(3) ");
    match () {
        () if is("alias") || is("ifunc") => Kind::Alias,
        () if is_kernels() => Kind::OfKernel,
        () if (is("external") || is("extern_weak")) => Kind::Declared,
        () if is("constant") => Kind::Constant,
        () => Kind::Mutable,
    }
}

/// `text` with numbers of nodes and of groups that `before` has none of.
pub(super) fn numbered_behind(text: &str, before: &str) -> String {
    let (mut attributes, mut nodes) = (0, 0);
    for line in before.lines().filter(|line| line.starts_with(['!', 'a'])) {
        match references(line).next() {
            Some((_, Reference::Attributes(number))) => attributes = attributes.max(number + 1),
            Some((range, Reference::Node(number))) if range.start == 0 => nodes = nodes.max(number + 1),
            _ => {}
        }
    }
    let mut out = String::with_capacity(text.len());
    replaced(text, &mut out, |reference| match reference {
        Reference::Attributes(number) => Some(format!("#{}", attributes + number)),
        Reference::Node(number) => Some(format!("!{}", nodes + number)),
        _ => None,
    });
    out
}
