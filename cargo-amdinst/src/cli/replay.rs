//! `cargo amdinst replay`: which archive, which of its launches, and what they are held against.

use std::path::PathBuf;

use amdinst_launch::language::Element;
use clap::Args;

use super::Format;
use super::launch::LimitArgs;

/// The heading over the options that choose launches.
const CHOOSING: &str = "Launches";

/// The heading over the options about the comparison with the GPU.
const COMPARING: &str = "Comparison with the GPU";

/// `cargo amdinst replay`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
An archive is a folder that ROCm's HIP Record & Replay wrote (HIP_HRR_CAPTURE_OUTPUT=DIR, format version 3), of one process or with a
folder pid-* for each, or one of kerncap. It is only read.

Launches that come before a chosen one run as well, without counters, for they leave the memory that it finds. What follows the
last chosen one is left out.")]
pub struct ReplayArgs {
    /// The folder with the recorded run
    #[arg(value_name = "ARCHIVE")]
    pub archive: PathBuf,
    /// List the launches, and run nothing
    #[arg(long)]
    pub list: bool,
    /// Only launches of this kernel; may be repeated [default: all]
    #[arg(long, value_name = "K", help_heading = CHOOSING)]
    pub kernel: Vec<String>,
    /// Only this launch, by its number in --list; may be repeated
    #[arg(long, value_name = "N", help_heading = CHOOSING)]
    pub launch: Vec<u64>,
    /// Only launches from this number on
    #[arg(long, value_name = "N", help_heading = CHOOSING)]
    pub from: Option<u64>,
    /// Only launches up to this number
    #[arg(long, value_name = "N", help_heading = CHOOSING)]
    pub to: Option<u64>,
    /// Run this many workgroups of a larger launch: the first, the last and some between. Its results are not
    /// compared
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = CHOOSING)]
    pub sample_workgroups: Option<u64>,
    /// The type of the elements that are compared: u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32 or
    /// f64 [default: bytes]
    #[arg(long = "as", value_name = "TYPE", value_parser = element, help_heading = COMPARING)]
    pub element: Option<Element>,
    /// With --as and a type of floats: units in the last place that they may differ by
    #[arg(long, value_name = "N", default_value_t = 0, requires = "element", help_heading = COMPARING)]
    pub ulp: u64,
    /// Exit code 1 if a copy differs from the GPU's, 8 if one cannot be compared or a call is not replayed
    #[arg(long, help_heading = COMPARING)]
    pub strict: bool,
    /// Run the original kernels alone, without their instrumented forms: no counters, half the time
    #[arg(long)]
    pub original: bool,
    /// How it runs on the emulator.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// How to print
    #[arg(long, value_name = "FMT", default_value = "human")]
    pub format: Format,
}

/// A type by its name.
fn element(name: &str) -> Result<Element, String> {
    Element::named(name).ok_or_else(|| format!("expected: {}", Element::NAMES))
}
