//! `cargo xtask readme`: what the README and the guide (`docs/`) show is what happens.
//!
//! An HTML comment in front of a fenced block says how the block is checked:
//!
//! * `<!-- run -->`: a console block. Each `$ command` is run from the workspace's root; stdout and stderr
//!   together must be the lines that follow it. `[..]` stands for anything within a line, a line `...` for
//!   any lines.
//! * `<!-- run elsewhere -->`: the same, as an installed `cargo amdinst` does it in a copy of the workspace
//!   (a new one for each page), so that commands may change it. `$ cd DIR` holds for the commands after it.
//! * `<!-- from PATH -->`: the block stands, line for line, in that file.
//! * `<!-- not run: WHY -->`: a console block that cannot be run here.
//!
//! A console block without any of these is an error.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{fs, io};

use anyhow::{Context as _, Result, bail, ensure};

use crate::console::matches_lines;

/// Options of `cargo xtask readme`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Print what each command prints now
    #[arg(long)]
    show: bool,
    /// Only the pages whose path contains one of these words; some look at what the README's commands have
    /// built
    #[arg(value_name = "PAGE")]
    only: Vec<String>,
}

/// How a block is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Check {
    Run,
    Elsewhere,
    From(String),
    NotRun,
}

/// A fenced block with a check.
#[derive(Debug, PartialEq, Eq)]
struct Block {
    line: usize,
    check: Check,
    lines: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<()> {
    let root = crate::workspace_root();
    let mut checked = 0;
    for file in files(&root)? {
        let name = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
        if !options.only.is_empty() && !options.only.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        let text = fs::read_to_string(&file).with_context(|| format!("reading {name}"))?;
        let blocks = blocks(&text).with_context(|| name.clone())?;
        checked += blocks.iter().filter(|block| block.check != Check::NotRun).count();
        let mut elsewhere = None;
        let start = Instant::now();
        for block in &blocks {
            let result = match &block.check {
                Check::NotRun => Ok(()),
                Check::Run => check_console(&block.lines, &mut Place::workspace(&root), options.show),
                Check::Elsewhere => {
                    let place = match &mut elsewhere {
                        Some(place) => place,
                        none => none.insert(Place::elsewhere(&root, &page(&file))?),
                    };
                    check_console(&block.lines, place, options.show)
                }
                Check::From(path) => fs::read_to_string(root.join(path))
                    .with_context(|| format!("reading {path}"))
                    .and_then(|file| check_quotation(&block.lines, &file, path)),
            };
            result.with_context(|| format!("{name}, the block at line {}", block.line))?;
        }
        println!("{:>7.1} s  {name}", start.elapsed().as_secs_f64());
    }
    ensure!(checked > 0, "no block is checked");
    println!("{checked} blocks are as they should be");
    Ok(())
}

/// The README, and the guide's pages in the order of its table of contents: later ones may look at what
/// earlier ones ran.
fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let guide = root.join("docs/src");
    let contents = fs::read_to_string(guide.join("SUMMARY.md")).context("reading docs/src/SUMMARY.md")?;
    let page = |line: &str| Some(guide.join(line.split_once("](")?.1.strip_suffix(')')?));
    Ok([root.join("README.md")].into_iter().chain(contents.lines().filter_map(page)).collect())
}

/// What a page is called.
fn page(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The blocks with a check in front.
fn blocks(text: &str) -> Result<Vec<Block>> {
    let mut blocks = Vec::new();
    let mut check = None;
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if let Some(comment) = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->")) {
            check = match comment.split_once(' ') {
                Some(("from", path)) => Some(Check::From(path.to_owned())),
                Some(("run", "elsewhere")) => Some(Check::Elsewhere),
                Some(("not", rest)) if rest.starts_with("run: ") => Some(Check::NotRun),
                None if comment == "run" => Some(Check::Run),
                _ => bail!("line {}: unknown check `{comment}`", number + 1),
            };
        } else if line.starts_with("```") {
            let body: Vec<_> =
                lines.by_ref().map(|(_, line)| line.to_owned()).take_while(|line| line != "```").collect();
            if check.is_none() && line == "```console" {
                bail!(
                    "line {}: a console block that says neither how it is run nor why it is not",
                    number + 1
                );
            }
            if let Some(check) = check.take() {
                blocks.push(Block { line: number + 1, check, lines: body });
            }
        }
    }
    Ok(blocks)
}

fn check_quotation(block: &[String], file: &str, path: &str) -> Result<()> {
    let file: Vec<_> = file.lines().collect();
    ensure!(
        file.windows(block.len().max(1)).any(|window| window.iter().zip(block).all(|(a, b)| a == b)),
        "these lines do not stand in {path}"
    );
    Ok(())
}

/// Where commands run.
struct Place {
    directory: PathBuf,
    /// Stands before each command.
    prelude: &'static str,
    environment: Vec<(&'static str, OsString)>,
}

impl Place {
    /// The workspace, where `cargo amdinst` is an alias.
    fn workspace(root: &Path) -> Self {
        Self { directory: root.to_owned(), prelude: "", environment: Vec::new() }
    }

    /// A new directory `target/elsewhere/NAME`, which is a workspace of its own and `cargo amdinst` there the
    /// program that stands beside this one. Its members are this workspace's by links, so that nothing is
    /// built for the second time.
    fn elsewhere(root: &Path, name: &str) -> Result<Self> {
        let directory = root.join("target/elsewhere").join(name);
        match fs::remove_dir_all(&directory) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("removing {}", directory.display()));
            }
            _ => fs::create_dir_all(&directory)?,
        }
        for name in ["Cargo.toml", "Cargo.lock"] {
            fs::copy(root.join(name), directory.join(name)).with_context(|| format!("copying {name}"))?;
        }
        let manifest: toml::Table = fs::read_to_string(root.join("Cargo.toml"))?.parse()?;
        let members = manifest.get("workspace").and_then(|table| table.get("members")?.as_array());
        // A directory brings all members within it.
        let members = members.into_iter().flatten().filter_map(toml::Value::as_str);
        let directories: BTreeSet<_> = members.filter_map(|member| member.split('/').next()).collect();
        for name in directories {
            symlink(root.join(name), directory.join(name)).with_context(|| format!("linking {name}"))?;
        }
        let program = std::env::current_exe().context("this program's own file")?;
        let environment = vec![
            ("CARGO_TARGET_DIR", root.join("target").into()),
            ("AMDINST", program.with_file_name("cargo-amdinst").into()),
        ];
        // The alias of this workspace is found from there, too, and would win over a program on PATH.
        let prelude =
            "cargo() { if [ \"$1\" = amdinst ]; then \"$AMDINST\" \"$@\"; else command cargo \"$@\"; fi; }; ";
        Ok(Self { directory, prelude, environment })
    }
}

fn check_console(block: &[String], place: &mut Place, show: bool) -> Result<()> {
    let mut lines = block.iter().peekable();
    while let Some(line) = lines.next() {
        let Some(command) = line.strip_prefix("$ ") else { bail!("`{line}` belongs to no command") };
        let mut expected = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
            expected.push(line.as_str());
        }
        if let Some(directory) = command.strip_prefix("cd ") {
            place.directory.push(directory);
            continue;
        }
        let output = Command::new("bash")
            .args(["-c", &format!("{}{command} 2>&1", place.prelude)])
            .current_dir(&place.directory)
            .envs(place.environment.iter().map(|(name, value)| (name, value)))
            .env("NO_COLOR", "1")
            .env_remove("CARGO_TERM_COLOR")
            .stdin(Stdio::null())
            .output()
            .context("running bash")?;
        let printed = String::from_utf8_lossy(&output.stdout);
        if show {
            println!("$ {command}\n{printed}");
            continue;
        }
        let printed: Vec<_> = printed.lines().map(str::trim_end).collect();
        if !matches_lines(&expected, &printed) {
            bail!("`{command}` prints\n{}\ninstead of\n{}", printed.join("\n"), expected.join("\n"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_blocks_with_a_check_are_taken() {
        let text =
            "<!-- run -->\n```console\n$ true\n```\n```\nno\n```\n<!-- from a/b.rs -->\n\n```rust\nx\n```\n";
        let blocks = blocks(text).unwrap();
        assert_eq!(blocks.len(), 2);
        assert_eq!((blocks[0].check.clone(), blocks[0].line), (Check::Run, 2));
        assert_eq!(blocks[1].check, Check::From("a/b.rs".to_owned()));
        assert_eq!(blocks[1].lines, ["x"]);
        assert!(super::blocks("```console\n$ true\n```\n").is_err());
        let told = super::blocks("<!-- not run: it installs -->\n```console\n$ true\n```\n").unwrap();
        assert_eq!(told[0].check, Check::NotRun);
    }

    #[test]
    fn quotations_are_contiguous() {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        assert!(check_quotation(&lines("b\nc"), "a\nb\nc\n", "f").is_ok());
        assert!(check_quotation(&lines("a\nc"), "a\nb\nc\n", "f").is_err());
    }
}
