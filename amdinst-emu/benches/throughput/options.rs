//! The command line: by hand, since cargo adds arguments of its own.

use std::path::PathBuf;

use amdinst_emu::Vectors;

pub(crate) const USAGE: &str = "\
cargo bench -p amdinst-emu [-- OPTIONS] [KERNEL ...]

  --test           small sizes, each kernel once at every level: do they work?
  --repeat N       take the best of N runs (5)
  --check-races    look for data races in every launch
  --deterministic  what it costs, on all cores, to give one result whatever the number of threads, of kernels that race, too
  --vectors LEVEL  baseline, avx2 or avx512 (all that the host has)
  --target-cpu CPU the processor that kernels are compiled for (gfx90a); those that it has no instructions for are left out
  --wave-size N    32 or 64 lanes (the processor's default)
  --flush-subnormals  kernels that flush single subnormals
  --json FILE      write the figures there as well
";

pub(crate) struct Options {
    pub(crate) short: bool,
    pub(crate) repeat: u32,
    /// Data races are looked for.
    pub(crate) check_races: bool,
    /// Launches in which workgroups that race run in order are compared with others.
    pub(crate) deterministic: bool,
    pub(crate) levels: Vec<Vectors>,
    pub(crate) cpu: String,
    /// `32` or `64`, if not the processor's default.
    pub(crate) wave_size: Option<String>,
    /// Kernels flush single subnormals.
    pub(crate) flush_subnormals: bool,
    pub(crate) json: Option<PathBuf>,
    /// Kernels to run; empty for all.
    pub(crate) kernels: Vec<String>,
}

impl Options {
    /// `Ok(None)`: help was asked for.
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let mut options = Self {
            short: false,
            repeat: 5,
            check_races: false,
            deterministic: false,
            levels: Vectors::ALL.to_vec(),
            cpu: "gfx90a".to_owned(),
            wave_size: None,
            flush_subnormals: false,
            json: None,
            kernels: Vec::new(),
        };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                // Cargo says that it is `cargo bench`.
                "--bench" => {}
                "--test" => options.short = true,
                "--check-races" => options.check_races = true,
                "--deterministic" => options.deterministic = true,
                "--repeat" => {
                    options.repeat = value()?.parse().map_err(|error| format!("--repeat: {error}"))?;
                }
                "--vectors" => {
                    let name = value()?;
                    let level = Vectors::of_name(&name);
                    options.levels = vec![level.ok_or(format!("--vectors {name}: no such level"))?];
                }
                "--target-cpu" => options.cpu = value()?,
                "--wave-size" => options.wave_size = Some(value()?),
                "--flush-subnormals" => options.flush_subnormals = true,
                "--json" => options.json = Some(value()?.into()),
                "--help" | "-h" => return Ok(None),
                _ if argument.starts_with('-') => return Err(format!("{argument}: no such option")),
                _ => options.kernels.push(argument),
            }
        }
        Ok(Some(options))
    }
}
