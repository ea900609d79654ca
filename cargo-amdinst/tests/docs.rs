//! What README and guide name is there, and what is there they name: commands, options, exit codes,
//! variables, keys, faults and schemas. That their outputs are what is printed is checked by
//! `cargo xtask readme`, which needs built kernels.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cargo_amdinst::build::settings::KEYS;
use cargo_amdinst::cli::Cli;
use cargo_amdinst::exit::Exit;
use clap::{CommandFactory as _, Parser as _};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page(name: &str) -> String {
    let path = root().join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// README and guide: path and text.
fn pages() -> Vec<(String, String)> {
    let mut names = vec!["README.md".to_owned()];
    for entry in fs::read_dir(root().join("docs/src")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") {
            names.push(format!("docs/src/{name}"));
        }
    }
    names.sort();
    names.into_iter().map(|name| (name.clone(), page(&name))).collect()
}

/// Every `cargo amdinst` command line of README and guide, without what is the shell's: pipes, redirections,
/// comments.
fn command_lines() -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for (name, text) in pages() {
        for line in text.lines().filter_map(|line| line.strip_prefix("$ cargo amdinst ")) {
            let shell = [" | ", " || ", " > ", " 2>", " && ", ";", " #"];
            let end = shell.iter().filter_map(|mark| line.find(mark)).min().unwrap_or(line.len());
            let words = line[..end].split_whitespace().map(|word| word.trim_matches('\'').to_owned());
            found.push((name.clone(), words.collect()));
        }
    }
    found
}

#[test]
fn every_command_parses() {
    let lines = command_lines();
    assert!(lines.len() > 20, "{}", lines.len());
    for (page, words) in lines {
        let argv = ["cargo-amdinst"].into_iter().chain(words.iter().map(String::as_str));
        let Err(error) = Cli::try_parse_from(argv) else { continue };
        // Some show what a wrong one is told.
        let shown = page_shows_an_error(&page, &words);
        assert!(!error.use_stderr() || shown, "{page}: `{}`: {error}", words.join(" "));
    }
}

/// Whether the page shows the error that this command line is told.
fn page_shows_an_error(name: &str, words: &[String]) -> bool {
    let text = page(name);
    let mut lines = text.lines().skip_while(|line| {
        !line.starts_with("$ cargo amdinst ") || !words.iter().all(|word| line.contains(word.as_str()))
    });
    lines.nth(1).is_some_and(|line| line.starts_with("error: "))
}

#[test]
fn every_exit_code_is_listed() {
    let codes = page("docs/src/exit-codes.md");
    for exit in Exit::ALL {
        let row = format!("| {} | {} |", exit.code(), exit.meaning());
        assert!(codes.lines().any(|line| line.starts_with(&row)), "missing: {row}");
    }
}

#[test]
fn every_command_is_listed() {
    let reference = page("docs/src/commands.md");
    for (name, text) in [("README.md", page("README.md")), ("commands.md", reference)] {
        for command in Cli::command().get_subcommands().filter(|command| command.get_name() != "help") {
            let command = command.get_name();
            let listed = format!("`cargo amdinst {command}`");
            assert!(text.contains(&listed), "{name} lacks {listed}");
        }
    }
}

/// Every long option by its name, with whether help shows it.
fn options() -> Vec<(String, bool)> {
    fn of(command: &clap::Command, found: &mut Vec<(String, bool)>) {
        for argument in command.get_arguments() {
            found.extend(argument.get_long().map(|name| (name.to_owned(), !argument.is_hide_set())));
        }
        command.get_subcommands().for_each(|command| of(command, found));
    }
    let mut command = Cli::command();
    command.build();
    let mut found = Vec::new();
    of(&command, &mut found);
    found
}

/// Whether `text` has `word`, and no letter, digit, `-` or `_` before or after it.
fn names(text: &str, word: &str) -> bool {
    let part = |character: char| character.is_alphanumeric() || character == '-' || character == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(part) && !text[at + word.len()..].starts_with(part))
}

#[test]
fn every_option_is_named() {
    let all: String = pages().into_iter().map(|(_, text)| text).collect();
    let missing: BTreeSet<String> = options()
        .into_iter()
        .filter(|(name, shown)| *shown && !names(&all, &format!("--{name}")))
        .map(|(name, _)| name)
        .collect();
    assert!(missing.is_empty(), "options that neither README nor guide names: {missing:?}");
}

/// Options of other programs that the pages name, and of test programs.
const OF_OTHERS: [&str; 35] = [
    "workspace",
    "path",
    "locked",
    "git",
    "test",
    "partition",
    "nocapture",
    "no-capture",
    "format",
    "logfile",
    "shuffle-seed",
    "show-output",
    "output-directory",
    "offload-arch",
    "offload-device-only",
    "features",
    "ignore-errors",
    "branch-coverage",
    "version",
    "opt-disable",
    "optimize-regalloc",
    "archive-file",
    "create",
    "extract",
    "file",
    "workspace-remap",
    "corpus",
    "fuzz-dir",
    "workflow",
    "branch",
    "status",
    "limit",
    "json",
    "jq",
    "dir",
];

#[test]
fn every_option_that_is_named_is_there() {
    let known: BTreeSet<String> =
        options().into_iter().filter(|(_, shown)| *shown).map(|(name, _)| name).collect();
    let mut unknown = BTreeSet::new();
    for (page, text) in pages() {
        for (at, _) in text.match_indices("--") {
            let before = text[..at].chars().next_back();
            if before.is_some_and(|character| !" `('\"[|\n/".contains(character)) {
                continue;
            }
            let end = |character: char| !(character.is_ascii_alphanumeric() || character == '-');
            let word = text[at + 2..].split(end).next().unwrap_or_default();
            if word.starts_with(|first: char| first.is_ascii_lowercase())
                && !known.contains(word)
                && !OF_OTHERS.contains(&word)
            {
                unknown.insert(format!("{page}: --{word}"));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}

/// The variables `AMDINST_…` that a text names.
fn variables(text: &str) -> BTreeSet<String> {
    let end =
        |character: char| !(character.is_ascii_uppercase() || character.is_ascii_digit() || character == '_');
    let word = |at: usize| text[at..].split(end).next().unwrap_or_default().to_owned();
    let found =
        text.match_indices("AMDINST_").filter(|(at, _)| !text[..*at].ends_with(|before: char| !end(before)));
    found.map(|(at, _)| word(at)).filter(|word| !word.ends_with('_')).collect()
}

/// The texts of all Rust sources of the workspace outside of tests.
fn sources() -> Vec<String> {
    fn of(directory: &Path, texts: &mut Vec<String>) {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            if path.is_dir() {
                if !["target", "tests", "benches"].iter().any(|skipped| name == *skipped) {
                    of(&path, texts);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                texts.push(fs::read_to_string(&path).unwrap());
            }
        }
    }
    let mut texts = Vec::new();
    let is_crate = |entry: &fs::DirEntry| entry.path().join("Cargo.toml").is_file();
    for folder in [root(), root().join("tools")] {
        for crate_ in fs::read_dir(folder).unwrap().flatten().filter(is_crate) {
            of(&crate_.path().join("src"), &mut texts);
        }
    }
    texts
}

#[test]
fn every_variable_is_listed_and_every_listed_one_is_there() {
    let listed = variables(&page("docs/src/environment.md"));
    let there: BTreeSet<String> = sources().iter().flat_map(|text| variables(text)).collect();
    let missing: Vec<_> = there.difference(&listed).collect();
    assert!(missing.is_empty(), "environment.md lacks {missing:?}");
    for (page, text) in pages() {
        let unknown: Vec<_> = variables(&text).difference(&there).cloned().collect();
        // Variables of the suite alone stand in its tests.
        let unknown: Vec<_> = unknown.into_iter().filter(|name| name != "AMDINST_REQUIRE_TOOLS").collect();
        assert!(unknown.is_empty(), "{page} names {unknown:?}, which nothing reads");
    }
}

#[test]
fn every_key_is_listed() {
    let text = page("docs/src/configuration.md");
    for key in KEYS {
        assert!(text.contains(&format!("| `{key}` |")), "configuration.md lacks `{key}`");
    }
}

#[test]
fn every_fault_has_a_page() {
    let schema: serde_json::Value = serde_json::from_str(&page("schemas/run.v1.json")).unwrap();
    let kinds = kinds(&schema).expect("the schema lists the kinds of faults");
    assert!(kinds.len() > 15, "{kinds:?}");
    let checks: Vec<(String, String)> =
        pages().into_iter().filter(|(name, _)| name.starts_with("docs/src/check")).collect();
    for kind in kinds {
        let on = checks.iter().filter(|(_, text)| text.contains(&format!("`{kind}`"))).count();
        assert!(on > 0, "no page about checks names the fault `{kind}`");
    }
}

/// The list of faults' kinds in a schema: the one that has `out-of-bounds`.
fn kinds(value: &serde_json::Value) -> Option<Vec<String>> {
    match value {
        serde_json::Value::Array(list) if list.iter().any(|word| word == "out-of-bounds") => {
            Some(list.iter().filter_map(|word| Some(word.as_str()?.to_owned())).collect())
        }
        serde_json::Value::Array(list) => list.iter().find_map(kinds),
        serde_json::Value::Object(table) => table.values().find_map(kinds),
        _ => None,
    }
}

#[test]
fn every_schema_is_listed() {
    let text = page("docs/src/json.md");
    for entry in fs::read_dir(root().join("schemas")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(text.contains(&name), "json.md lacks {name}");
    }
}

/// Links between pages, and to files of the repository.
#[test]
fn every_link_leads_somewhere() {
    for (name, text) in pages() {
        let directory = root().join(&name).parent().unwrap().to_owned();
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split(')').next().unwrap_or_default();
            let (path, fragment) = target.split_once('#').unwrap_or((target, ""));
            if path.contains("://") {
                continue;
            }
            let path = if path.is_empty() { root().join(&name) } else { directory.join(path) };
            assert!(path.exists(), "{name}: {target} is not there");
            if !fragment.is_empty() {
                let there = fs::read_to_string(&path).unwrap();
                let found =
                    there.lines().filter(|line| line.starts_with('#')).any(|line| anchor(line) == fragment);
                assert!(found, "{name}: {target}: no such heading");
            }
        }
    }
}

/// A heading's anchor, as mdBook and GitHub make it.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn every_page_is_in_the_contents() {
    let contents = page("docs/src/SUMMARY.md");
    for (name, _) in pages() {
        let Some(file) = name.strip_prefix("docs/src/").filter(|file| *file != "SUMMARY.md") else {
            continue;
        };
        assert!(contents.contains(&format!("]({file})")), "SUMMARY.md lacks {file}");
    }
}
