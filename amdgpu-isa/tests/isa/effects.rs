//! Effects of instructions that liveness and instrumentation lean on, each against what the manual says.

use amdgpu_isa::{Arch, Condition, Flow, MemoryKind, MemoryOperation, Reg, RegSet, decode};

const ARCH: Arch = Arch::Gfx90a;

fn inst(words: &[u32]) -> amdgpu_isa::Inst {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    decode(ARCH, &bytes).unwrap()
}

fn set(regs: &[Reg]) -> RegSet {
    regs.iter().copied().collect()
}

fn pair(low: u8) -> [Reg; 2] {
    [Reg::scalar(low), Reg::scalar(low + 1)]
}

const EXEC: [Reg; 2] = [Reg::EXEC_LO, Reg::EXEC_HI];
const VCC: [Reg; 2] = [Reg::VCC_LO, Reg::VCC_HI];

#[test]
fn saveexec_reads_and_writes_exec_and_scc() {
    // s_and_saveexec_b64 s[8:9], vcc
    let effects = inst(&[0xbe88_206a]).effects(ARCH);
    assert_eq!(effects.reads, set(&[VCC, EXEC].concat()));
    assert_eq!(effects.writes, set(&[&pair(8)[..], &EXEC, &[Reg::SCC]].concat()));
    assert!(effects.partial.is_empty());
}

#[test]
fn add_with_carry_reads_scc() {
    // s_addc_u32 s0, s1, s2
    let effects = inst(&[0x8200_0201]).effects(ARCH);
    assert_eq!(effects.reads, set(&[Reg::scalar(1), Reg::scalar(2), Reg::SCC]));
    assert_eq!(effects.writes, set(&[Reg::scalar(0), Reg::SCC]));
}

#[test]
fn a_vector_write_kills_only_active_lanes() {
    // v_mov_b32_e32 v3, v2
    let effects = inst(&[0x7e06_0302]).effects(ARCH);
    assert!(effects.reads.contains(Reg::vgpr(2)) && effects.reads.contains(Reg::EXEC_LO));
    assert!(!effects.reads.contains(Reg::vgpr(3)));
    assert!(effects.writes.is_empty());
    assert_eq!(effects.partial, set(&[Reg::vgpr(3)]));
    assert_eq!(effects.partial_by_exec, set(&[Reg::vgpr(3)]));
}

#[test]
fn a_comparison_replaces_the_whole_mask() {
    // v_cmp_lt_i32_e32 vcc, 0, v1
    let effects = inst(&[0x7d82_0280]).effects(ARCH);
    assert_eq!(effects.writes, set(&VCC));
    // v_cmpx_lt_i32_e64 s[0:1], v0, v0 writes EXEC too.
    let effects = inst(&[0xd0d1_0000, 0x0002_0100]).effects(ARCH);
    assert_eq!(effects.writes, set(&[pair(0), EXEC].concat()));
}

#[test]
fn carries_go_through_named_pairs() {
    // v_addc_co_u32_e64 v3, vcc, 0, v3, s[4:5]
    let effects = inst(&[0xd11c_6a03, 0x0012_0680]).effects(ARCH);
    assert_eq!(effects.writes, set(&VCC));
    assert!(pair(4).into_iter().all(|reg| effects.reads.contains(reg)));
    assert!(!effects.reads.contains(Reg::VCC_LO));
}

#[test]
fn writelane_keeps_the_other_lanes() {
    // v_writelane_b32 v5, s2, 3
    let effects = inst(&[0xd28a_0005, 0x0001_0602]).effects(ARCH);
    assert!(effects.reads.contains(Reg::vgpr(5)));
    assert_eq!(effects.partial, set(&[Reg::vgpr(5)]));
    assert!(effects.partial_by_exec.is_empty() && effects.writes.is_empty());
}

#[test]
fn d16_loads_keep_the_other_half() {
    // global_load_short_d16_hi v1, v[2:3], off
    let effects = inst(&[0xdc94_8000, 0x017f_0002]).effects(ARCH);
    assert!(effects.reads.contains(Reg::vgpr(1)) && effects.reads.contains(Reg::vgpr(3)));
    assert!(effects.partial_by_exec.is_empty());
    let memory = effects.memory.unwrap();
    assert_eq!(
        (memory.kind, memory.operation, memory.dwords),
        (MemoryKind::Global, MemoryOperation::Load, 1)
    );
    assert!(effects.vm_cnt && !effects.lgkm_cnt);
}

#[test]
fn div_fmas_reads_vcc() {
    // v_div_fmas_f32 v0, v1, v2, v3
    assert!(inst(&[0xd1e2_0000, 0x040e_0501]).effects(ARCH).reads.contains(Reg::VCC_HI));
}

#[test]
fn scalar_loads_write_a_tuple_and_bump_lgkm() {
    // s_load_dwordx4 s[8:11], s[4:5], 0x10
    let effects = inst(&[0xc00a_0202, 0x0000_0010]).effects(ARCH);
    assert_eq!(effects.reads, set(&pair(4)));
    assert_eq!(effects.writes, (8..12).map(Reg::scalar).collect());
    assert!(effects.lgkm_cnt && !effects.vm_cnt);
    assert_eq!(effects.memory.unwrap().dwords, 4);
}

#[test]
fn atomics_return_when_asked() {
    // global_atomic_add v5, v0, v1, s[0:1] glc, and without glc
    let returning = inst(&[0xdd09_8000, 0x0500_0100]).effects(ARCH);
    assert_eq!(returning.partial, set(&[Reg::vgpr(5)]));
    assert_eq!(returning.memory.unwrap().operation, MemoryOperation::Atomic { returns: true });
    let silent = inst(&[0xdd08_8000, 0x0000_0100]).effects(ARCH);
    assert!(silent.partial.is_empty());
    assert_eq!(silent.memory.unwrap().operation, MemoryOperation::Atomic { returns: false });
}

#[test]
fn flat_bumps_both_counters() {
    // flat_load_dword v1, v[0:1]
    let effects = inst(&[0xdc50_0000, 0x0100_0000]).effects(ARCH);
    assert!(effects.vm_cnt && effects.lgkm_cnt);
    assert!(effects.reads.contains(Reg::scalar(102)), "FLAT_SCRATCH");
}

#[test]
fn special_sources_read_what_they_show() {
    // s_mov_b32 s0, src_execz / src_vccz / src_scc
    assert_eq!(inst(&[0xbe80_00fc]).effects(ARCH).reads, set(&EXEC));
    assert_eq!(inst(&[0xbe80_00fb]).effects(ARCH).reads, set(&VCC));
    assert_eq!(inst(&[0xbe80_00fd]).effects(ARCH).reads, set(&[Reg::SCC]));
}

#[test]
fn conditional_moves_may_leave_the_old_value() {
    // s_cmov_b32 s0, s1
    let effects = inst(&[0xbe80_0201]).effects(ARCH);
    assert_eq!(effects.reads, set(&[Reg::scalar(0), Reg::scalar(1), Reg::SCC]));
    assert!(effects.writes.is_empty());
    assert_eq!(effects.partial, set(&[Reg::scalar(0)]));
}

#[test]
fn flow_counts_bytes_from_the_end() {
    assert_eq!(inst(&[0xbf82_ffff]).flow(), Flow::Branch { offset: -4 });
    let execz = Flow::CondBranch { offset: 0x68, condition: Condition::Execz };
    assert_eq!(inst(&[0xbf88_001a]).flow(), execz);
    assert_eq!(inst(&[0xbe80_1d1e]).flow(), Flow::Jump);
    // s_swappc_b64 s[30:31], s[4:5]
    assert_eq!(inst(&[0xbe9e_1e04]).flow(), Flow::Call { offset: None });
    assert_eq!(inst(&[0xbf81_0000]).flow(), Flow::End);
    assert_eq!(inst(&[0xbf8c_0070]).flow(), Flow::Next);
}
