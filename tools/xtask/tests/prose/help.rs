//! The sentences of help texts, by clap's own model of the command line.

use cargo_amdinst::cli::Cli;
use clap::builder::StyledStr;
use clap::{Command, CommandFactory as _};

use crate::rules::{Sentence, split};

/// The sentences of every command, option and value that help shows.
pub(crate) fn sentences() -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut command = Cli::command();
    command.build();
    of(&command, &mut found);
    found
}

fn of(command: &Command, found: &mut Vec<Sentence>) {
    let name = command.get_bin_name().unwrap_or_default().to_owned();
    add(&name, command.get_about(), found);
    for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
        let place = format!("{name} {}", argument.get_id());
        add(&place, argument.get_long_help().or_else(|| argument.get_help()), found);
        for value in argument.get_possible_values() {
            add(&format!("{place} {}", value.get_name()), value.get_help(), found);
        }
    }
    command
        .get_subcommands()
        .filter(|command| command.get_name() != "help")
        .for_each(|command| of(command, found));
}

/// Names of options and values in backquotes are one word each; what is said of a default is no part of the
/// sentence.
fn add(place: &str, text: Option<&StyledStr>, found: &mut Vec<Sentence>) {
    let text = text.map(ToString::to_string).unwrap_or_default();
    let mut plain = String::new();
    let mut in_brackets = false;
    for (number, part) in text.split('`').enumerate() {
        if number % 2 == 1 {
            plain.push_str(if in_brackets { "" } else { "CODE" });
            continue;
        }
        for character in part.chars() {
            match character {
                '[' => in_brackets = true,
                ']' => in_brackets = false,
                _ if !in_brackets => plain.push(character),
                _ => {}
            }
        }
    }
    split(place, &plain, found);
}
