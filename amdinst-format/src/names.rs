//! Names of kernels, short enough for headings.

/// Characters of a short name, about.
const ROOM: usize = 64;

/// A demangled name without namespaces, template arguments as far as there is room.
///
/// ```
/// use amdinst_format::names::shorten;
/// assert_eq!(shorten("one::two::fill<one::vec<float>, 64>"), "fill<vec<float>, 64>");
/// ```
pub fn shorten(full: &str) -> String {
    let text: Vec<char> = full.chars().collect();
    let mut reader = Reader { text: &text, at: 0 };
    let name = reader.name();
    // What is no path, as a literal of an unknown kind, is better shown whole than cut.
    if name.is_empty() || reader.at < text.len() { full.to_owned() } else { name }
}

/// Reads a path with template arguments.
struct Reader<'a> {
    text: &'a [char],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn next_is(&self, what: &str) -> bool {
        let mut rest = self.text[self.at..].iter();
        what.chars().all(|wanted| rest.next() == Some(&wanted))
    }

    /// A path up to a comma or a closing bracket that belongs to nobody here: its last part, with its
    /// arguments.
    fn name(&mut self) -> String {
        let mut part = String::new();
        while let Some(next) = self.peek() {
            match next {
                ',' | '>' => break,
                ':' if self.next_is("::") => {
                    self.at += 2;
                    part.clear();
                }
                '<' => {
                    self.at += 1;
                    let arguments = self.arguments(ROOM.saturating_sub(part.chars().count()));
                    part.push_str(&arguments);
                }
                '(' | '{' => part.push_str(&self.group()),
                'o' if part.is_empty() && self.next_is("operator") => part.push_str(&self.operator()),
                _ => {
                    self.at += 1;
                    part.push(next);
                }
            }
        }
        part.trim().to_owned()
    }

    /// Arguments and the bracket behind them, in that much room: what has none is an ellipsis.
    fn arguments(&mut self, room: usize) -> String {
        let mut text = "<".to_owned();
        let mut full = false;
        loop {
            let argument = self.name();
            full |= text.chars().count() + argument.chars().count() > room;
            if !full {
                text.push_str(&argument);
            }
            match self.peek() {
                Some(',') => {
                    self.at += 1;
                    if !full {
                        text.push_str(", ");
                    }
                }
                next => {
                    self.at += usize::from(next.is_some());
                    text.push_str(if full { "…>" } else { ">" });
                    return text;
                }
            }
        }
    }

    /// What stands in round or curly brackets, with them.
    fn group(&mut self) -> String {
        let mut depth = 0;
        let mut text = String::new();
        while let Some(next) = self.peek() {
            self.at += 1;
            text.push(next);
            depth += match next {
                '(' | '{' => 1,
                ')' | '}' => -1,
                _ => 0,
            };
            if depth == 0 {
                break;
            }
        }
        text
    }

    /// `operator` with its sign, which may be a bracket.
    fn operator(&mut self) -> String {
        const SIGNS: [&str; 8] = ["()", "<=>", "<<=", ">>=", "<<", ">>", "<", ">"];
        self.at += "operator".len();
        let sign = SIGNS.into_iter().find(|sign| self.next_is(sign)).unwrap_or_default();
        self.at += sign.chars().count();
        format!("operator{sign}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_lose_namespaces_and_what_there_is_no_room_for() {
        for (full, name) in [
            ("a::b::fill", "fill"),
            ("a::(anonymous namespace)::fill<int>", "fill<int>"),
            ("sum<std::plus<int>, 256u>", "sum<plus<int>, 256u>"),
            ("outer<int>::inner<a::x<b::y>>::run", "run"),
            ("f<(a::order)1, true>", "f<(a::order)1, true>"),
            ("wrap<a::f()::{lambda(int)#1}>", "wrap<{lambda(int)#1}>"),
            ("a::less::operator()<int>", "operator()<int>"),
            ("operator<< <int>", "operator<< <int>"),
            ("fill", "fill"),
            ("odd)name", "odd)name"),
            ("stray>", "stray>"),
        ] {
            assert_eq!(shorten(full), name);
        }
        let long = format!("kernel<{}>", ["some::where::argument"; 20].join(", "));
        assert_eq!(shorten(&long), "kernel<argument, argument, argument, argument, argument, …>");
        // Whatever it is, it ends, and loses nothing that it does not understand.
        for text in ["<", "a<<<", "a::", "::", "(", "a<b", "a,b", "é<ü>", "operator"] {
            assert!(!shorten(text).is_empty(), "{text}");
        }
    }
}
