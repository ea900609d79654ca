//! Names of kernels for people: C++ and Rust compilers mangle them.

/// The name as the source has it, template arguments included, without parameters and return type. `None` if it is not mangled.
pub fn demangled(name: &str) -> Option<String> {
    if name.starts_with("_Z") {
        let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
        let symbol = cpp_demangle::Symbol::new(name).ok();
        // Rust's older names are C++ names that end in a hash.
        if let Ok(rust) = rustc_demangle::try_demangle(name) {
            return Some(format!("{rust:#}"));
        }
        return symbol?.demangle(&options).ok();
    }
    rustc_demangle::try_demangle(name).ok().map(|name| format!("{name:#}"))
}

/// Characters of a short name, about.
const ROOM: usize = 64;

/// The name for a heading: demangled, without namespaces, template arguments as far as there is room. A name that is not
/// mangled stays as it is.
///
/// ```
/// use amdinst_core::names::short;
/// assert_eq!(short("_Z8branchesPj"), "branches");
/// assert_eq!(short("_ZN3one3two4fillINS_4vecIIfEELi64EEEvPT_"), "fill<vecI<float>, 64>");
/// assert_eq!(short("vector_add"), "vector_add");
/// ```
pub fn short(name: &str) -> String {
    demangled(name).map_or_else(|| name.to_owned(), |full| shorten(&full))
}

fn shorten(full: &str) -> String {
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

    /// A path up to a comma or a closing bracket that belongs to nobody here: its last part, with its arguments.
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
    fn full_names_keep_what_tells_instances_apart() {
        assert_eq!(demangled("_Z8branchesPj").as_deref(), Some("branches"));
        assert_eq!(demangled("vector_add"), None);
        assert_eq!(demangled("_not_mangled"), None);
        assert_eq!(
            demangled("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE").as_deref(),
            Some("core::fmt::Write::write_fmt")
        );
        assert_eq!(demangled("_RNvCs1234_7mycrate3foo").as_deref(), Some("mycrate::foo"));
    }

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
