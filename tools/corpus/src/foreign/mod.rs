//! `cargo xtask corpus foreign`: programs that others' compilers and libraries bring, through what
//! `cargo amdinst run` does, their results compared with implementations of ours on the host.

mod bytes;
mod case;
mod hip;
mod library;
mod rocrand;
mod session;
mod tally;
mod triton;

use std::path::PathBuf;

use amdinst_emu::Config;
use anyhow::{Result, bail};

use session::Session;

/// Where programs come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Source {
    /// HIP, and OpenCL C, compiled by clang-22 at -O0 to -O3 (apt-get install clang-22 lld-22)
    Hip,
    /// rocRAND, the library (apt-get install librocrand1)
    Rocrand,
    /// Triton (PyPI), which compiles without a GPU; see --python
    Triton,
}

impl Source {
    const ALL: [Self; 3] = [Self::Hip, Self::Rocrand, Self::Triton];

    const fn name(self) -> &'static str {
        match self {
            Self::Hip => "hip",
            Self::Rocrand => "rocrand",
            Self::Triton => "triton",
        }
    }
}

/// Options of `cargo xtask corpus foreign`.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(after_help = "\
Each kernel is launched as `cargo amdinst run` launches it, with real arguments, and what it leaves in each buffer is
compared with what a host implementation says. Buffers that it should only read must be unchanged.")]
pub(crate) struct Options {
    /// Only programs from here, may be repeated (default: all)
    #[arg(long, value_name = "SOURCE")]
    only: Vec<Source>,
    /// Only these processors, separated by commas (default: those that a source has and we take)
    #[arg(long, value_name = "CPU", value_delimiter = ',')]
    target_cpu: Vec<String>,
    /// Only launches whose name contains this
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Instrument each kernel as well: equal memory, and counters as the emulator counts, or refused by name
    #[arg(long)]
    instrument: bool,
    /// Look for data races, for barriers that some work-items do not reach, and for results that depend on
    /// what nothing has written
    #[arg(long)]
    check: bool,
    /// The Python that has Triton
    #[arg(long, value_name = "PATH", default_value = "python3")]
    python: PathBuf,
    /// Leave each launch's input files here, and print the commands that run it by hand
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Print each launch
    #[arg(short, long)]
    verbose: bool,
}

impl Options {
    /// The emulator's.
    fn config(&self) -> Config {
        let mut config = Config::default();
        config.check_races = self.check;
        config.strict_barriers = self.check;
        config
    }

    /// Whether a processor is wanted.
    fn takes_cpu(&self, cpu: &str) -> bool {
        self.target_cpu.is_empty() || self.target_cpu.iter().any(|wanted| wanted == cpu)
    }
}

/// Runs all that was asked for. `Ok(false)` when something differs.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let mut session = Session::new(options.clone())?;
    let sources = if options.only.is_empty() { &Source::ALL[..] } else { &options.only };
    for source in sources {
        match source {
            Source::Hip => hip::run(&mut session)?,
            Source::Rocrand => rocrand::run(&mut session)?,
            Source::Triton => triton::run(&mut session)?,
        }
    }
    let tally = session.finish();
    print!("{tally}");
    if tally.launches() == 0 {
        bail!("nothing was launched: no name or processor fits");
    }
    Ok(tally.failed() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a test run has time for; the rest is `cargo xtask corpus foreign`.
    #[test]
    fn kernels_that_clang_compiled() {
        if let Err(missing) = hip::tools() {
            let strict = std::env::var_os("AMDINST_REQUIRE_TOOLS").is_some_and(|value| value == "1");
            assert!(!strict, "{missing}");
            eprintln!("SKIPPED: kernels_that_clang_compiled: {missing}");
            return;
        }
        let options =
            Options { target_cpu: vec!["gfx90a".to_owned()], instrument: true, ..Options::default() };
        let mut session = Session::new(options).unwrap();
        hip::run_levels(&mut session, &["-O0", "-O2"]).unwrap();
        let tally = session.finish();
        print!("{tally}");
        assert_eq!(tally.failed(), 0);
        assert!(tally.launches() > 60, "only {} launches", tally.launches());
    }

    #[test]
    fn kernels_of_rocrand() {
        let options = Options { target_cpu: vec!["gfx90a".to_owned()], ..Options::default() };
        let mut session = Session::new(options).unwrap();
        if let Err(missing) = rocrand::run(&mut session) {
            let strict = std::env::var_os("AMDINST_REQUIRE_TOOLS").is_some_and(|value| value == "1");
            assert!(!strict, "{missing}");
            eprintln!("SKIPPED: kernels_of_rocrand: {missing}");
            return;
        }
        let tally = session.finish();
        print!("{tally}");
        assert_eq!((tally.launches(), tally.failed()), (74, 0));
    }
}
