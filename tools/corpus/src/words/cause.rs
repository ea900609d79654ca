//! Why LLVM's disassembler prints a word that we refuse: each cause is LLVM's own doing, and shows in its
//! answers.
//!
//! A refusal of ours without a cause is a difference. Causes are counted one by one, so that one that grows
//! is seen.

use amdgpu_isa::{DecodeError, Illegal, Target, decode, decode_for_listing};

use super::judge::bytes;
use super::referee::Assembly;

/// What is known of a word that we refuse and LLVM's disassembler prints.
pub(super) struct Evidence<'a> {
    pub(super) target: Target,
    pub(super) words: &'a [u32],
    /// Our reason.
    pub(super) error: &'a DecodeError,
    /// What LLVM prints.
    pub(super) text: &'a str,
    /// What LLVM's assembler makes of that.
    pub(super) assembly: &'a Assembly,
}

/// What LLVM's assembler says where it names the rule that is broken. Its other messages name none.
const RULES: &[&str] = &[
    "'null' operand is not supported on this GPU",
    "invalid immediate: only",
    "expected a 11-bit unsigned offset",
    "expected a 12-bit unsigned offset",
    "expected a 20-bit unsigned offset",
    "flat offset modifier is not supported on this GPU",
    "image address size does not match dim and a16",
    "image data size does not match dmask",
    "inline constants are not allowed for this operand",
    "invalid atomic image dmask",
    "invalid dim; must be MSAA type",
    "invalid exp target",
    "invalid image_gather dmask: only one bit must be set",
    "invalid interpolation slot",
    "invalid op_sel operand",
    "invalid operand (violates constant bus restrictions)",
    "invalid register class",
    "instruction must use th:TH_ATOMIC_RETURN",
    "invalid th value",
    "lds_direct cannot be used with this instruction",
    "lds_direct is not supported on this GPU",
    "lds_direct may be used as src0 only",
    "literal operands are not supported",
    "must not partially overlap with dst",
    "nv is not supported on this GPU",
    "only one unique literal operand is allowed",
    "out of bounds interpolation attribute number",
    "register index is out of range",
    "register not available on this GPU",
    "scale_offset is not supported",
    "scope and th combination is not valid",
    "source operand must be a VGPR",
    "source operand must be either a VGPR or an inline constant",
    "src0 must be null",
    "src0 operands must use different VGPR banks",
    "src1 immediate operand invalid for instruction",
    "src1 operands must use different VGPR banks",
    "src2 operands must use different VGPR banks",
    "TFE modifier has no meaning for store instructions",
    "vgpr must be even aligned",
];

/// The messages of LLVM's assembler that name no rule.
const NAMELESS: &[&str] = &[
    "invalid operand for instruction",
    "not a valid operand.",
    "failed parsing operand.",
    "operands are not valid for this GPU or mode",
    "expected an identifier",
];

const ANOTHER_GENERATIONS: &str = "an encoding of another generation, which LLVM lets pass";

/// The six bits that begin GFX9's VOP3 and VOP3P.
const GFX9_VOP3: u32 = 0b11_0100;

/// Whether a message of LLVM's assembler names no rule.
pub(super) fn is_nameless(message: &str) -> bool {
    NAMELESS.contains(&message)
}

/// A cause that LLVM's assembler gives no name.
struct Nameless {
    name: &'static str,
    holds: fn(&Evidence<'_>) -> bool,
}

/// The causes of messages that name no rule.
const NAMELESS_CAUSES: &[Nameless] = &[
    Nameless { name: "a number wider than the 16 bits of its operand", holds: is_too_wide },
    // LLVM prints the number of such a hint, and reads names alone: whatever else is wrong with the word.
    Nameless { name: "a temporal hint that has no name", holds: |word| word.text.contains(" th:0x") },
    Nameless {
        name: "a register where the number of a barrier must be",
        holds: |word| word.is(Illegal::Kind("no number of a barrier")),
    },
    Nameless { name: "NULL as a resource or a sampler", holds: has_null_resource },
    Nameless { name: "a literal beside a lane permutation", holds: has_permuted_literal },
    Nameless {
        name: "a scalar value beside a lane permutation, before GFX11.5",
        holds: |word| word.permutes() && word.is(Illegal::Kind("a scalar source")),
    },
    Nameless {
        name: "a float for 16 bits of integer, where no literal can be",
        holds: |word| word.is(Illegal::Kind("a float")),
    },
    Nameless {
        name: "a pair of registers beside a lane permutation",
        holds: |word| word.permutes() && word.is(Illegal::Kind("a register pair")),
    },
    Nameless {
        name: "a part of a register as the result of an SDWA form that adds to it",
        holds: |word| word.text.starts_with("v_mac_") && word.is(Illegal::Field("DST_SEL")),
    },
    Nameless { name: "a sign of a float of 8 bits", holds: has_signed_byte },
    Nameless {
        name: "a literal as the target of a fork",
        holds: |word| word.text.starts_with("s_cbranch_g_fork ") && word.is(Illegal::ReservedCode(255)),
    },
    Nameless {
        name: "an aperture as a destination",
        holds: |word| word.is(Illegal::Kind("an aperture")) && word.has_special(),
    },
    Nameless { name: "a mask of lanes in vector registers", holds: has_vector_mask },
    Nameless {
        name: "a scalar value where a vector register must be",
        holds: |word| word.is(Illegal::Kind("a scalar source")) && word.has_special(),
    },
    Nameless {
        name: "a constant where a scalar register must be",
        holds: |word| word.is(Illegal::Kind("a constant")) && word.has_special(),
    },
    Nameless { name: "LDS where none can be", holds: |word| word.text.contains("src_lds_direct") },
    Nameless {
        name: "EXEC as an address",
        holds: |word| word.is(Illegal::Kind("EXEC")) && word.text.contains("exec"),
    },
    Nameless {
        name: "a literal as a matrix",
        holds: |word| word.text.starts_with("v_wmma") && word.has_literal(),
    },
    Nameless {
        name: "a literal as the number of a lane",
        holds: |word| {
            let moves_one = ["v_writelane_b32 ", "v_readlane_b32 "];
            moves_one.iter().any(|name| word.text.starts_with(name)) && word.has_literal()
        },
    },
    Nameless { name: "a negated literal, for which there is no text", holds: has_changed_literal },
    Nameless {
        name: "a marked literal, which the assembler of this instruction cannot read",
        holds: |word| {
            let unread = ["v_dot2acc_f32_f16 ", "v_dot2c_f32_f16 ", "v_pk_fmac_f16 "];
            unread.iter().any(|name| word.text.starts_with(name)) && word.text.contains("lit(")
        },
    },
    Nameless {
        name: "a buffer addressed backwards",
        holds: |word| {
            let buffers = ["s_buffer_load", "s_atc_probe_buffer"];
            buffers.iter().any(|name| word.text.starts_with(name))
                && matches!(word.reason(), Some(Illegal::Immediate(offset)) if offset < 0)
        },
    },
    Nameless {
        name: ANOTHER_GENERATIONS,
        holds: |word| word.words[0] >> 26 == GFX9_VOP3 && word.begins_nothing(),
    },
];

/// The cause, if there is one.
pub(super) fn of(word: &Evidence<'_>) -> Option<String> {
    if word.text.contains("/*") {
        return Some("LLVM's text itself says so".to_owned());
    }
    match word.assembly {
        Assembly::Refused(message) => {
            if let Some(rule) = RULES.iter().find(|rule| message.contains(*rule)) {
                return Some(format!("LLVM's assembler: {rule}"));
            }
            if !is_nameless(message) {
                return None;
            }
            let cause = NAMELESS_CAUSES.iter().find(|cause| (cause.holds)(word))?;
            Some(cause.name.to_owned())
        }
        Assembly::Bytes(theirs) => another_word(word, theirs).map(str::to_owned),
    }
}

/// Why LLVM's text gives other bytes.
fn another_word(word: &Evidence<'_>, theirs: &[u8]) -> Option<&'static str> {
    let first = word.words[0];
    if theirs.get(3).is_some_and(|&top| top >> 2 != (first >> 26) as u8) {
        return Some(ANOTHER_GENERATIONS);
    }
    if has_no_literals(first) && word.text.contains("lit(") {
        return Some("a literal where there is no room for one, which LLVM's assembler drops");
    }
    if has_permuted_literal(word) {
        return Some("a literal beside a lane permutation");
    }
    if has_literal_code(word.words) && theirs.len() == 8 {
        return Some("a literal where none can be, which LLVM's assembler takes for a constant");
    }
    if word.is(Illegal::Field("NSA")) {
        return Some("more dwords of addresses than an image needs, which LLVM drops");
    }
    if is_too_wide(word) {
        return Some("a number wider than the 16 bits of its operand, which LLVM cuts off");
    }
    let reads_as_this = decode(word.target, theirs).is_ok_and(|inst| inst.text(word.target) == word.text);
    if has_changed_literal(word) && !reads_as_this {
        return Some("a negated literal, for which there is no text");
    }
    if word.is(Illegal::Field("OP_SEL")) && !bytes(word.words).starts_with(theirs) {
        return Some("a half of a source that there is not, which LLVM drops");
    }
    if word.is(Illegal::Kind("no number of a barrier")) {
        return Some("a register where the number of a barrier must be, which LLVM lets pass");
    }
    if word.is(Illegal::Field("TH")) && word.text.contains("th:TH_ATOMIC_CASCADE") {
        return Some("a cascade of atomics that returns a value, which LLVM's text drops");
    }
    if word.is(Illegal::TwoLiterals) && !reads_as_this {
        return Some("two literals, of which one reads as a constant");
    }
    None
}

impl Evidence<'_> {
    /// Whether this is our reason.
    fn is(&self, wanted: Illegal) -> bool {
        self.reason() == Some(wanted)
    }

    /// Whether no encoding of the processor begins like this.
    fn begins_nothing(&self) -> bool {
        matches!(self.error, DecodeError::UnknownEncoding { .. })
    }

    fn reason(&self) -> Option<Illegal> {
        match self.error {
            DecodeError::IllegalOperand { reason, .. } => Some(*reason),
            _ => None,
        }
    }

    /// Whether the text permutes lanes.
    fn permutes(&self) -> bool {
        self.text.contains(" dpp8:") || self.text.contains(" row_mask:")
    }

    /// Whether a source is NULL or one of those that are no register.
    fn has_special(&self) -> bool {
        self.text.contains("src_") || self.text.contains("null")
    }

    /// Whether an operand behind the first is a literal.
    fn has_literal(&self) -> bool {
        self.text.contains(", 0x") || self.text.contains(", lit(")
    }
}

/// A literal of which more than the low half is set, where an operand has no other: whatever else is wrong
/// with such a word, LLVM's assembler reads none of those.
fn is_too_wide(word: &Evidence<'_>) -> bool {
    decode_for_listing(word.target, &bytes(word.words)).is_ok_and(|inst| inst.has_wide_half(word.target))
}

/// A buffer or an image whose description is NULL. What else is wrong with an image is told first by one or
/// the other.
fn has_null_resource(word: &Evidence<'_>) -> bool {
    let has_null = word.text.contains(" null");
    // A buffer's offset may be NULL: the resource is the operand before that.
    let resource_is_null = |name: &str, operand: usize| {
        word.text.starts_with(name) && word.text.split(", ").nth(operand).is_some_and(|text| text == "null")
    };
    has_null && (word.is(Illegal::Kind("NULL")) || word.text.starts_with("image_"))
        || resource_is_null("s_buffer_", 1)
        || resource_is_null("buffer_", 2)
        || resource_is_null("tbuffer_", 2)
}

/// The code of a literal in a word whose third dword permutes lanes: LLVM takes some other number for its
/// value.
fn has_permuted_literal(word: &Evidence<'_>) -> bool {
    word.permutes() && (word.is(Illegal::ReservedCode(255)) || has_literal_code(word.words))
}

/// The third source of an addition with carry, or of a selection, is a vector register in LLVM's text, or a
/// literal.
fn has_vector_mask(word: &Evidence<'_>) -> bool {
    let mnemonic = word.text.split(' ').next().unwrap_or_default();
    let takes_mask = ["_cndmask_", "_co_ci_", "v_addc_", "v_subb_", "v_subbrev_"];
    takes_mask.iter().any(|part| mnemonic.contains(part))
        && matches!(word.reason(), Some(Illegal::ReservedCode(256..)))
}

/// The sign of an integer for a float of 8 bits.
fn has_signed_byte(word: &Evidence<'_>) -> bool {
    let mnemonic = word.text.split(' ').next().unwrap_or_default();
    word.text.contains("sext(") && (mnemonic.contains("_fp8") || mnemonic.contains("_bf8"))
}

/// A literal with a sign or as an absolute value: LLVM reads none where it marks it, and none of a double.
fn has_changed_literal(word: &Evidence<'_>) -> bool {
    ["-lit(", "neg(0x", "|0x", "|lit("].iter().any(|changed| word.text.contains(changed))
}

/// GFX9's VOP3 and VOP3P have no room for a literal.
fn has_no_literals(first: u32) -> bool {
    first >> 26 == GFX9_VOP3
}

/// Whether a source of GFX11's VOP3 or VOP3P is a literal.
fn has_literal_code(words: &[u32]) -> bool {
    let is_literal = |second: &u32| [0, 9, 18].iter().any(|lsb| second >> lsb & 0x1ff == 0xff);
    matches!(words[0] >> 26, 0b11_0101 | 0b11_0011) && words.get(1).is_some_and(is_literal)
}
