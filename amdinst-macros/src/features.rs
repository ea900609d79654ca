//! The features that a crate is compiled with.
//!
//! Cargo tells a crate's features to the compiler alone (`--cfg feature="NAME"`), and macros run inside of
//! it, so they are among the arguments of this process. An editor's server of macros is another program: then
//! nothing is known.

/// The names, sorted and separated by commas; `None` if the arguments are not the compiler's own.
pub(crate) fn active(arguments: impl Iterator<Item = String>) -> Option<String> {
    let mut names = Vec::new();
    let mut is_compiler = false;
    let mut last = String::new();
    for argument in arguments {
        is_compiler |= last == "--crate-name" || argument.starts_with("--crate-name=");
        // Arguments that are too many stand in a file, which cargo names in their place.
        if argument.starts_with('@') {
            return None;
        }
        let setting = if last == "--cfg" { Some(argument.as_str()) } else { argument.strip_prefix("--cfg=") };
        let name = setting.and_then(|setting| setting.strip_prefix("feature=\"")?.strip_suffix('"'));
        names.extend(name.map(str::to_owned));
        last = argument;
    }
    names.sort();
    names.dedup();
    is_compiler.then(|| names.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Option<String> {
        active(words.iter().map(|word| (*word).to_owned()))
    }

    #[test]
    fn features_are_sorted_and_settings_of_other_kinds_left_out() {
        let words = [
            "rustc",
            "--crate-name",
            "k",
            "--cfg",
            "feature=\"b\"",
            "--cfg=feature=\"a\"",
            "--cfg",
            "tokio_unstable",
            "--check-cfg",
            "cfg(feature, values(\"c\"))",
        ];
        assert_eq!(of(&words).as_deref(), Some("a,b"));
        assert_eq!(of(&["rustc", "--crate-name", "k"]).as_deref(), Some(""));
    }

    #[test]
    fn nothing_is_known_outside_of_the_compiler() {
        assert_eq!(of(&["rust-analyzer-proc-macro-srv"]), None);
        assert_eq!(of(&["rustc", "@arguments"]), None);
    }
}
