//! `cargo xtask programs`: the test programs of the packages, several at a time.
//!
//! `cargo test` runs one program after another, so that the longest test of each leaves cores idle. This has
//! cargo build the programs and then runs them as cargo would: in the package's directory, with the package's
//! variables. What a program prints is shown whole once it has ended, behind a line with its name, its
//! seconds and how it ended.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;
use std::{env, thread};

use anyhow::{Context as _, Result, ensure};
use cargo_metadata::{Message, Metadata, MetadataCommand, Package, PackageId};

/// Options of `cargo xtask programs`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Packages of the workspace to leave out, may be repeated
    #[arg(long, value_name = "PKG")]
    exclude: Vec<String>,
    /// How many programs run at a time (default: one a core)
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Options of the programs
    #[arg(last = true, value_name = "OPTION")]
    options: Vec<String>,
}

/// A command whose tests are one piece of work.
struct Program {
    /// What it is called: package and target.
    name: String,
    command: Command,
}

/// Builds the programs and runs them. `Ok(false)` when one failed.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let selection: Vec<&str> = ["--workspace"]
        .into_iter()
        .chain(options.exclude.iter().flat_map(|package| ["--exclude", package.as_str()]))
        .collect();
    let metadata = MetadataCommand::new()
        .current_dir(crate::workspace_root())
        .no_deps()
        .exec()
        .context("asking cargo for the workspace's packages")?;
    let mut programs = build(&selection, &metadata, &options.options)?;
    ensure!(!programs.is_empty(), "cargo has built no test program");
    programs.push(documentation(&selection, &options.options));

    let jobs = options.jobs.or_else(|| thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
    // The last one is the first to be taken.
    programs.reverse();
    let queue = Mutex::new(programs);
    let next = || queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).pop();
    let worker = || -> Result<bool> {
        let mut passed = true;
        while let Some(program) = next() {
            passed &= program.run()?;
        }
        Ok(passed)
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(worker)).collect();
        let ended = workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        ended.collect::<Result<Vec<_>>>().map(|passed| passed.into_iter().all(|passed| passed))
    })
}

/// Has cargo build the test programs of `selection`, in the order in which cargo would run them.
fn build(selection: &[&str], metadata: &Metadata, options: &[String]) -> Result<Vec<Program>> {
    let mut cargo = crate::cargo();
    cargo.args(["test", "--no-run", "--message-format", "json-render-diagnostics"]).args(selection);
    let mut child = cargo.stdout(Stdio::piped()).spawn().context("running cargo")?;
    let stdout = child.stdout.take().context("cargo's output")?;
    let libraries = libraries()?;
    let packages: BTreeMap<&PackageId, &Package> =
        metadata.packages.iter().map(|package| (&package.id, package)).collect();
    let mut programs = Vec::new();
    for message in Message::parse_stream(BufReader::new(stdout)) {
        let Message::CompilerArtifact(artifact) = message.context("reading cargo's messages")? else {
            continue;
        };
        let Some(executable) = artifact.executable.filter(|_| artifact.profile.test) else { continue };
        let package =
            packages.get(&artifact.package_id).with_context(|| format!("package {}", artifact.package_id))?;
        let mut command = Command::new(executable);
        command.args(options).envs(variables(package)).env("LD_LIBRARY_PATH", &libraries);
        command.current_dir(package.manifest_path.parent().context("a manifest's directory")?);
        let name = format!("{} {}", package.name, artifact.target.name);
        programs.push(Program { name, command });
    }
    ensure!(child.wait().context("waiting for cargo")?.success(), "the test programs are not built");
    programs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(programs)
}

/// The tests in documentation, which `rustdoc` builds and runs.
fn documentation(selection: &[&str], options: &[String]) -> Program {
    let mut command = crate::cargo();
    command.args(["test", "--doc", "--no-fail-fast"]).args(selection).arg("--").args(options);
    Program { name: "documentation".to_owned(), command }
}

/// What cargo tells a test of the package that it belongs to.
fn variables(package: &Package) -> [(&'static str, String); 4] {
    [
        ("CARGO_MANIFEST_DIR", package.manifest_path.parent().map(ToString::to_string).unwrap_or_default()),
        ("CARGO_MANIFEST_PATH", package.manifest_path.to_string()),
        ("CARGO_PKG_NAME", package.name.to_string()),
        ("CARGO_PKG_VERSION", package.version.to_string()),
    ]
}

/// Where programs find the compiler's libraries, which tests of procedural macros are linked with.
fn libraries() -> Result<OsString> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "target-libdir"]).output().context("running rustc")?;
    let directory = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    let before = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let before = env::split_paths(&before).filter(|path| path != Path::new(""));
    env::join_paths([directory].into_iter().chain(before)).context("LD_LIBRARY_PATH")
}

impl Program {
    /// Runs it, and shows what it printed. `Ok(false)` when it failed.
    fn run(mut self) -> Result<bool> {
        let start = Instant::now();
        let (mut reader, writer) = std::io::pipe().context("a pipe for a program's output")?;
        self.command.stdin(Stdio::null());
        self.command.stdout(writer.try_clone().context("a pipe for a program's output")?).stderr(writer);
        let mut child = self.command.spawn().with_context(|| format!("running {}", self.name))?;
        // It holds both of the pipe's ends that are written to; the pipe has no end before they are closed.
        drop(self.command);
        let mut printed = Vec::new();
        reader.read_to_end(&mut printed).with_context(|| format!("reading the output of {}", self.name))?;
        let status = child.wait().with_context(|| format!("waiting for {}", self.name))?;
        let seconds = start.elapsed().as_secs_f64();
        print!("\n{} ({seconds:.1} s, {status})\n{}", self.name, String::from_utf8_lossy(&printed));
        Ok(status.success())
    }
}
