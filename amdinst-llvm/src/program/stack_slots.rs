//! Stack slots at addresses that LLVM computes right.
//!
//! Where SCC is in use, LLVM 22 adds the offset of a stack slot with `s_addc_u32`, takes SCC back from bit 0
//! of the sum, and clears that bit (`SIRegisterInfo::eliminateFrameIndex`). So a slot at an odd offset is
//! taken for another one, and SCC for its opposite. It is seen at opt-level 0 on gfx1100, where a `bool` or
//! `u8` has a slot of one byte. Here every slot begins at a multiple of four.

/// A program whose stack slots are aligned.
pub(crate) fn aligned(ir: &str) -> String {
    let mut out = String::with_capacity(ir.len());
    for line in ir.split_inclusive('\n') {
        match line.contains(" = alloca ").then(|| narrow(line)).flatten() {
            Some(digit) => {
                out.push_str(&line[..digit]);
                out.push('4');
                out.push_str(&line[digit + 1..]);
            }
            None => out.push_str(line),
        }
    }
    out
}

/// Where the alignment of a slot stands, if it is of one or two bytes.
fn narrow(line: &str) -> Option<usize> {
    const ALIGN: &str = ", align ";
    let digit = line.rfind(ALIGN)? + ALIGN.len();
    let rest = &line.as_bytes()[digit..];
    (matches!(rest.first()?, b'1' | b'2') && !rest.get(1).is_some_and(u8::is_ascii_digit)).then_some(digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_slots_get_wider() {
        let ir = "  %a = alloca [1 x i8], align 1, addrspace(5)\n  %b = alloca i8, align 2\n  %c = alloca [2 x i64], align 16, addrspace(5), !dbg !1\n  %d = load i8, ptr %a, align 1\n";
        let aligned = aligned(ir);
        assert_eq!(
            aligned,
            "  %a = alloca [1 x i8], align 4, addrspace(5)\n  %b = alloca i8, align 4\n  %c = alloca [2 x i64], align 16, addrspace(5), !dbg !1\n  %d = load i8, ptr %a, align 1\n"
        );
    }
}
