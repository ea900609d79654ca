//! What to colour in a source text: by rustc's own lexer, when the page is made, so that the page needs no
//! grammar.

use ra_ap_rustc_lexer::{FrontmatterAllowed, LiteralKind, Token, TokenKind, tokenize};

/// How a piece of text is coloured. The page's style has a class for each, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paint {
    Keyword = 1,
    Text,
    Number,
    Comment,
    Type,
    Function,
    Macro,
    Attribute,
    Lifetime,
}

/// The keywords of the language, and those names that read like some.
const KEYWORDS: [&str; 41] = [
    "Self", "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum", "extern",
    "false", "fn", "for", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "type", "union", "unsafe", "use",
    "where", "while", "yield", "macro",
];

/// The primitive types.
const PRIMITIVES: [&str; 17] = [
    "bool", "char", "f16", "f32", "f64", "f128", "i8", "i16", "i32", "i64", "i128", "isize", "str", "u8",
    "u16", "u32", "u64",
];
const MORE_PRIMITIVES: [&str; 2] = ["u128", "usize"];

/// The coloured pieces of a Rust text, in order, three numbers each: UTF-16 units since the end of the one
/// before, units of its own, and its [`Paint`]. UTF-16, for that is how a page's script counts.
pub(super) fn rust(text: &str) -> Vec<u32> {
    let mut painter = Painter::default();
    let tokens: Vec<Token> = tokenize(text, FrontmatterAllowed::No).collect();
    let mut at = 0;
    // Brackets that are open within an attribute.
    let mut depth = 0_u32;
    for (index, token) in tokens.iter().enumerate() {
        let piece = &text[at..at + token.len as usize];
        at += token.len as usize;
        let next = tokens[index + 1..].iter().find(|token| token.kind != TokenKind::Whitespace);
        let next = next.map(|token| token.kind);
        let in_attribute = depth > 0;
        match token.kind {
            TokenKind::Pound
                if matches!(next, Some(TokenKind::OpenBracket | TokenKind::Bang)) && depth == 0 =>
            {
                // The bracket that follows opens it; a `!` may stand between.
                let opens =
                    tokens[index + 1..].iter().take(3).any(|token| token.kind == TokenKind::OpenBracket);
                painter.add(piece, opens.then_some(Paint::Attribute));
                depth = u32::from(opens);
                painter.opening = opens;
                continue;
            }
            TokenKind::OpenBracket if in_attribute => {
                if !std::mem::take(&mut painter.opening) {
                    depth += 1;
                }
                painter.add(piece, Some(Paint::Attribute));
                continue;
            }
            TokenKind::CloseBracket if in_attribute => {
                depth -= 1;
                painter.add(piece, Some(Paint::Attribute));
                continue;
            }
            _ => {}
        }
        let paint = paint(token.kind, piece, next);
        let is_plain =
            matches!(paint, None | Some(Paint::Keyword | Paint::Type | Paint::Function | Paint::Macro));
        painter.add(piece, if in_attribute && is_plain { Some(Paint::Attribute) } else { paint });
    }
    painter.pieces
}

fn paint(kind: TokenKind, piece: &str, next: Option<TokenKind>) -> Option<Paint> {
    match kind {
        TokenKind::LineComment { .. } | TokenKind::BlockComment { .. } => Some(Paint::Comment),
        TokenKind::Lifetime { .. } | TokenKind::RawLifetime => Some(Paint::Lifetime),
        TokenKind::Literal { kind: LiteralKind::Int { .. } | LiteralKind::Float { .. }, .. } => {
            Some(Paint::Number)
        }
        TokenKind::Literal { .. } => Some(Paint::Text),
        TokenKind::Ident if KEYWORDS.contains(&piece) => Some(Paint::Keyword),
        TokenKind::Ident if PRIMITIVES.contains(&piece) || MORE_PRIMITIVES.contains(&piece) => {
            Some(Paint::Type)
        }
        TokenKind::Ident if next == Some(TokenKind::Bang) => Some(Paint::Macro),
        TokenKind::Ident if piece.starts_with(char::is_uppercase) => Some(Paint::Type),
        TokenKind::Ident if next == Some(TokenKind::OpenParen) => Some(Paint::Function),
        _ => None,
    }
}

#[derive(Default)]
struct Painter {
    pieces: Vec<u32>,
    /// Units since the end of the last piece.
    gap: u32,
    /// The next bracket is the one of the attribute that has begun.
    opening: bool,
}

impl Painter {
    fn add(&mut self, piece: &str, paint: Option<Paint>) {
        let units = piece.encode_utf16().count() as u32;
        match (paint, &mut self.pieces[..]) {
            (None, _) => self.gap += units,
            // As the one before, and next to it.
            (Some(paint), [.., length, last]) if self.gap == 0 && *last == paint as u32 => *length += units,
            (Some(paint), _) => {
                self.pieces.extend([std::mem::take(&mut self.gap), units, paint as u32]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The coloured pieces as text.
    fn painted(text: &str) -> Vec<(String, u32)> {
        let units: Vec<u16> = text.encode_utf16().collect();
        let mut at = 0;
        let piece = |numbers: &[u32]| {
            let [gap, length, paint] = numbers[..] else { panic!("three numbers") };
            let start = at + gap as usize;
            at = start + length as usize;
            (String::from_utf16(&units[start..at]).unwrap(), paint)
        };
        rust(text).chunks(3).map(piece).collect()
    }

    #[test]
    fn pieces_of_a_kernel() {
        let text = "/// Ä: 𝄞\n#[probe(\"a[b]\", expect)]\nif x < 0x1f { f::<u32>(\"s\", 'a') } else { println!(\"{}\", Self::A) }";
        let (keyword, string, attribute) =
            (Paint::Keyword as u32, Paint::Text as u32, Paint::Attribute as u32);
        let expected = [
            ("/// Ä: 𝄞", Paint::Comment as u32),
            ("#[probe(", attribute),
            ("\"a[b]\"", string),
            (", expect)]", attribute),
            ("if", keyword),
            ("0x1f", Paint::Number as u32),
            ("u32", Paint::Type as u32),
            ("\"s\"", string),
            ("'a'", string),
            ("else", keyword),
            ("println", Paint::Macro as u32),
            ("\"{}\"", string),
            ("Self", keyword),
            ("A", Paint::Type as u32),
        ];
        assert_eq!(painted(text), expected.map(|(text, paint)| (text.to_owned(), paint)));
    }

    #[test]
    fn whatever_stands_there() {
        for text in ["", "#", "#[", "#![x", "\"open", "/* open", "'", "]]]", "#[a[b]c] d", "r#\"x\"", "\u{0}"]
        {
            let all: String = painted(text).into_iter().map(|(text, _)| text).collect();
            assert!(all.len() <= text.len(), "{text}");
        }
        let inner = painted("#[a[b]c] d()");
        assert_eq!(inner, [("#[a[b]c]".to_owned(), 8), ("d".to_owned(), 6)]);
    }
}
