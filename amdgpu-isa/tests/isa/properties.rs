//! What must hold for any words: no panic, exact round trips, sane effects.

use amdgpu_isa::{Access, Arch, Flow, Value, decode};
use proptest::prelude::*;

/// Words whose first dword looks like one of the encodings, so that many of them decode.
fn words() -> impl Strategy<Value = [u32; 4]> {
    let prefixes = prop::sample::select(vec![
        (0x0000_0000_u32, 0x7fff_ffff_u32),
        (0x7c00_0000, 0x03ff_ffff),
        (0x7e00_0000, 0x01ff_ffff),
        (0x7e00_00f9, 0x01ff_fe00),
        (0x0000_00fa, 0x7fff_fe00),
        (0x8000_0000, 0x3fff_ffff),
        (0xb000_0000, 0x0fff_ffff),
        (0xbe80_0000, 0x007f_3fff),
        (0xbf00_0000, 0x007f_ffff),
        (0xbf80_0000, 0x007f_ffff),
        (0xc000_0000, 0x03bf_7fff),
        (0xd000_0000, 0x03ff_ffff),
        (0xd380_0000, 0x007f_ffff),
        (0xd800_0000, 0x01ff_ffff),
        (0xdc00_0000, 0x03ff_dfff),
        (0xe000_0000, 0x01ff_ffff),
        (0xe800_0000, 0x03ff_ffff),
        (0xf000_0000, 0x03ff_ffff),
    ]);
    (prefixes, any::<[u32; 4]>()).prop_map(|((prefix, free), mut words)| {
        words[0] = prefix | words[0] & free;
        words
    })
}

fn arch() -> impl Strategy<Value = Arch> {
    prop::sample::select(Arch::ALL.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn what_decodes_encodes_to_the_same_bytes(arch in arch(), words in words()) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let Ok(inst) = decode(arch, &bytes) else { return Ok(()) };
        let again = inst.encode(arch).expect("what decodes can be encoded");
        prop_assert_eq!(again.as_slice(), &words[..usize::from(inst.size) / 4]);
        prop_assert!(!inst.text(arch).contains("reserved"), "{}", inst.text(arch));
    }

    #[test]
    fn effects_cover_the_operands(arch in arch(), words in words()) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let Ok(inst) = decode(arch, &bytes) else { return Ok(()) };
        let effects = inst.effects(arch);
        prop_assert!(!effects.writes.intersects(&effects.partial), "{}", inst.text(arch));
        for operand in &inst.operands {
            let first = match operand.value {
                Value::Scalar(number) => amdgpu_isa::Reg::scalar(number),
                Value::Vgpr(number) => amdgpu_isa::Reg::vgpr(number),
                Value::Agpr(number) => amdgpu_isa::Reg::agpr(number),
                _ => continue,
            };
            if operand.access != Access::Write {
                prop_assert!(effects.reads.contains(first), "{}", inst.text(arch));
            }
            if operand.access != Access::Read {
                prop_assert!(effects.changes().contains(first), "{}", inst.text(arch));
                // No vector register is wholly replaced, for lanes may be off.
                prop_assert!(first.as_vgpr().is_none() || !effects.writes.contains(first));
            }
        }
        if let Flow::Branch { offset } | Flow::CondBranch { offset, .. } = inst.flow() {
            prop_assert_eq!(offset % 4, 0);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(arch in arch(), bytes in prop::collection::vec(any::<u8>(), 0..20)) {
        if let Ok(inst) = decode(arch, &bytes) {
            let _ = (inst.text(arch), inst.effects(arch), inst.flow());
        }
    }
}
