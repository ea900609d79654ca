//! The rules of `docs/STYLE.md` that can be checked, over all that users read: README, guide, help texts,
//! messages of errors, and the doc comments of what the crates make public.
//! `cargo test -p xtask --test prose -- --nocapture figures` prints how it reads.

mod columns;
#[path = "../support/files.rs"]
mod files;
mod help;
mod markdown;
mod rules;
mod sources;

use std::path::{Path, PathBuf};
use std::{env, fs};

use rules::Sentence;

/// The workspace's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// README and guide.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    for entry in fs::read_dir(root().join("docs/src")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    pages
}

/// The sentences of README and guide.
fn guide() -> Vec<Sentence> {
    let of = |path: &PathBuf| {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        markdown::sentences(&name, &fs::read_to_string(path).unwrap())
    };
    pages().iter().flat_map(of).collect()
}

/// Fails with every sentence that breaks a rule.
fn all_keep(rules: &[rules::Rule], sentences: &[Sentence]) {
    assert!(!sentences.is_empty());
    let broken: Vec<String> = sentences
        .iter()
        .flat_map(|sentence| {
            let broken = rules.iter().filter(|rule| (rule.is_broken)(sentence));
            broken.map(move |rule| format!("{}: {}: {}", sentence.place, rule.name, sentence.text))
        })
        .collect();
    assert!(broken.is_empty(), "{} of {} sentences:\n{}", broken.len(), sentences.len(), broken.join("\n"));
}

#[test]
fn readme_and_guide() {
    all_keep(rules::ALL, &guide());
}

#[test]
fn help_texts() {
    all_keep(rules::ALL, &help::sentences());
}

#[test]
fn messages_of_errors() {
    all_keep(rules::OF_MESSAGES, &sources::errors(&root()));
}

#[test]
fn doc_comments_of_public_items() {
    all_keep(rules::ALL, &sources::docs(&root()));
}

/// How README and guide read, and, to compare with, the pages under `PROSE_OTHER`.
#[test]
fn figures() {
    let show = |name: &str, sentences: &[Sentence]| {
        let words: Vec<usize> = sentences.iter().map(Sentence::words).collect();
        let total: usize = words.iter().sum();
        let long = words.iter().filter(|&&words| words > rules::MOST_WORDS).count();
        let broken =
            |rule: &rules::Rule| sentences.iter().filter(|sentence| (rule.is_broken)(sentence)).count();
        let rules: Vec<_> = rules::ALL.iter().map(|rule| format!("{} {}", rule.name, broken(rule))).collect();
        println!(
            "{name}: {total} words in {} sentences, {:.1} a sentence, {long} over {}; {}",
            sentences.len(),
            total as f64 / sentences.len().max(1) as f64,
            rules::MOST_WORDS,
            rules.join(", ")
        );
    };
    show("README and guide", &guide());
    show("help texts", &help::sentences());
    show("errors", &sources::errors(&root()));
    show("doc comments", &sources::docs(&root()));
    if let Some(other) = env::var_os("PROSE_OTHER") {
        let mut sentences = Vec::new();
        markdown::under(Path::new(&other), &mut sentences);
        show(&other.to_string_lossy(), &sentences);
    }
}
