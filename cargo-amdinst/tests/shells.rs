//! Completions and manual pages: that they are complete, and that bash takes its completions.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use cargo_amdinst::cli::Cli;
use clap::CommandFactory as _;

fn amdinst(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn commands() -> BTreeSet<String> {
    Cli::command().get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

/// What bash proposes for the last of `words`, and what it proposes where cargo's own completion is asked.
fn bash(words: &[&str]) -> BTreeSet<String> {
    let place = tempfile::tempdir().unwrap();
    let script = place.path().join("completions.bash");
    fs::write(&script, amdinst(&["completions", "bash"])).unwrap();
    let quoted: Vec<_> = words.iter().map(|word| format!("'{word}'")).collect();
    let text = format!(
        "set -e; _cargo() {{ COMPREPLY=(asked-cargo); }}; complete -F _cargo cargo; . '{}'; \
         COMP_WORDS=({}); COMP_CWORD={}; \
         function=$(complete -p {} | sed 's/.*-F \\([^ ]*\\).*/\\1/'); \
         $function {} '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        script.display(),
        quoted.join(" "),
        words.len() - 1,
        words[0],
        words[0],
        words[words.len() - 1],
        words[words.len() - 2],
    );
    let output = Command::new("bash").args(["--norc", "-c", &text]).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_options_and_values() {
    for words in [&["cargo-amdinst", ""][..], &["cargo", "amdinst", ""]] {
        let proposed = bash(words);
        assert!(commands().is_subset(&proposed), "{words:?}: {proposed:?}");
    }
    let proposed = bash(&["cargo", "amdinst", "report", "--fo"]);
    assert_eq!(proposed, BTreeSet::from(["--format".to_owned()]));
    let proposed = bash(&["cargo", "amdinst", "report", "--format", ""]);
    assert_eq!(proposed, ["github", "human", "json", "markdown"].map(str::to_owned).into());
    // Cargo's other commands are cargo's.
    assert_eq!(bash(&["cargo", "buil"]), BTreeSet::from(["asked-cargo".to_owned()]));
}

#[test]
fn every_shell_has_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = amdinst(&["completions", shell]);
        for command in commands() {
            assert!(text.contains(&command), "{shell}: {command}");
        }
    }
    // The name by which cargo's completion for zsh calls that of a subcommand.
    assert!(amdinst(&["completions", "zsh"]).contains("\n_cargo-amdinst() {\n"));
}

#[test]
fn a_page_for_every_command() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("share/man");
    amdinst(&["man", "--out", directory.to_str().unwrap()]);
    let pages: BTreeSet<_> = fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut expected: BTreeSet<_> =
        commands().iter().map(|command| format!("cargo-amdinst-{command}.1")).collect();
    expected.insert("cargo-amdinst.1".to_owned());
    assert_eq!(pages, expected);
    let page = fs::read_to_string(directory.join("cargo-amdinst-report.1")).unwrap();
    for part in [".TH cargo-amdinst-report 1", "cargo amdinst report", "fail\\-on", "Limits, as in"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // groff says what it does not understand, where it is installed.
    for name in &pages {
        let groff = Command::new("groff")
            .args(["-Kutf8", "-man", "-ww", "-Tascii", "-z"])
            .arg(directory.join(name))
            .output();
        if let Ok(output) = groff {
            assert!(output.stderr.is_empty(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}
