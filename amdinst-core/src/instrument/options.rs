//! What the caller asks of the instrumenter.

use serde::{Deserialize, Serialize};

use super::select::SiteSelector;
pub use crate::counters::Probe;

/// Where counters live while a kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Home {
    /// In SGPRs (or lanes of a VGPR) that neither the kernel nor any function it reaches uses; written to memory once,
    /// before each `s_endpgm`.
    Register,
    /// In LDS, in an image of the wave's record, by one `ds_add_u32` a site execution; written to memory once, before each
    /// `s_endpgm`.
    Lds,
    /// In the wave's record in memory, by one `global_atomic_add` a site execution.
    Global,
}

impl Home {
    /// Every home, cheapest first.
    pub const ALL: [Self; 3] = [Self::Register, Self::Lds, Self::Global];

    /// The name used on the command line and in file names.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Register => "register",
            Self::Lds => "lds",
            Self::Global => "global",
        }
    }
}

/// Which home to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counters {
    /// The first that fits without lowering occupancy, of `register`, `lds` (where the kernel itself reaches no LDS, so that
    /// no launch can ask for more than there is left) and `global`.
    #[default]
    Auto,
    /// Always `register`; kernels it does not fit are refused.
    Register,
    /// Always `lds`; kernels it does not fit are refused.
    Lds,
    /// Always `global`.
    Global,
    /// For evaluations alone: what those of 2022 were measured against, the readings of the clock and nothing that counts. With
    /// [`Probe::Time`]. The buffer holds no records of ours.
    SeedClock,
    /// For evaluations alone: the scheme of 2022 with counters in LDS, two a site, and readings of the clock. The buffer holds no
    /// records of ours.
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
    /// By a variable of the device, [`BUFFER_SYMBOL`], 8 bytes, which the launcher sets once the code object is loaded. The
    /// arguments stay as they are. While the variable is zero, all waves count in one place, which nobody reads.
    Global,
}

/// The variable of [`Abi::Global`].
pub const BUFFER_SYMBOL: &str = "__amdinst_buffer";

/// The argument that has the counter buffer's address, with [`Abi::Argument`].
pub const BUFFER_ARGUMENT: &str = "amdinst_buffer";

/// The argument behind it, of kernels that are told where records are ([`Layout::argument`](crate::counters::Layout::argument)).
pub const STRIDES_ARGUMENT: &str = "amdinst_strides";

/// How much each site counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Of a site `executions`, `all` and `none`, of a block `executions`; the sums of lanes stay zero.
    Basic,
    /// All five counters of a site, both of a block.
    #[default]
    Lanes,
}

/// What source construct a `#[probe]` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeKind {
    /// A whole kernel.
    Kernel,
    /// A whole device function.
    Function,
    /// An `if` or `if let`.
    If,
    /// A `match`.
    Match,
    /// A `while` or `while let`.
    While,
    /// A `for`.
    For,
    /// A `loop`.
    Loop,
}

/// A `#[probe]` in the source of a kernel crate.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProbeSpec {
    /// Its name: `#[probe("name")]`, or one made from its place.
    pub name: String,
    /// What it stands on.
    pub kind: ProbeKind,
    /// Source file, as the compiler names it or a suffix of that (whole path components).
    pub file: String,
    /// First line of the construct, from 1.
    pub line: u32,
    /// Its first column, from 1.
    pub column: u32,
    /// Its last line.
    pub end_line: u32,
    /// The column after its last character.
    pub end_column: u32,
    /// The function it stands in, as written.
    pub function: String,
}

/// What to instrument, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What is measured.
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
    /// Only the sites, or blocks, that any of these selects, within the kernels chosen; all if there are none.
    pub only: Vec<SiteSelector>,
    /// At most so many VGPRs are taken that nothing uses; no limit if `None`. So any kernel is instrumented as those are that
    /// leave as few.
    pub spare_vgprs: Option<u8>,
    /// The same for SGPRs.
    pub spare_sgprs: Option<u8>,
}
