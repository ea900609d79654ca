//! The list of opcodes: complete, in order, and each plain form an instruction that decodes to itself.

use amdinst_core::Arch;
use amdinst_core::isa::{decode, opcodes};

#[test]
fn plain_forms_are_instructions() {
    for arch in Arch::ALL {
        let mut last = None;
        let mut count = 0;
        for opcode in opcodes(arch) {
            let key = (opcode.encoding(), opcode.number());
            assert!(last < Some(key), "{arch}: {key:?} after {last:?}");
            last = Some(key);
            count += 1;
            let name = opcode.mnemonic();
            let inst = opcode.plain().unwrap_or_else(|error| panic!("{arch} {name}: {error}"));
            let words = inst.encode(arch).unwrap_or_else(|error| panic!("{arch} {name}: {error}"));
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let decoded = decode(arch, &bytes).unwrap_or_else(|error| panic!("{arch} {name}: {error}"));
            assert_eq!(decoded, inst, "{arch} {name}");
            assert_eq!((decoded.op, decoded.encoding), (opcode.op(), opcode.encoding()), "{arch} {name}");
            assert!(inst.text(arch).to_string().starts_with(&name), "{arch} {name}: {}", inst.text(arch));
        }
        assert!(count > 1500, "{arch}: only {count} opcodes");
    }
}
