//! Which characters do harm, and their stand-ins.
//!
//! A stand-in lies in Unicode's last plane (U+100000 on), which is private: at the harmful character's own
//! place in its plane, tags at U+10E000 and bytes that are no UTF-8 at U+10F000, where the plane of harmful
//! characters has private ones itself.

/// What a character of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Character {
    Harmless(char),
    Harmful(char),
    /// For a harmful one.
    Stands(char),
    /// For a byte that is no UTF-8.
    Byte(u8),
}

const STAND_INS: u32 = 0x10_0000;
const TAGS: u32 = 0x10_e000;
const BYTES: u32 = 0x10_f000;
/// Tags and variation selectors.
const FIRST_TAG: u32 = 0xe_0000;
const LAST_TAG: u32 = 0xe_01ef;

impl Character {
    pub(crate) fn of(c: char) -> Self {
        match u32::from(c) {
            code @ STAND_INS.. => of_stand_in(code),
            _ if is_harmless(c) => Self::Harmless(c),
            _ => Self::Harmful(c),
        }
    }
}

/// What a character of the last plane stands for; one that stands for nothing is harmful itself.
fn of_stand_in(code: u32) -> Character {
    let own = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    let original = match code - STAND_INS {
        place @ 0xe000..=0xe1ef => FIRST_TAG + (place - 0xe000),
        place @ 0xf000..=0xf0ff => return Character::Byte((place - 0xf000) as u8),
        place => place,
    };
    match char::from_u32(original) {
        Some(c) if !is_harmless(c) => Character::Stands(c),
        _ => Character::Harmful(own),
    }
}

/// The stand-in of a harmful character.
pub(crate) fn stand_in(c: char) -> char {
    let code = match u32::from(c) {
        code @ STAND_INS.. => code,
        code @ FIRST_TAG..=LAST_TAG => TAGS + (code - FIRST_TAG),
        code => STAND_INS + code,
    };
    char::from_u32(code).unwrap_or(c)
}

/// The stand-in of a byte that is no UTF-8.
pub(crate) fn stand_in_of_byte(byte: u8) -> char {
    char::from_u32(BYTES + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Whether a character only shows itself. Those that do not command a terminal (control characters of both
/// sets), end a line, turn the direction of text, or cannot be seen; and the last plane is that of stand-ins.
pub(crate) fn is_harmless(c: char) -> bool {
    match c {
        ' '..='~' => true,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' => false,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => false,
        '\u{fff9}'..='\u{fffb}' => false,
        _ => !c.is_control() && !(FIRST_TAG..=LAST_TAG).contains(&u32::from(c)) && u32::from(c) < STAND_INS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_harmful_character_has_a_stand_in_of_its_own() {
        let mut seen = std::collections::BTreeSet::new();
        for c in ('\0'..'\u{100000}').filter(|&c| !is_harmless(c)) {
            assert_eq!(Character::of(c), Character::Harmful(c));
            assert_eq!(Character::of(stand_in(c)), Character::Stands(c));
            assert!(seen.insert(stand_in(c)));
        }
        for byte in 0..=255 {
            assert_eq!(Character::of(stand_in_of_byte(byte)), Character::Byte(byte));
            assert!(seen.insert(stand_in_of_byte(byte)));
        }
    }
}
