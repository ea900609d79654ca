//! What was asked of the instrumenter, as far as readers of counters must know it.

use serde::{Deserialize, Serialize};

/// Where counters live while a kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Home {
    /// In SGPRs (or lanes of a VGPR) that neither the kernel nor any function it reaches uses; written to
    /// memory once, before each `s_endpgm`.
    Register,
    /// In LDS, in an image of the wave's record, by one `ds_add_u32` a site execution; written to memory
    /// once, before each `s_endpgm`.
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

/// The variable of `Abi::Global`.
pub const BUFFER_SYMBOL: &str = "__amdinst_buffer";

/// The argument that has the counter buffer's address, with `Abi::Argument`.
pub const BUFFER_ARGUMENT: &str = "amdinst_buffer";

/// The argument behind it, of kernels that are told where records are
/// ([`Layout::argument`](crate::counters::Layout::argument)).
pub const STRIDES_ARGUMENT: &str = "amdinst_strides";
