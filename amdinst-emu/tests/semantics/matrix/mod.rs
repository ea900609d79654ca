//! Matrix instructions: layouts, values, arithmetic, modifiers.
//!
//! Expected values come from [`oracle`], a triple loop over matrices whose layout is written after the manual
//! and checked against AMD's matrix instruction calculator.

mod arithmetic;
mod layouts;
mod modifiers;
mod oracle;
pub(crate) mod rdna;
mod scaled;
mod values;

use amdgpu_isa::{Arch, Inst, Value};
use amdinst_emu::{Config, Fault, Machine, WaveState};

use crate::coverage::Snippet;
use crate::formats::{self, Format};
use crate::random::Random;

/// Processors with matrix instructions.
const ARCHS: [Arch; 4] = [Arch::Gfx908, Arch::Gfx90a, Arch::Gfx942, Arch::Gfx950];

/// One row of `shapes.txt`.
#[derive(Clone, Copy, Debug)]
struct Shape {
    name: &'static str,
    size: usize,
    depth: usize,
    blocks: usize,
    a: &'static str,
    b: &'static str,
}

impl Shape {
    fn is_sparse(&self) -> bool {
        self.name.starts_with("v_smfmac")
    }

    /// Elements of A along the depth that are stored.
    fn stored(&self) -> usize {
        if self.is_sparse() { self.depth / 2 } else { self.depth }
    }
}

/// The rows of `shapes.txt`.
fn shapes() -> Vec<Shape> {
    let lines = include_str!("shapes.txt").lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let words: Vec<&'static str> = line.split_whitespace().collect();
            let number = |at: usize| words[at].parse().unwrap();
            Shape {
                name: words[0],
                size: number(1),
                depth: number(2),
                blocks: number(3),
                a: words[4],
                b: words[5],
            }
        })
        .collect()
}

/// The plain form of every matrix instruction of a processor, and its shape.
fn instructions(arch: Arch) -> Vec<(Inst, Shape)> {
    let shapes = shapes();
    amdgpu_isa::opcodes(arch)
        .filter(|opcode| {
            let name = opcode.op().name();
            (name.starts_with("v_mfma_") || name.starts_with("v_smfmac_"))
                && !["v_mfma_ld_scale_b32"].contains(&name)
        })
        .map(|opcode| {
            let name = opcode.op().name();
            let shape = shapes.iter().find(|shape| shape.name == name);
            let shape = shape.unwrap_or_else(|| panic!("{arch}: {name} is not in shapes.txt"));
            (opcode.plain().unwrap(), *shape)
        })
        .collect()
}

/// An `f8f6f4` instruction with formats that CBSZ and BLGP name; its operands are as wide as these need.
fn with_formats(arch: Arch, plain: &Inst, cbsz: u8, blgp: u8) -> Inst {
    let mut inst = plain.clone();
    (inst.mods.cbsz, inst.mods.blgp) = (cbsz, blgp);
    for (at, code) in [(1, cbsz), (2, blgp)] {
        inst.operands[at].dwords = formats::by_code(code).bits() as u8;
    }
    let words = inst.encode(arch).unwrap_or_else(|error| panic!("{}: {error}", inst.text(arch)));
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    amdgpu_isa::decode(arch, &bytes).unwrap()
}

/// Operands by role: result, A, B, C or index.
fn operand(inst: &Inst, at: usize) -> Value {
    inst.operands[at].value
}

/// Set one lane of a dword of a vector operand.
fn put(state: &mut WaveState, value: Value, at: usize, lane: usize, bits: u32) {
    match value {
        Value::Vgpr(first) => {
            let number = usize::from(first) + at;
            let mut lanes = state.vgpr(number);
            lanes[lane] = bits;
            state.set_vgpr(number, lanes);
        }
        Value::Agpr(first) => {
            let number = usize::from(first) + at;
            let mut lanes = state.agpr(number);
            lanes[lane] = bits;
            state.set_agpr(number, lanes);
        }
        other => panic!("{other:?} is no vector register"),
    }
}

/// One lane of a dword of a vector operand.
fn get(state: &WaveState, value: Value, at: usize, lane: usize) -> u32 {
    match value {
        Value::Vgpr(first) => state.vgpr(usize::from(first) + at)[lane],
        Value::Agpr(first) => state.agpr(usize::from(first) + at)[lane],
        other => panic!("{other:?} is no vector register"),
    }
}

/// Run one instruction.
fn run(arch: Arch, inst: &Inst, state: &WaveState) -> Result<WaveState, Fault> {
    let words = inst.encode(arch).unwrap();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    Snippet::from_bytes(arch, &bytes).run(&mut Machine::new(arch, Config::default()), state)
}

/// The formats of A and B of an instruction on a processor.
fn element_formats(arch: Arch, inst: &Inst, shape: &Shape) -> [Format; 2] {
    let of = |name: &'static str, code: u8| match name {
        "f8f6f4" => formats::by_code(code),
        name => formats::named(arch, name),
    };
    [of(shape.a, inst.mods.cbsz), of(shape.b, inst.mods.blgp)]
}

/// The test that executes every matrix instruction, for [`crate::coverage`].
pub(crate) fn all() {
    values::every_matrix_instruction_multiplies();
    rdna::whole_matrices_of_rdna3();
    rdna::whole_matrices_of_rdna4();
}
