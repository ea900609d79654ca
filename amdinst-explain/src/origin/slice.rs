//! The instructions that a value depends on, as far back as is asked.

use std::collections::{HashMap, HashSet};

use amdgpu_isa::{NumberKind, Op, Reg};
use amdinst_emu::trace::Moment;
use amdinst_format::report::value_step::ValueStep;

use super::meaning::shown;
use super::rerun::{Lost, Rerun};
use super::source::{Made, Source, is_move};

/// What two executions are compared by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// A value that was computed on a line.
    Value(Line, u32),
    /// An operation on a line, whose results are vector registers or scalar ones.
    Work(Line, Op, bool),
    /// Something was loaded on a line, or taken from another lane.
    From(Line),
    /// The place that it was taken from: the allocation and the offset in it, or the work-item.
    Place(Line, String, u64),
}

/// The file's own name, for the two may have been compiled in different directories, and the line.
type Line = (Option<String>, Option<u32>);

/// The last part of a path.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// A value of the slice.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) made: Made,
    key: Key,
    /// What made it; `None` of a word that is no instruction.
    work: Option<Key>,
    /// What it was made from: other nodes. `None` where nobody has asked.
    pub(super) inputs: Option<Vec<usize>>,
    /// What it found its place in memory by.
    pub(super) addresses: Vec<usize>,
    /// The line and the place, if it was loaded or comes from another lane.
    from: Option<[Key; 2]>,
    /// How far it is behind a value that the other execution has, too.
    pub(super) behind: u32,
}

/// The values that one value depends on.
#[derive(Debug, Default)]
pub(super) struct Slice {
    pub(super) nodes: Vec<Node>,
    known: HashMap<(Moment, Reg), usize>,
    /// All that stands in it.
    keys: HashSet<Key>,
    /// Nodes by what made them.
    works: HashMap<Key, Vec<usize>>,
}

impl Slice {
    /// The slice of a value.
    pub(super) fn of(rerun: &Rerun<'_>, root: Made) -> Self {
        let mut slice = Self::default();
        slice.add(rerun, root, 0);
        slice
    }

    /// Adds a value that is so far behind one that the other execution has, too. Returns its node.
    pub(super) fn add(&mut self, rerun: &Rerun<'_>, made: Made, behind: u32) -> usize {
        if let Some(known) = self.known.get(&(made.at, made.reg)) {
            let node = &mut self.nodes[*known];
            node.behind = node.behind.min(behind);
            return *known;
        }
        let place = rerun.location(&made.step);
        let line = (place.file.map(|file| file_name(&file).to_owned()), place.line);
        let from = rerun.taken_from(&made).map(|(allocation, offset)| {
            [Key::From(line.clone()), Key::Place(line.clone(), allocation, offset)]
        });
        self.keys.extend(from.iter().flatten().cloned());
        let is_scalar = made.reg.as_vgpr().or(made.reg.as_agpr()).is_none();
        let work = made.step.inst.as_ref().map(|inst| Key::Work(line.clone(), inst.op, is_scalar));
        if let Some(work) = &work {
            self.works.entry(work.clone()).or_default().push(self.nodes.len());
        }
        let key = Key::Value(line, made.value);
        self.keys.insert(key.clone());
        self.known.insert((made.at, made.reg), self.nodes.len());
        self.nodes.push(Node { made, key, work, inputs: None, addresses: Vec::new(), from, behind });
        self.nodes.len() - 1
    }

    /// Looks at what a node was made from, which is so far behind a value that the other execution has, too.
    pub(super) fn expand(&mut self, rerun: &mut Rerun<'_>, index: usize, behind: u32) -> Result<(), Lost> {
        if self.nodes[index].inputs.is_some() {
            return Ok(());
        }
        let made = self.nodes[index].made.clone();
        let found = rerun.inputs(&made)?;
        let mut add = |sources: Vec<Source>| -> Vec<usize> {
            let made = sources.into_iter().filter_map(|source| match source {
                Source::Made(made) => Some(made),
                Source::Memory | Source::Register => None,
            });
            made.map(|made| self.add(rerun, made, behind)).collect()
        };
        let (inputs, addresses) = (add(found.values), add(found.addresses));
        let node = &mut self.nodes[index];
        (node.inputs, node.addresses) = (Some(inputs), addresses);
        Ok(())
    }

    /// Whether a node is a constant in a register: compilers have it on any line.
    pub(super) fn is_constant(&self, index: usize) -> bool {
        let node = &self.nodes[index];
        let is_move = node.made.step.inst.as_deref().is_some_and(is_move);
        is_move && node.inputs.as_ref().is_some_and(Vec::is_empty)
    }

    /// Whether another execution lacks a node's value. Where both do the same operation on that line as
    /// often, the values of each time are compared; else any value of that line is.
    pub(super) fn lacks(&self, index: usize, other: &Self) -> bool {
        let node = &self.nodes[index];
        let times = |slice: &Self| {
            let mut nodes = slice.works.get(node.work.as_ref()?).cloned()?;
            nodes.sort_by_key(|index| {
                let Moment { wave, lane, number } = slice.nodes[*index].made.at;
                (wave, lane, number)
            });
            Some(nodes)
        };
        if let (Some(own), Some(others)) = (times(self), times(other))
            && own.len() == others.len()
            && let Some(time) = own.iter().position(|own| *own == index)
        {
            return other.nodes[others[time]].made.value != node.made.value;
        }
        !other.keys.contains(&node.key)
    }

    /// The nodes that a node's value may differ by from that of another execution: its inputs and, if the
    /// other one takes something else on that line, its addresses. The lane that a value is taken from needs
    /// no reason where the waves of the two have different sizes.
    pub(super) fn causes(&self, index: usize, other: &Self, same_waves: bool) -> Vec<usize> {
        let node = &self.nodes[index];
        let is_elsewhere =
            |[line, place]: &[Key; 2]| other.keys.contains(line) && !other.keys.contains(place);
        let is_elsewhere = node.from.as_ref().is_some_and(is_elsewhere);
        let inputs = node.inputs.as_deref().unwrap_or_default();
        match (is_elsewhere, node.made.step.from_lane.is_some()) {
            (false, _) => inputs.to_vec(),
            (true, true) if !same_waves => Vec::new(),
            (true, true) => node.addresses.clone(),
            (true, false) => inputs.iter().chain(&node.addresses).copied().collect(),
        }
    }

    /// What is told of a node; its number is of this kind where the instructions do not tell.
    pub(super) fn step(&self, rerun: &Rerun<'_>, index: usize, otherwise: NumberKind) -> ValueStep {
        let made = &self.nodes[index].made;
        let (work_item, workgroup) = rerun.work_item(made.at);
        ValueStep {
            location: rerun.location(&made.step),
            instruction: made.step.text.trim().to_owned(),
            value: self.shown(rerun, index, otherwise),
            work_item,
            workgroup,
        }
    }

    /// A node's value as people read it.
    pub(super) fn shown(&self, rerun: &Rerun<'_>, index: usize, otherwise: NumberKind) -> String {
        let kind = Some(self.kind(rerun, index)).filter(|kind| kind.is_float());
        shown(kind.unwrap_or(otherwise), self.nodes[index].made.value)
    }

    /// Which kind of number a node's value is: that of the nearest instruction which says so.
    pub(super) fn kind(&self, rerun: &Rerun<'_>, index: usize) -> NumberKind {
        let mut at = index;
        for _ in 0..self.nodes.len().min(16) {
            let node = &self.nodes[at];
            let kind = node.made.step.inst.as_ref().map(|inst| inst.numbers(rerun.target()).result);
            if let Some(kind) = kind.filter(|kind| kind.is_float()) {
                return kind;
            }
            match node.inputs.as_deref().and_then(<[usize]>::first) {
                Some(first) => at = *first,
                None => break,
            }
        }
        NumberKind::Bits32
    }
}
