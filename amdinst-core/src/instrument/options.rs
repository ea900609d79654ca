//! What the caller asks of the instrumenter.
//!
//! # Where the kernel finds the buffer
//! With [`Abi::Argument`] an 8-byte kernel argument is appended after all others, hidden ones included, at
//! the next multiple of 8. Descriptor and note grow by it. The note names it `amdinst_buffer` (kind
//! `global_buffer`). Kernels that need no header get `amdinst_strides` behind it, by value
//! ([`counters`](amdinst_format::counters)).
//!
//! With [`Abi::Global`] the code object has a variable instead: `__amdinst_buffer`, 8 bytes, a global
//! protected object in `.dynsym` and `.symtab`. Arguments, kernarg size and note stay as they are, and no
//! kernarg pointer is asked for. Prologues find the variable from the program counter. The launcher sets it
//! when the code object is loaded (`hipModuleGetGlobal`, `hsa_executable_get_symbol_by_name`; on the emulator
//! `Program::variable`). It holds for every launch after that, so launches that count apart must not overlap.
//! The variable stands in the last words of an empty buffer of one record, in zeroed writable memory
//! (`.bss.amdinst`). While it is zero, all waves count in that record, whose contents mean nothing.

use serde::{Deserialize, Serialize};

use super::selector::SiteSelector;
pub use crate::counters::Probe;
pub use amdinst_format::probes::{
    BUFFER_ARGUMENT, BUFFER_SYMBOL, Home, Level, ProbeKind, ProbeSpec, STRIDES_ARGUMENT,
};

/// Which home to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counters {
    /// The first of `register`, `lds` and `global` that fits without lowering occupancy. `lds` only if the
    /// kernel itself reaches no LDS: then no launch can ask for more than is left.
    #[default]
    Auto,
    /// Always `register`; kernels it does not fit are refused.
    Register,
    /// Always `lds`; kernels it does not fit are refused.
    Lds,
    /// Always `global`.
    Global,
    /// For evaluations alone: what those of 2022 were measured against, the readings of the clock and nothing
    /// that counts. With [`Probe::Time`]. The buffer holds no records of ours.
    SeedClock,
    /// For evaluations alone: the scheme of 2022 with counters in LDS, two a site, and readings of the clock.
    /// The buffer holds no records of ours.
    SeedLds,
    /// For evaluations alone: the same with counters in memory.
    SeedGlobal,
}

impl From<Home> for Counters {
    fn from(home: Home) -> Self {
        match home {
            Home::Register => Self::Register,
            Home::Lds => Self::Lds,
            Home::Global => Self::Global,
        }
    }
}

/// How a kernel learns where the counter buffer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Abi {
    /// By one more argument, after all others.
    #[default]
    Argument,
    /// By a variable of the device, [`BUFFER_SYMBOL`], 8 bytes, which the launcher sets once the code object
    /// is loaded. The arguments stay as they are. While the variable is zero, all waves count in one place,
    /// which nobody reads.
    Global,
}

/// What to instrument, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The subject of the measurement.
    pub probe: Probe,
    /// Counter home.
    pub counters: Counters,
    /// How kernels learn where the buffer is.
    pub abi: Abi,
    /// Counters a site.
    pub level: Level,
    /// Only the kernels of these names; all if `None`.
    pub kernels: Option<Vec<String>>,
    /// Probes of the kernel crate's source, to be matched with sites.
    pub probes: Vec<ProbeSpec>,
    /// Only the sites, or blocks, that any of these selects, within the kernels chosen; all if there are
    /// none.
    pub only: Vec<SiteSelector>,
    /// Whether code that formats text ([`formats_text`](super::formats_text)) stays as it is, unless `only`
    /// selects of it.
    pub skips_formatting: bool,
    /// At most so many VGPRs are taken that nothing uses; no limit if `None`. So any kernel is instrumented
    /// as those are that leave as few.
    pub spare_vgprs: Option<u8>,
    /// At most so many SGPRs are taken that nothing uses; no limit if `None`. Tests use it to have kernels
    /// with few free SGPRs.
    pub spare_sgprs: Option<u8>,
}
