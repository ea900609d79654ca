//! Every vector instruction of every processor in every encoding, with random modifiers, operands, EXEC and
//! MODE, against the models. Prints which operations have none.

mod compare;
pub(crate) mod dots;
mod dpp;
pub(crate) mod rows;
mod sdwa;
mod trial;

use std::collections::{BTreeMap, BTreeSet};

use amdgpu_isa::{Arch, Encoding, Target, opcodes};
use amdinst_emu::{Config, Fidelity, Machine, fidelity};

use crate::model;
use crate::support::{Random, trials};

/// All of them: their instruction sets differ.
const ARCHS: [Arch; 7] = crate::targets::PROCESSORS;

/// Operations that are tested elsewhere, or belong to another test: matrices, gfx940's and gfx950's own
/// conversions. `coverage.rs` sees to it that nothing falls between.
fn is_elsewhere(name: &str) -> bool {
    const ALONE: [&str; 12] = [
        "v_nop",
        "v_clrexcp",
        "v_readlane_b32",
        "v_writelane_b32",
        "v_readfirstlane_b32",
        "v_swap_b32",
        "v_mbcnt_lo_u32_b32",
        "v_mbcnt_hi_u32_b32",
        "v_accvgpr_read_b32",
        "v_accvgpr_write_b32",
        "v_accvgpr_mov_b32",
        "v_screen_partition_4se_b32",
    ];
    let matrix = [
        "v_mfma",
        "v_smfmac",
        "fp8",
        "bf8",
        "bf16",
        "v_interp",
        "v_lshl_add_u64",
        "v_dot2_f32_f16",
        "v_dot2c_f32_f16",
        "xf32",
        // gfx950's (`gfx950.rs`, `conversions.rs`).
        "v_ashr_pk_",
        "v_bitop3_",
        "v_cvt_pk_f16_f32",
        "v_cvt_scalef32_",
        "v_cvt_sr_",
        "v_permlane",
        "v_prng_",
        // RDNA's matrices (`matrix/rdna.rs`).
        "v_wmma",
        "v_swmmac",
        // GFX12's, of one scalar (`gfx12.rs`).
        "v_s_",
        "v_dot2_f16_f16",
        "v_movrel",
        "v_swap",
        "v_pipeflush",
    ];
    ALONE.contains(&name) || matrix.iter().any(|part| name.contains(part))
}

pub(crate) fn is_vector(encoding: Encoding) -> bool {
    use Encoding::{Vop1, Vop1Sdwa, Vop2, Vop2Sdwa, Vop3, Vop3p, Vopc, VopcSdwa};
    matches!(encoding, Vop1 | Vop1Sdwa | Vop2 | Vop2Sdwa | Vop3 | Vop3p | Vopc | VopcSdwa)
        || encoding.is_dpp()
        || encoding.is_dpp8()
}

#[test]
pub(crate) fn vector_instructions_do_what_their_models_do() {
    each_does_what_its_model_does(&ARCHS.map(Target::from));
}

#[test]
pub(crate) fn vector_instructions_of_rdna_do_what_their_models_do() {
    each_does_what_its_model_does(&crate::targets::RDNA);
}

fn each_does_what_its_model_does(targets: &[Target]) {
    let only = std::env::var("AMDINST_ONLY").ok();
    let mut uncovered = BTreeSet::new();
    let mut covered = BTreeMap::new();
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for &target in targets {
        let Target { arch, wave } = target;
        let mut machine = Machine::new(arch, Config::default());
        for opcode in opcodes(target).filter(|opcode| is_vector(opcode.encoding())) {
            let name = opcode.op().name();
            let is_unsupported = matches!(fidelity::of(opcode), Fidelity::Unsupported { .. });
            if is_unsupported
                || is_elsewhere(name)
                || only.as_ref().is_some_and(|only| !name.contains(only.as_str()))
            {
                continue;
            }
            if !has_model(name) {
                uncovered.insert(name);
                continue;
            }
            let mut random = Random::new(&format!("{arch} {}", opcode.mnemonic()));
            for _ in 0..trials(6) {
                *covered.entry(name).or_insert(0_usize) += wave.lanes() as usize;
                if let Err(message) = trial::run(&mut machine, target, opcode, &mut random) {
                    failures.entry(opcode.mnemonic()).or_default().push(message);
                }
            }
        }
    }
    let lanes: usize = covered.values().sum();
    println!("{} operations on {} targets: {lanes} lanes compared", covered.len(), targets.len());
    let mut report = String::new();
    for (mnemonic, messages) in &failures {
        report += &format!("{mnemonic}: {} failures, the first: {}\n", messages.len(), messages[0]);
    }
    assert!(failures.is_empty(), "{} mnemonics differ:\n{report}", failures.len());
    assert!(uncovered.is_empty() || only.is_some(), "without a model: {uncovered:?}");
}

/// What a comparison's model says of one lane.
pub(crate) fn compared(name: &str, a: &model::Args) -> bool {
    compare::run(name, a)
}

fn has_model(name: &str) -> bool {
    model::operation(name).is_some() || model::packed::is_known(name) || compare::is_comparison(name)
}
