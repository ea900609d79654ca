//! Every vector instruction of every processor in every encoding, with random modifiers, operands, EXEC and MODE, against
//! the models. Prints which operations have none.

mod compare;
mod dpp;
mod sdwa;
mod trial;

use std::collections::{BTreeMap, BTreeSet};

use amdinst_core::Arch;
use amdinst_core::isa::{Encoding, opcodes};
use amdinst_emu::{Config, Machine};

use crate::model;
use crate::support::{Random, trials};

/// Processors with different instruction sets or semantics.
const ARCHS: [Arch; 4] = [Arch::Gfx900, Arch::Gfx906, Arch::Gfx90a, Arch::Gfx942];

/// Operations that are tested elsewhere, or belong to another test: matrices, gfx940's and gfx950's own conversions,
/// and approximations.
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
    let approximate = ["v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"];
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
    ];
    ALONE.contains(&name)
        || approximate.iter().any(|start| name.starts_with(start))
        || matrix.iter().any(|part| name.contains(part))
}

fn is_vector(encoding: Encoding) -> bool {
    use Encoding::{Vop1, Vop1Dpp, Vop1Sdwa, Vop2, Vop2Dpp, Vop2Sdwa, Vop3, Vop3p, Vopc, VopcSdwa};
    matches!(encoding, Vop1 | Vop1Dpp | Vop1Sdwa | Vop2 | Vop2Dpp | Vop2Sdwa | Vop3 | Vop3p | Vopc | VopcSdwa)
}

#[test]
fn vector_instructions_do_what_their_models_do() {
    let only = std::env::var("AMDINST_ONLY").ok();
    let mut uncovered = BTreeSet::new();
    let mut covered = BTreeMap::new();
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for arch in ARCHS {
        let mut machine = Machine::new(arch, Config::default());
        for opcode in opcodes(arch).filter(|opcode| is_vector(opcode.encoding())) {
            let name = opcode.op().name();
            if is_elsewhere(name) || only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
                continue;
            }
            if !has_model(name) {
                uncovered.insert(name);
                continue;
            }
            let mut random = Random::new(&format!("{arch} {}", opcode.mnemonic()));
            for _ in 0..trials(6) {
                *covered.entry(name).or_insert(0_usize) += 64;
                if let Err(message) = trial::run(&mut machine, opcode, &mut random) {
                    failures.entry(opcode.mnemonic()).or_default().push(message);
                }
            }
        }
    }
    let lanes: usize = covered.values().sum();
    println!("{} operations on {} processors: {lanes} lanes compared", covered.len(), ARCHS.len());
    println!("without a model: {uncovered:?}");
    let mut report = String::new();
    for (mnemonic, messages) in &failures {
        report += &format!("{mnemonic}: {} failures, the first: {}\n", messages.len(), messages[0]);
    }
    assert!(failures.is_empty(), "{} mnemonics differ:\n{report}", failures.len());
    assert!(uncovered.is_empty() || only.is_some(), "without a model: {uncovered:?}");
}

fn has_model(name: &str) -> bool {
    model::operation(name).is_some() || model::packed::is_known(name) || compare::is_comparison(name)
}
