//! `cargo xtask libraries`: AMD's own tests of the ROCm libraries, on the emulator.
//!
//! Debian 13 has the test programs as packages, and the HIP runtime that they were built for; they are
//! unpacked below `target/`. Neither root, nor a HIP runtime of this machine's, nor a GPU is needed.
//!
//! A run is good if every test that a program lists has passed or been left out by the program itself, or, if
//! one asks for that, has found no time. Whatever else becomes of a test or of a program has a name in the
//! table.

mod lines;
mod outcome;
mod program;
mod saved;
mod table;
mod tree;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use program::{Limits, Program, Results};
use saved::Saved;
use tree::Tree;

/// A library, and its tests in Debian 13.
#[derive(Clone, Copy, Debug)]
struct Library {
    name: &'static str,
    /// The package with its test programs, which it puts into a directory of that name.
    package: &'static str,
    /// Packages with files that the programs read.
    data: &'static [&'static str],
}

const LIBRARIES: [Library; 9] = [
    Library { name: "rocRAND", package: "librocrand1-tests", data: &[] },
    Library { name: "hipRAND", package: "libhiprand1-tests", data: &[] },
    Library { name: "rocPRIM", package: "librocprim-tests", data: &[] },
    Library { name: "hipCUB", package: "libhipcub-tests", data: &[] },
    Library { name: "rocThrust", package: "librocthrust-tests", data: &[] },
    Library { name: "rocFFT", package: "librocfft0-tests", data: &[] },
    Library { name: "rocSPARSE", package: "librocsparse0-tests", data: &["librocsparse0-tests-data"] },
    Library { name: "rocBLAS", package: "librocblas0-tests", data: &["librocblas0-tests-data"] },
    Library { name: "rocSOLVER", package: "librocsolver0-tests", data: &[] },
];

/// Programs whose `main` is empty: that they compile is their test.
const EMPTY: [&str; 1] = ["test_no_half_operators"];

/// Options of the run.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Libraries, as rocRAND [default: rocRAND, hipRAND, rocPRIM, hipCUB, rocThrust, rocFFT, rocSPARSE,
    /// rocBLAS, rocSOLVER]
    #[arg(value_name = "LIBRARY")]
    libraries: Vec<String>,
    /// The GPU that is emulated
    #[arg(long, value_name = "CPU", default_value = "gfx90a")]
    target_cpu: String,
    /// Only test programs with this in their names, may be repeated
    #[arg(long, value_name = "WORD")]
    program: Vec<String>,
    /// Only tests with this in their names, as `quick/`, may be repeated
    #[arg(long, value_name = "WORD")]
    test: Vec<String>,
    /// A test program may take this long; tests that it has not finished are counted
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    seconds: u32,
    /// A test may take this long; then its program goes on with the next test
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    test_seconds: u32,
    /// Of a program that lists more tests than this, only so many are run, spread evenly over its list
    #[arg(long, value_name = "TESTS")]
    sample: Option<NonZeroUsize>,
    /// This `cargo-amdinst`, for example of a release build, with its runtime beside it [default: a
    /// development build]
    #[arg(long, value_name = "FILE")]
    command: Option<PathBuf>,
    /// Append each test's outcome to this file. Tests in it do not run again, unless their limit was shorter
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
    /// Tests for which there is no time do not fail the run
    #[arg(long)]
    partial: bool,
    /// Write the table here as well
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Where Debian 13's packages are unpacked (5 GB for the first five libraries)
    #[arg(long, value_name = "DIR", default_value = "target/libraries")]
    tree: PathBuf,
}

/// Runs the tests and prints the table. `Ok(false)` unless all is good.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let libraries = chosen(&options.libraries)?;
    let packages: Vec<&str> = libraries
        .iter()
        .flat_map(|library| std::iter::once(library.package).chain(library.data.iter().copied()))
        .collect();
    let command = match &options.command {
        Some(file) => absolute(file)?,
        None => built()?,
    };
    let tree = Tree::prepare(&options.tree, &packages)?;
    let mut saved = Saved::open(options.results.as_deref(), &options.target_cpu)?;
    let limits = Limits {
        program: Duration::from_secs(options.seconds.into()),
        test: Duration::from_secs(options.test_seconds.into()),
    };
    let mut rows = Vec::new();
    for library in libraries {
        tree.link_data(library.name)?;
        let mut results = Vec::new();
        for path in tree.programs(library.package)? {
            let (target_cpu, sample) = (options.target_cpu.as_str(), options.sample);
            let program = Program {
                tree: &tree,
                command: &command,
                path,
                target_cpu,
                limits,
                words: &options.test,
                sample,
            };
            let name = program.name();
            if !options.program.is_empty() && !options.program.iter().any(|word| name.contains(word)) {
                continue;
            }
            let result = program.run(library.name, &mut saved)?;
            println!("{} {}", library.name, result.line());
            results.push(result);
        }
        rows.push((library.name, results));
    }
    let mut all = rows.iter().flat_map(|(_, results)| results).peekable();
    ensure!(all.peek().is_some(), "no test program has that in its name");
    let is_none = |results: &Results| results.listed.is_empty() && results.left_out > 0;
    ensure!(!all.all(is_none), "no test has that in its name");
    let text = table::markdown(&rows, &options.target_cpu, limits);
    println!("\n{text}");
    if let Some(path) = &options.markdown {
        std::fs::write(path, &text)?;
    }
    Ok(rows.iter().flat_map(|(_, results)| results).all(|one| one.is_good(options.partial)))
}

/// The command of a development build, which is beside this program.
fn built() -> Result<PathBuf> {
    let built = crate::cargo().args(["build", "--quiet", "--bin", "cargo-amdinst"]).status()?;
    ensure!(built.success(), "the command cannot be built");
    Ok(std::env::current_exe()?.with_file_name("cargo-amdinst"))
}

fn absolute(file: &Path) -> Result<PathBuf> {
    file.canonicalize().with_context(|| format!("cannot read {}", file.display()))
}

/// The libraries of these names, in any case; all if there are none.
fn chosen(names: &[String]) -> Result<Vec<Library>> {
    if names.is_empty() {
        return Ok(LIBRARIES.to_vec());
    }
    let mut libraries = Vec::new();
    for name in names {
        match LIBRARIES.iter().find(|library| library.name.eq_ignore_ascii_case(name)) {
            Some(library) => libraries.push(*library),
            None => {
                let known = LIBRARIES.map(|library| library.name).join(", ");
                bail!("no tests of a library `{name}` are known; there are {known}");
            }
        }
    }
    Ok(libraries)
}
