//! The list of opcodes: complete, in order, each plain form an instruction that decodes to itself, and the
//! roles of its operands.
//!
//! `tests/opcodes.tsv` has every opcode that LLVM 22 reads and writes, found without our tables by
//! `cargo xtask corpus opcodes`: encoding, number, processors, dwords and text of an example, separated by
//! tabs.

use std::collections::BTreeSet;

use amdgpu_isa::{
    Access, Arch, Encoding, Generation, Inst, MemoryKind, MemoryOperation, Op, Opcode, Reg, Value, decode,
    opcodes, parse,
};

/// One line for one processor.
struct Listed {
    arch: Arch,
    encoding: &'static str,
    number: u16,
    words: Vec<u32>,
    text: &'static str,
}

fn list() -> Vec<Listed> {
    let mut all = Vec::new();
    for line in include_str!("../opcodes.tsv").lines().filter(|line| !line.starts_with('#')) {
        let [encoding, number, archs, words, text] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("not five columns: {line}")
        };
        let words: Vec<u32> = words.split(' ').map(|word| u32::from_str_radix(word, 16).unwrap()).collect();
        for arch in archs.split(' ') {
            let (arch, number) = (arch.parse().unwrap(), number.parse().unwrap());
            all.push(Listed { arch, encoding, number, words: words.clone(), text });
        }
    }
    all
}

/// Those whose opcodes the list has.
fn gcn() -> impl Iterator<Item = Arch> {
    Arch::KNOWN.into_iter().filter(|arch| matches!(arch.generation(), Generation::Gfx8 | Generation::Gfx9))
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// (That ours are LLVM's, each in its plain form, is shown by `xtask`'s tests, which have LLVM at hand.)
#[test]
fn every_opcode_that_llvm_has_is_in_the_tables() {
    let key = |arch: Arch, encoding: &str, number: u16, mnemonic: &str| {
        format!("{arch} {encoding} {number} {mnemonic}")
    };
    let listed: BTreeSet<String> = list()
        .iter()
        .map(|line| {
            let mnemonic = line.text.split(' ').next().unwrap();
            key(line.arch, line.encoding, line.number, mnemonic)
        })
        .collect();
    let ours: BTreeSet<String> = gcn()
        .flat_map(opcodes)
        .map(|opcode| key(opcode.arch(), opcode.encoding().name(), opcode.number(), &opcode.mnemonic()))
        .collect();
    let missing: Vec<_> = listed.difference(&ours).collect();
    assert!(missing.is_empty(), "{} of LLVM's opcodes are not ours: {missing:#?}", missing.len());
    // The search draws words, and may miss a few.
    let share = 100 * listed.len() / ours.len();
    assert!(share >= 98, "only {} of {} pairs are listed", listed.len(), ours.len());
}

#[test]
fn every_listed_opcode_decodes_prints_and_encodes() {
    for Listed { arch, encoding, number, words, text } in list() {
        let inst = decode(arch, &bytes(&words)).unwrap_or_else(|error| panic!("{arch} {text}: {error}"));
        assert_eq!(inst.text(arch), text, "{arch}");
        assert_eq!(inst.encoding.name(), encoding, "{arch} {text}");
        assert_eq!(usize::from(inst.size), words.len() * 4, "{arch} {text}");
        let opcode = Opcode::find(arch, inst.encoding, inst.op).expect("what decodes is in the list");
        assert_eq!(opcode.number(), number, "{arch} {text}");
        let again = inst.encode(arch).unwrap_or_else(|error| panic!("{arch} {text}: {error}"));
        assert_eq!(again.as_slice(), words, "{arch} {text}");
    }
}

#[test]
fn plain_forms_are_instructions() {
    for arch in gcn() {
        let mut last = None;
        for opcode in opcodes(arch) {
            let key = (opcode.encoding(), opcode.number());
            assert!(last < Some(key), "{arch}: {key:?} after {last:?}");
            last = Some(key);
            let name = opcode.mnemonic();
            let inst = opcode.plain().unwrap_or_else(|error| panic!("{arch} {name}: {error}"));
            let words = inst.encode(arch).unwrap_or_else(|error| panic!("{arch} {name}: {error}"));
            let decoded =
                decode(arch, &bytes(&words)).unwrap_or_else(|error| panic!("{arch} {name}: {error}"));
            assert_eq!(decoded, inst, "{arch} {name}");
            assert_eq!((decoded.op, decoded.encoding), (opcode.op(), opcode.encoding()), "{arch} {name}");
            let text = inst.text(arch);
            assert!(text.starts_with(&name), "{arch} {name}: {text}");
            // The names of formats are not read.
            if text.contains("format:[") {
                continue;
            }
            // Without operands, the short form is read.
            let read = parse(arch, &text).unwrap_or_else(|error| panic!("{arch} {text}: {error}"));
            assert!(
                read == inst || inst.operands.is_empty() && read.op == inst.op,
                "{arch} {text}: {read:?}"
            );
        }
    }
}

/// Registers of the operands, EXEC, memory and the wait counters, by the encoding alone (Vega ISA, sections
/// 4.4 and 12).
#[test]
fn every_opcode_has_roles() {
    for arch in gcn() {
        for opcode in opcodes(arch) {
            let inst = opcode.plain().unwrap();
            let effects = inst.effects(arch);
            let name = format!("{arch} {}", inst.text(arch));
            for (register, access) in registers(&inst) {
                if access != Access::Write {
                    assert!(effects.reads.contains(register), "{name} reads {register}");
                }
                if access != Access::Read {
                    assert!(effects.changes().contains(register), "{name} writes {register}");
                }
            }
            use Encoding as E;
            let is_scalar =
                matches!(inst.encoding, E::Sop1 | E::Sop2 | E::Sopk | E::Sopc | E::Sopp | E::Smem);
            assert!(is_scalar || effects.reads.contains(Reg::EXEC_LO), "{name} reads EXEC");
            assert!(is_scalar || effects.reads.contains(Reg::EXEC_HI), "{name} reads EXEC");
            let interpolates = opcode.op().name().starts_with("v_interp_");
            assert!(!interpolates || effects.reads.contains(Reg::M0), "{name} reads M0");

            let is_message = matches!(opcode.op(), Op::s_sendmsg | Op::s_sendmsghalt);
            let gds = inst.mods.gds;
            // VM_CNT, LGKM_CNT, EXP_CNT.
            let counters = match inst.encoding {
                E::Mubuf | E::Mtbuf | E::Mimg | E::Global | E::Scratch => (true, false, false),
                E::Flat => (true, true, false),
                E::Ds => (false, true, gds),
                E::Smem => (false, true, false),
                E::Exp => (false, false, true),
                _ => (false, is_message, false),
            };
            assert_eq!((effects.vm_cnt, effects.lgkm_cnt, effects.exp_cnt), counters, "{name}");

            let kind = match inst.encoding {
                E::Mubuf | E::Mtbuf => Some(MemoryKind::Buffer),
                E::Mimg => Some(MemoryKind::Image),
                E::Global => Some(MemoryKind::Global),
                E::Scratch => Some(MemoryKind::Scratch),
                E::Flat => Some(MemoryKind::Flat),
                E::Ds => Some(if gds { MemoryKind::Gds } else { MemoryKind::Lds }),
                E::Smem => Some(MemoryKind::Smem),
                _ => None,
            };
            if let Some(memory) = effects.memory {
                assert_eq!(Some(memory.kind), kind, "{name}");
                let atomic = matches!(memory.operation, MemoryOperation::Atomic { .. });
                assert!(atomic || !opcode.op().name().contains("_atomic_"), "{name} is an atomic");
                assert!(memory.dwords > 0, "{name} moves data");
            } else {
                let has_data = ["_load_", "_store_", "_atomic_", "ds_read", "ds_write", "image_sample"];
                let is_access = has_data.iter().any(|part| opcode.op().name().contains(part));
                assert!(kind.is_none() || !is_access, "{name} accesses memory");
            }
        }
    }
}

/// Every register of the operands, with its role.
fn registers(inst: &Inst) -> Vec<(Reg, Access)> {
    let mut all = Vec::new();
    for operand in &inst.operands {
        let (first, make): (u8, fn(u8) -> Reg) = match operand.value {
            Value::Scalar(first) => (first, Reg::scalar),
            Value::Vgpr(first) => (first, Reg::vgpr),
            Value::Agpr(first) => (first, Reg::agpr),
            _ => continue,
        };
        assert!(operand.dwords > 0, "a register has a width: {inst:?}");
        all.extend((0..operand.dwords).map(|offset| (make(first + offset), operand.access)));
    }
    all
}
