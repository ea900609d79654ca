//! The rules, and the sentences that they are for.

/// A sentence, and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Sentence {
    /// File and line, command and option, or the like.
    pub(crate) place: String,
    /// Its text; code is `CODE`, which is one word.
    pub(crate) text: String,
}

/// Words that a sentence may have.
pub(crate) const MOST_WORDS: usize = 25;

impl Sentence {
    /// How many words it has.
    pub(crate) fn words(&self) -> usize {
        let is_word = |word: &&str| word.chars().any(char::is_alphanumeric);
        self.text.split_whitespace().filter(is_word).count()
    }

    /// The text in lower case, without punctuation, a space around each word.
    fn plain(&self) -> String {
        let letters = self.text.chars().map(|c| if c.is_alphanumeric() || c == '\'' { c } else { ' ' });
        let text: String = letters.collect::<String>().to_lowercase();
        format!(" {} ", text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    fn has(&self, phrases: &[&str]) -> bool {
        let plain = self.plain();
        phrases.iter().any(|phrase| plain.contains(&format!(" {phrase} ")))
    }
}

/// A rule of `docs/STYLE.md`.
pub(crate) struct Rule {
    /// In a word or two.
    pub(crate) name: &'static str,
    pub(crate) is_broken: fn(&Sentence) -> bool,
}

/// Begins of clauses that stand for a noun.
const NOUN_CLAUSES: [&str; 11] = [
    "what the",
    "what it",
    "what is",
    "what was",
    "what they",
    "what has",
    "what no",
    "what nothing",
    "what stands",
    "what lost",
    "what cannot",
];

/// British spellings of words that the interface has.
const BRITISH: [&str; 22] = [
    "colour",
    "colours",
    "behaviour",
    "initialised",
    "uninitialised",
    "initialise",
    "optimised",
    "optimise",
    "optimisation",
    "recognised",
    "recognise",
    "recognises",
    "neighbour",
    "neighbours",
    "centre",
    "metre",
    "licence",
    "modelled",
    "labelled",
    "cancelled",
    "serialised",
    "organised",
];

const TOO_LONG: Rule = Rule { name: "too long", is_broken: |sentence| sentence.words() > MOST_WORDS };

const NOUN_CLAUSE: Rule = Rule {
    name: "noun clause",
    // A question may begin so.
    is_broken: |sentence| !sentence.text.ends_with('?') && sentence.has(&NOUN_CLAUSES),
};

const TAIL: Rule = Rule {
    name: "`, too`",
    is_broken: |sentence| {
        sentence.text.trim_end_matches(['.', ':', ';']).ends_with(", too") || sentence.text.contains(", too,")
    },
};

const SPELLING: Rule = Rule { name: "British", is_broken: |sentence| sentence.has(&BRITISH) };

/// All rules.
pub(crate) const ALL: &[Rule] = &[TOO_LONG, NOUN_CLAUSE, TAIL, SPELLING];

/// Those for messages, which are put together from parts.
pub(crate) const OF_MESSAGES: &[Rule] = &[NOUN_CLAUSE, TAIL, SPELLING];

/// The sentences of a text without markup, which all stand at `place`.
pub(crate) fn split(place: &str, text: &str, into: &mut Vec<Sentence>) {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut sentence: Vec<&str> = Vec::new();
    for (number, word) in words.iter().enumerate() {
        sentence.push(word);
        let bare = word.trim_end_matches(['"', '\'', ')', '*', '_', '”']);
        let next_begins = words.get(number + 1).is_none_or(|next| {
            next.trim_start_matches(['"', '\'', '(', '*', '_', '“'])
                .split(|c: char| !c.is_alphanumeric())
                .next()
                .is_some_and(|word| word.contains(|c: char| c.is_uppercase() || c.is_numeric()))
        });
        // What ends in a colon or a semicolon is whole, too.
        let ends = bare.ends_with(['.', '?', '!'])
            && !["e.g.", "i.e.", "etc.", "vs."].contains(&bare)
            && next_begins;
        if ends || bare.ends_with([':', ';']) {
            into.push(Sentence { place: place.to_owned(), text: sentence.join(" ") });
            sentence.clear();
        }
    }
    if !sentence.is_empty() {
        into.push(Sentence { place: place.to_owned(), text: sentence.join(" ") });
    }
}

#[test]
fn rules_are_broken_by_what_they_forbid() {
    let sentence = |text: &str| Sentence { place: String::new(), text: text.to_owned() };
    let broken = |text: &str| {
        ALL.iter().filter(|rule| (rule.is_broken)(&sentence(text))).map(|rule| rule.name).collect::<Vec<_>>()
    };
    assert!(broken("The command prints a line.").is_empty());
    assert_eq!(broken("It prints what the kernel has."), ["noun clause"]);
    assert!(broken("What is a wave?").is_empty());
    assert_eq!(broken("It counts lanes, too."), ["`, too`"]);
    assert_eq!(broken("When to use colours."), ["British"]);
    assert_eq!(broken(&"word ".repeat(MOST_WORDS + 1)), ["too long"]);
    assert!(broken(&"word ".repeat(MOST_WORDS)).is_empty());
}

#[test]
fn sentences_end_where_they_end() {
    let mut found = Vec::new();
    split("", "One (two, e.g. three). Four 1.5 five? Six: seven", &mut found);
    let texts: Vec<&str> = found.iter().map(|sentence| sentence.text.as_str()).collect();
    assert_eq!(texts, ["One (two, e.g. three).", "Four 1.5 five?", "Six:", "seven"]);
}
