//! `cargo xtask workflow`: the job that the guide gives for GitHub, done as a runner does it, from nothing.
//!
//! The steps are those of the first block under "Every GPU" in `docs/src/ci.md`. Their commands run one after
//! another by `bash -e`, in a new home, on a new package; what they print, and the job's summary, is compared
//! with `expected.txt`, where `[..]` and `...` stand for what may differ, as in the guide. An action of
//! someone else's is left out: the package is the checkout, nothing is cached, nothing is uploaded. The
//! program is installed from this checkout.
//!
//! What it needs is a Rust toolchain, `gcc` and a network: it is meant for a container with nothing else, and
//! for root there as well as for another user.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

use crate::console::matches_lines;

/// The package's name in the guide.
const PACKAGE: &str = "my-kernels";

/// Options of `cargo xtask workflow`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Where the new home and the package go: a directory that is not there yet
    #[arg(long, value_name = "DIR")]
    place: PathBuf,
    /// Print what the commands print now, and compare nothing
    #[arg(long)]
    show: bool,
}

/// A command of the job.
#[derive(Debug, PartialEq, Eq)]
struct Step {
    command: String,
    /// It runs whatever came before.
    always: bool,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<()> {
    let root = crate::workspace_root();
    let guide = fs::read_to_string(root.join("docs/src/ci.md")).context("reading docs/src/ci.md")?;
    let steps = steps(&guide)?;
    let runner = Runner::new(&options.place)?;
    let told = job(&runner, &steps, &root)?;
    if options.show {
        print!("{told}");
        return Ok(());
    }
    let expected: Vec<_> = include_str!("expected.txt").lines().collect();
    let printed: Vec<_> = told.lines().map(str::trim_end).collect();
    ensure!(
        matches_lines(&expected, &printed),
        "the job prints\n{}\ninstead of\n{}",
        printed.join("\n"),
        expected.join("\n")
    );
    println!("the {} commands of the job print what they should", steps.len());
    Ok(())
}

/// What the job prints, command by command, and its summary.
fn job(runner: &Runner, steps: &[Step], root: &Path) -> Result<String> {
    let mut told = String::new();
    let mut failed = false;
    for Step { command, always } in steps {
        if failed && !always {
            continue;
        }
        told += &format!("$ {command}\n");
        let (output, success) = if command.starts_with("cargo install ") {
            let (output, success) = runner.run(&installing(command, root)?)?;
            ensure!(success, "{command}: {output}");
            // The checkout of the job. What cargo prints of packages and seconds is not told.
            let new = format!("cargo amdinst new --quiet --path '{}' {PACKAGE}", root.display());
            runner.run(&new)?
        } else {
            runner.run(command)?
        };
        told += &output;
        if !success {
            told += "(failed)\n";
        }
        failed |= !success;
    }
    told += &format!("$ cat \"$GITHUB_STEP_SUMMARY\"\n{}", fs::read_to_string(&runner.summary)?);
    Ok(told)
}

/// The commands of the job in the guide, each on one line.
fn steps(guide: &str) -> Result<Vec<Step>> {
    let section = guide.split_once("\n## Every GPU\n").context("no section `Every GPU`")?.1;
    let block = section.split_once("```yaml\n").context("no block of YAML")?.1;
    let block = block.split_once("\n```").map_or(block, |(block, _)| block);
    let mut steps = Vec::new();
    let mut always = false;
    for line in block.lines() {
        let line = line.trim_start();
        if line.starts_with("- ") {
            always = false;
        }
        match line.trim_start_matches("- ").split_once(": ") {
            Some(("if", condition)) => always = condition == "always()",
            Some(("run", "|" | ">")) => bail!("a command of several lines: {line}"),
            Some(("run", command)) => steps.push(Step { command: command.to_owned(), always }),
            _ => {}
        }
    }
    ensure!(steps.iter().any(|step| step.command.starts_with("cargo install ")), "nothing is installed");
    Ok(steps)
}

/// The command that installs from this checkout in place of the repository.
fn installing(command: &str, root: &Path) -> Result<String> {
    let (before, after) = command.split_once("--git ").context("it is not installed from a repository")?;
    let (_repository, package) = after.split_once(' ').context("no package is named")?;
    Ok(format!("{before}--path '{}'", root.join(package).display()))
}

/// A runner of jobs, new.
struct Runner {
    home: PathBuf,
    package: PathBuf,
    summary: PathBuf,
}

impl Runner {
    fn new(place: &Path) -> Result<Self> {
        fs::create_dir(place).with_context(|| format!("making {}", place.display()))?;
        let place = place.canonicalize()?;
        let package = place.join("work").join(PACKAGE);
        let runner = Self { home: place.join("home"), package, summary: place.join("summary.md") };
        fs::create_dir(&runner.home)?;
        fs::create_dir(place.join("work"))?;
        fs::write(&runner.summary, "")?;
        Ok(runner)
    }

    /// What a command prints, on both streams, and whether it succeeds. Of the environment it has what finds
    /// the toolchain and the network.
    fn run(&self, command: &str) -> Result<(String, bool)> {
        const KEPT: [&str; 7] =
            ["PATH", "RUSTUP_HOME", "SSL_CERT_", "CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTR", "LANG"];
        let is_kept = |name: &str| {
            KEPT.iter().any(|kept| name.starts_with(kept)) || name.to_ascii_lowercase().ends_with("_proxy")
        };
        let kept = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_kept));
        let before = self.package.parent().unwrap_or(&self.package);
        let directory = if self.package.is_dir() { &self.package } else { before };
        let mut path = self.home.join(".cargo/bin").into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let output = Command::new("bash")
            .args(["-e", "-c", &format!("{command} 2>&1")])
            .current_dir(directory)
            .env_clear()
            .envs(kept)
            .env("PATH", path)
            .env("HOME", &self.home)
            .env("CI", "true")
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_STEP_SUMMARY", &self.summary)
            .stdin(Stdio::null())
            .output()
            .context("running bash")?;
        Ok((String::from_utf8_lossy(&output.stdout).into_owned(), output.status.success()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guides_job_is_read() {
        let guide = "\n## Every GPU\n\n```yaml\nsteps:\n  - uses: a/b@v4\n  - run: cargo install --git URL tool\n  - if: always()\n    run: tool report\n  - run: tool end\n```\n";
        let step = |command: &str, always| Step { command: command.to_owned(), always };
        let steps = steps(guide).unwrap();
        assert_eq!(
            steps,
            [step("cargo install --git URL tool", false), step("tool report", true), step("tool end", false)]
        );
        assert_eq!(installing(&steps[0].command, Path::new("/x")).unwrap(), "cargo install --path '/x/tool'");
        assert!(super::steps("\n## Every GPU\n\n```yaml\n- run: |\n```\n").is_err());
        let own = fs::read_to_string(crate::workspace_root().join("docs/src/ci.md")).unwrap();
        assert_eq!(super::steps(&own).unwrap().len(), 3);
    }
}
