//! The distinct instructions of a code object.
//!
//! Kernels are instances of a few templates, and repeat themselves: of ten instructions nine have the same
//! bytes as some other (rocSPARSE for gfx90a). So each is decoded once, and what its bytes alone tell is kept
//! with it.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use amdgpu_isa::{DecodeError, Effects, Inst, Target, decode, significant_bytes};
use rustc_hash::FxHashMap;

use super::{Observer, Scalars, Shape};
use crate::hash::FACTOR;

/// An instruction, wherever it stands.
#[derive(Clone, Debug)]
struct Form {
    inst: Inst,
    /// What it does. That is large, and seldom asked for again.
    effects: OnceLock<Box<Effects>>,
    /// How it is written, which is seldom asked for.
    text: OnceLock<Arc<str>>,
}

/// All forms of a processor that programs had, by number.
#[derive(Clone, Debug)]
pub(crate) struct Forms {
    target: Target,
    list: Vec<Form>,
    /// What is asked for of every instruction stands apart from what is seldom asked for.
    shapes: Vec<Shape>,
    /// What each does with scalar registers.
    scalars: Vec<Scalars>,
    /// The last function that each was found in, plus one; those of programs before count, too.
    last_seen: Vec<u32>,
    /// Functions of programs before this one, and those with this one's.
    functions: (u32, u32),
    /// Numbers of the instructions that their first dword tells apart.
    dwords: FxHashMap<u64, u32>,
    /// Numbers of the instructions that their first two dwords tell apart.
    pairs: FxHashMap<u64, u32>,
    /// Where what was found lately is found sooner.
    recent: Recent,
}

/// A place for each of many forms that were found lately, by the dwords that tell them. One takes the place
/// of another.
#[derive(Clone, Debug, Default)]
struct Recent {
    dwords: Vec<Place>,
    pairs: Vec<Place>,
}

/// Dwords, and the number of the form that they tell, plus one.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    key: u64,
    form: u32,
}

impl Recent {
    /// log2 of the places: about as many as most code objects have forms.
    const BITS: u32 = 12;

    /// Makes room, if there is none yet.
    fn prepare(&mut self) {
        self.dwords.resize(1 << Self::BITS, Place::default());
        self.pairs.resize(1 << Self::BITS, Place::default());
    }

    fn clear(&mut self) {
        self.dwords.clear();
        self.pairs.clear();
    }

    /// The form that two dwords, or the first of them, tell.
    fn find(&self, pair: u64) -> Option<u32> {
        let first = u64::from(pair as u32);
        let places = [(&self.dwords, first), (&self.pairs, pair)];
        places.into_iter().find_map(|(places, key)| {
            let place = places[Self::place(key)];
            if place.key == key { place.form.checked_sub(1) } else { None }
        })
    }

    fn place(key: u64) -> usize {
        (key.wrapping_mul(FACTOR) >> (u64::BITS - Self::BITS)) as usize
    }

    fn note(places: &mut [Place], key: u64, form: u32) {
        places[Self::place(key)] = Place { key, form: form + 1 };
    }
}

impl Forms {
    pub(crate) fn new(target: Target) -> Self {
        Self {
            target,
            list: Vec::new(),
            shapes: Vec::new(),
            scalars: Vec::new(),
            last_seen: Vec::new(),
            functions: (0, 0),
            dwords: HashMap::default(),
            pairs: HashMap::default(),
            recent: Recent::default(),
        }
    }

    /// Before any is looked for: those of a program with so many functions are next.
    pub(super) fn begin(&mut self, functions: usize) {
        self.recent.prepare();
        let before = self.functions.1;
        self.functions = (before, before.saturating_add(functions as u32));
    }

    /// Forgets all of them, but not the room that they took.
    pub(super) fn clear(&mut self) {
        let Self { target: _, list, shapes, scalars, last_seen, functions, dwords, pairs, recent } = self;
        list.clear();
        shapes.clear();
        scalars.clear();
        last_seen.clear();
        *functions = (0, 0);
        dwords.clear();
        pairs.clear();
        recent.clear();
    }

    /// The number of the form at the start of `bytes`, which may go on to the end of the section.
    ///
    /// # Errors
    /// [`DecodeError`], as of [`decode`].
    pub(super) fn find(&mut self, bytes: &[u8], observer: &mut impl Observer) -> Result<u32, DecodeError> {
        let pair = bytes.first_chunk().map(|pair| u64::from_le_bytes(*pair));
        match pair.and_then(|pair| self.recent.find(pair)) {
            Some(known) => Ok(known),
            None => self.look_up(bytes, pair, observer),
        }
    }

    /// Finds an instruction that was not found lately. `pair` is its first two dwords.
    #[inline(never)]
    fn look_up(
        &mut self,
        bytes: &[u8],
        pair: Option<u64>,
        observer: &mut impl Observer,
    ) -> Result<u32, DecodeError> {
        let first = bytes.first_chunk().map(|first| u64::from(u32::from_le_bytes(*first)));
        // Nearly all encodings that begin with two ones have two dwords. Which is looked for first does not
        // matter to what is found.
        let begins_pair = first.is_some_and(|first| first >> 30 == 0b11);
        for in_pairs in [begins_pair, !begins_pair] {
            let (key, numbers, recent) = match in_pairs {
                true => (pair, &self.pairs, &mut self.recent.pairs),
                false => (first, &self.dwords, &mut self.recent.dwords),
            };
            if let Some((key, &known)) = key.and_then(|key| Some((key, numbers.get(&key)?))) {
                Recent::note(recent, key, known);
                return Ok(known);
            }
        }
        let inst = decode(self.target, bytes)?;
        let number = self.list.len() as u32;
        match (significant_bytes(self.target, bytes, &inst), first, pair) {
            (4, Some(first), _) => {
                self.dwords.insert(first, number);
                Recent::note(&mut self.recent.dwords, first, number);
            }
            (8, _, Some(pair)) => {
                self.pairs.insert(pair, number);
                Recent::note(&mut self.recent.pairs, pair, number);
            }
            _ => {}
        }
        let effects = inst.effects(self.target);
        observer.form(&inst, &effects);
        let (shape, scalars) = Shape::new(number, &inst, &effects);
        self.shapes.push(shape);
        self.scalars.push(scalars);
        self.last_seen.push(0);
        self.list.push(Form { inst, effects: OnceLock::new(), text: OnceLock::new() });
        Ok(number)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// A form with its operands.
    pub(super) fn inst(&self, number: u32) -> &Inst {
        &self.list[number as usize].inst
    }

    /// What a form does.
    pub(super) fn effects(&self, number: u32) -> &Effects {
        let form = &self.list[number as usize];
        form.effects.get_or_init(|| Box::new(form.inst.effects(self.target)))
    }

    /// How a form is written.
    pub(super) fn text(&self, number: u32) -> &Arc<str> {
        let form = &self.list[number as usize];
        form.text.get_or_init(|| form.inst.text(self.target).into())
    }

    /// What the analyses ask of a form.
    pub(super) fn shape(&self, number: u32) -> &Shape {
        &self.shapes[number as usize]
    }

    /// What a form does with scalar registers.
    pub(super) fn scalars(&self, number: u32) -> &Scalars {
        &self.scalars[number as usize]
    }

    /// Whether a form was not yet found in this function, the last that any was found in. Notes that it was.
    pub(super) fn is_new_in(&mut self, function: usize, number: u32) -> bool {
        let seen = self.functions.0 + function as u32 + 1;
        std::mem::replace(&mut self.last_seen[number as usize], seen) != seen
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use amdgpu_isa::Arch;

    use super::*;

    /// First dwords of which the next tell what they are, or whether they are anything.
    const OPEN: [u32; 8] = [
        // v_nop and v_clrexcp with the marks of SDWA and DPP in place of a source.
        0x7e00_00f9,
        0x7e00_00fa,
        0x7e00_6af9,
        // v_mov_b32_sdwa, s_add_u32 with a literal, v_add_f32 with a literal.
        0x7e00_02f9,
        0x8000_ff00,
        0x0202_00ff,
        // Scales, and a matrix instruction that may stand behind them.
        0xd3ac_0000,
        0xd3ad_0000,
    ];

    fn dword() -> impl Strategy<Value = u32> {
        prop_oneof![prop::sample::select(&OPEN[..]), Just(0), Just(0xbf80_0000), any::<u32>()]
    }

    proptest! {
        /// A form that was found before some bytes is found again before others only where they decode to the
        /// same.
        #[test]
        fn what_stands_behind_does_not_matter(
            arch in prop::sample::select(&Arch::ALL[..]),
            code in prop::collection::vec(dword(), 1..40),
        ) {
            let bytes: Vec<u8> = code.iter().flat_map(|dword| dword.to_le_bytes()).collect();
            let mut forms = Forms::new(arch.into());
            forms.begin(1);
            for start in (0..bytes.len()).step_by(4) {
                let bytes = &bytes[start..];
                match (forms.find(bytes, &mut ()), decode(arch, bytes)) {
                    (Ok(form), Ok(inst)) => prop_assert_eq!(forms.inst(form), &inst),
                    (found, decoded) => prop_assert_eq!(found.err(), decoded.err()),
                }
            }
        }
    }

    #[test]
    fn the_same_bytes_are_one_form() {
        let bytes = [0xbf80_0000_u32, 0x7e00_0301, 0xbf80_0000].map(u32::to_le_bytes).concat();
        let mut forms = Forms::new(Arch::Gfx90a.into());
        forms.begin(2);
        let [a, b, c] = [0, 4, 8].map(|start| forms.find(&bytes[start..], &mut ()).expect("an instruction"));
        assert_eq!((a, c, forms.len()), (0, 0, 2));
        assert!(
            forms.is_new_in(0, a) && !forms.is_new_in(0, a) && forms.is_new_in(1, a) && forms.is_new_in(1, b)
        );
    }
}
