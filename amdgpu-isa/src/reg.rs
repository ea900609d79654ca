//! Registers and sets of them.

use std::fmt;

use super::{Generation, Operand, Value, scalar};

/// A 32-bit register, or one of the two states that instructions use like one (SCC, MODE).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reg(u16);

/// First VGPR in the numbering of [`Reg`]; scalars stand before.
const VGPR: u16 = scalar::COUNT as u16;
const AGPR: u16 = VGPR + 256;
const SCC: u16 = AGPR + 256;
const MODE: u16 = SCC + 1;
/// Registers in all.
const COUNT: usize = MODE as usize + 1;

impl Reg {
    /// The scalar condition code.
    pub const SCC: Self = Self(SCC);
    /// MODE and the other registers behind `s_getreg_b32`/`s_setreg_b32`.
    pub const MODE: Self = Self(MODE);
    /// M0.
    pub const M0: Self = Self(scalar::M0 as u16);
    /// VCC's low half.
    pub const VCC_LO: Self = Self(scalar::VCC as u16);
    /// VCC's high half.
    pub const VCC_HI: Self = Self(scalar::VCC as u16 + 1);
    /// EXEC's low half.
    pub const EXEC_LO: Self = Self(scalar::EXEC as u16);
    /// EXEC's high half.
    pub const EXEC_HI: Self = Self(scalar::EXEC_HI as u16);

    /// A scalar register by its number (see [`scalar`]).
    ///
    /// # Panics
    /// When the number is above 127.
    pub const fn scalar(code: u8) -> Self {
        assert!(code < scalar::COUNT, "scalar registers have numbers below 128");
        Self(code as u16)
    }

    /// A vector register.
    pub const fn vgpr(number: u8) -> Self {
        Self(VGPR + number as u16)
    }

    /// An accumulation register.
    pub const fn agpr(number: u8) -> Self {
        Self(AGPR + number as u16)
    }

    /// The number, if this is a scalar register.
    pub const fn as_scalar(self) -> Option<u8> {
        if self.0 < VGPR { Some(self.0 as u8) } else { None }
    }

    /// The number, if this is an SGPR proper (s0 to s101 on GFX9).
    pub const fn as_sgpr(self) -> Option<u8> {
        if self.0 < scalar::FLAT_SCRATCH as u16 { Some(self.0 as u8) } else { None }
    }

    /// The number, if this is a VGPR.
    pub const fn as_vgpr(self) -> Option<u8> {
        if self.0 >= VGPR && self.0 < AGPR { Some((self.0 - VGPR) as u8) } else { None }
    }

    /// The number, if this is an AGPR.
    pub const fn as_agpr(self) -> Option<u8> {
        if self.0 >= AGPR && self.0 < SCC { Some((self.0 - AGPR) as u8) } else { None }
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.as_scalar(), self.as_vgpr(), self.as_agpr()) {
            (Some(code), _, _) => {
                f.write_str(&super::text::scalar_name(Generation::Gfx9.registers(), code, 1))
            }
            (_, Some(number), _) => write!(f, "v{number}"),
            (_, _, Some(number)) => write!(f, "a{number}"),
            _ if *self == Self::SCC => f.write_str("scc"),
            _ => f.write_str("mode"),
        }
    }
}

impl fmt::Debug for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

const WORDS: usize = COUNT.div_ceil(64);
/// The words of a set that hold VGPRs and AGPRs: no others do.
const FIRST_VECTOR: usize = VGPR as usize / 64;
const LAST_VECTOR: usize = SCC as usize / 64;
const _: () = assert!(VGPR.is_multiple_of(64) && SCC.is_multiple_of(64));

/// A set of registers: a fixed bit array, cheap to copy and to join.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct RegSet([u64; WORDS]);

impl RegSet {
    /// The empty set.
    pub const EMPTY: Self = Self([0; WORDS]);

    /// Every register.
    pub const fn all() -> Self {
        let mut words = [u64::MAX; WORDS];
        words[WORDS - 1] = u64::MAX >> (WORDS * 64 - COUNT);
        Self(words)
    }

    /// Adds a register; false if it was there.
    pub const fn insert(&mut self, reg: Reg) -> bool {
        let (word, bit) = Self::place(reg);
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }

    /// Adds `count` registers from `first` on.
    pub const fn insert_run(&mut self, first: Reg, count: u16) {
        let mut at = first.0 as usize;
        let end = if at + count as usize > COUNT { COUNT } else { at + count as usize };
        while at < end {
            let bit = at % 64;
            let here = if end - at < 64 - bit { end - at } else { 64 - bit };
            self.0[at / 64] |= u64::MAX >> (64 - here) << bit;
            at += here;
        }
    }

    /// The set as words, a bit for each register.
    pub const fn words(&self) -> &[u64; WORDS] {
        &self.0
    }

    /// Adds the registers of one word.
    pub const fn add_word(&mut self, word: usize, registers: u64) {
        self.0[word] |= registers;
    }

    /// Whether the sets share a scalar register.
    pub fn share_scalars(&self, other: &Self) -> bool {
        Self::share(&self.0[..FIRST_VECTOR], &other.0[..FIRST_VECTOR])
    }

    /// Whether the sets share a VGPR or AGPR.
    pub fn share_vectors(&self, other: &Self) -> bool {
        Self::share(&self.0[FIRST_VECTOR..LAST_VECTOR], &other.0[FIRST_VECTOR..LAST_VECTOR])
    }

    /// Whether there is a scalar register among them.
    pub fn has_scalars(&self) -> bool {
        self.0[..FIRST_VECTOR].iter().any(|&word| word != 0)
    }

    /// Whether there is a VGPR or AGPR among them.
    pub fn has_vectors(&self) -> bool {
        self.0[FIRST_VECTOR..LAST_VECTOR].iter().any(|&word| word != 0)
    }

    fn share(a: &[u64], b: &[u64]) -> bool {
        a.iter().zip(b).fold(0, |all, (a, b)| all | a & b) != 0
    }

    /// Removes a register; false if it was not there.
    pub const fn remove(&mut self, reg: Reg) -> bool {
        let (word, bit) = Self::place(reg);
        let had = self.0[word] & bit != 0;
        self.0[word] &= !bit;
        had
    }

    /// Whether a register is in the set.
    pub const fn contains(&self, reg: Reg) -> bool {
        let (word, bit) = Self::place(reg);
        self.0[word] & bit != 0
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        *self == Self::EMPTY
    }

    /// How many registers are in the set.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Adds every register of another set.
    pub fn union_with(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    /// Keeps only the registers that another set has too.
    pub fn intersect_with(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= other;
        }
    }

    /// Removes every register of another set.
    pub fn subtract(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= !other;
        }
    }

    /// Whether the sets share a register.
    pub fn intersects(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(word, other)| word & other != 0)
    }

    /// The registers: scalars, VGPRs, AGPRs, SCC, MODE, each by number.
    pub fn iter(&self) -> impl Iterator<Item = Reg> + '_ {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros();
                rest &= rest.checked_sub(1)?;
                Some(Reg((index * 64) as u16 + bit as u16))
            })
        })
    }

    const fn place(reg: Reg) -> (usize, u64) {
        (reg.0 as usize / 64, 1 << (reg.0 % 64))
    }
}

/// A set of scalar registers and SCC, which have one value for the whole wave.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct ScalarSet(u128);

/// SCC's bit: a number that no scalar register has.
const SCC_BIT: u16 = scalar::M0 as u16 + 1;

/// Highest SGPR that a program may use on every generation; on GFX9 FLAT_SCRATCH, XNACK_MASK and VCC are
/// behind it.
pub const LAST_SGPR: u8 = scalar::FLAT_SCRATCH - 1;

/// Highest scalar register that instructions may reach by number on any generation.
pub const LAST_BY_NUMBER: u8 = scalar::VCC - 1;

impl ScalarSet {
    /// The empty set.
    pub const EMPTY: Self = Self(0);
    /// EXEC alone.
    pub const EXEC: Self = Self(0b11 << scalar::EXEC);
    /// SCC alone.
    pub const SCC: Self = Self(1 << SCC_BIT);
    /// Every scalar register, and SCC.
    pub const ALL: Self = Self(u128::MAX);

    /// The scalars of a set.
    pub const fn of(set: &RegSet) -> Self {
        let registers = set.0[0] as u128 | (set.0[1] as u128) << 64;
        // No register has SCC's bit.
        let scc = if set.contains(Reg::SCC) { Self::SCC.0 } else { 0 };
        Self(registers & !Self::SCC.0 | scc)
    }

    /// One scalar register, by its number.
    pub const fn register(code: u8) -> Self {
        Self(1 << (code & (scalar::COUNT - 1)))
    }

    /// The SGPRs from this one on that instructions reach by number.
    pub const fn sgprs_from(first: u8) -> Self {
        let all = (1 << (LAST_BY_NUMBER + 1)) - 1;
        if first > LAST_BY_NUMBER { Self::EMPTY } else { Self(all & u128::MAX << first) }
    }

    /// The registers that operands name.
    pub fn named_by(operands: &[Operand]) -> Self {
        let mut all = RegSet::EMPTY;
        for operand in operands {
            if let Value::Scalar(first) = operand.value {
                all.insert_run(Reg::scalar(first), u16::from(operand.dwords).min(VGPR - u16::from(first)));
            }
        }
        Self::of(&all)
    }

    /// Whether a register is in the set; no vector register is.
    pub const fn contains(self, reg: Reg) -> bool {
        match Self::bit(reg) {
            Some(bit) => self.0 >> bit & 1 != 0,
            None => false,
        }
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The registers of either set.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The registers that the other set has not.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The registers of both sets.
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether the sets share a register.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// These registers, and the other one of each even pair that has one of them. SCC is in no pair.
    pub const fn with_pairs(self) -> Self {
        const EVEN: u128 = u128::MAX / 3;
        let registers = self.0 & !Self::SCC.0;
        Self(self.0 | ((registers & EVEN) << 1 & !Self::SCC.0) | registers >> 1 & EVEN)
    }

    /// A bit for each, by number.
    pub const fn bits(self) -> u128 {
        self.0
    }

    const fn bit(reg: Reg) -> Option<u16> {
        match reg.0 {
            code @ 0..VGPR => Some(code),
            SCC => Some(SCC_BIT),
            _ => None,
        }
    }
}

impl fmt::Debug for ScalarSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let registers = (0..VGPR).chain([SCC]).map(Reg).filter(|&reg| self.contains(reg) && reg.0 != SCC_BIT);
        f.debug_set().entries(registers).finish()
    }
}

impl FromIterator<Reg> for RegSet {
    fn from_iter<I: IntoIterator<Item = Reg>>(regs: I) -> Self {
        let mut set = Self::EMPTY;
        set.extend(regs);
        set
    }
}

impl Extend<Reg> for RegSet {
    fn extend<I: IntoIterator<Item = Reg>>(&mut self, regs: I) {
        for reg in regs {
            self.insert(reg);
        }
    }
}

impl fmt::Debug for RegSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
