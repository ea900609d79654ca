//! What the GPU of the evaluation of 2022 does otherwise than an MI210.

use amdinst_emu::timing::{Parameters, Timing};

use super::benchmark::Benchmark;
use crate::support::{compile, tools};

const SLEEP: &str = r#"kernel void sleep(void) { __asm__ volatile(".rept 40\ns_sleep 127\n.endr"); }"#;

/// A loop of 1000 rounds around as many copies of an instruction as asked for.
fn rounds(instruction: &str, copies: usize) -> String {
    format!(
        r#"kernel void loop(void) {{
            __asm__ volatile("s_movk_i32 s20, 1000\n1:\n.rept {copies}\n{instruction}\n.endr\ns_sub_u32 s20, s20, 1\n"
                             "s_cmp_lg_u32 s20, 0\ns_cbranch_scc1 1b"
                             ::: "s20", "scc", "v2", "v3", "v4", "v5");
        }}"#
    )
}

fn launch(source: &str, kernel: &str, cpu: &str, grid: u32, block: u32, p: &Parameters) -> Timing {
    Benchmark::on(&compile(source, cpu, "-O2"), p.clone()).launch(kernel, grid, block, &[])
}

/// Cycles that one more instruction takes a wave.
fn cost(instruction: &str, cpu: &str, p: &Parameters) -> f64 {
    let cycles = |copies| launch(&rounds(instruction, copies), "loop", cpu, 1, 64, p).waves[0].residency();
    (cycles(24) - cycles(8)) as f64 / 16_000.0
}

/// CLRX's `GcnTimings`, for GPUs whose double precision has a sixteenth of the rate; on CDNA2 it has all of
/// it.
#[test]
fn double_precision_is_slow() {
    if !tools("double_precision_is_slow") {
        return;
    }
    let (old, new) = (Parameters::vega10(), Parameters::mi210());
    for (instruction, cycles, cycles_new) in [
        ("v_add_u32 v2, v3, v2", 4, 4),
        ("v_add_f64 v[2:3], v[4:5], v[2:3]", 32, 4),
        ("v_cvt_f64_f32 v[2:3], v4", 32, 4),
        ("v_lshlrev_b64 v[2:3], 2, v[2:3]", 32, 4),
        ("v_mul_f64 v[2:3], v[4:5], v[2:3]", 64, 4),
        ("v_fma_f64 v[2:3], v[4:5], v[2:3], v[4:5]", 64, 4),
        ("v_rcp_f64 v[2:3], v[2:3]", 64, 64),
        ("v_rcp_f32 v2, v2", 16, 16),
    ] {
        for (cpu, p, cycles) in [("gfx900", &old, cycles), ("gfx90a", &new, cycles_new)] {
            let found = cost(instruction, cpu, p);
            assert!((found - f64::from(cycles)).abs() < 0.5, "{cpu}: {instruction} takes {found} cycles");
        }
    }
}

/// A gfx900 has registers for ten waves; eight were seen.
#[test]
fn no_more_waves_are_resident_than_were_seen() {
    if !tools("no_more_waves_are_resident_than_were_seen") {
        return;
    }
    let p = Parameters::vega10();
    let timing = launch(SLEEP, "sleep", "gfx900", 64 * 12, 256, &p);
    assert_eq!(timing.occupancy.waves_per_simd, 8);
    for unit in 0..p.compute_units {
        let mut changes: Vec<(u64, i32)> = Vec::new();
        for wave in timing.waves.iter().filter(|wave| wave.compute_unit == unit) {
            changes.extend([(wave.start, 1), (wave.end, -1)]);
        }
        // Ends before starts at one time.
        changes.sort_unstable();
        let resident = changes.iter().scan(0, |now, &(_, change)| {
            *now += change;
            Some(*now)
        });
        assert_eq!(resident.max(), Some(32), "compute unit {unit}");
    }
}

/// Four launchers, each a wave at a time.
#[test]
fn launchers_take_their_time() {
    if !tools("launchers_take_their_time") {
        return;
    }
    let p = Parameters::vega10();
    let timing = launch(SLEEP, "sleep", "gfx900", 64, 256, &p);
    for launcher in 0..p.launchers {
        let of_it = timing.waves.iter().filter(|wave| wave.compute_unit % p.launchers == launcher);
        let mut starts: Vec<u64> = of_it.map(|wave| wave.start).collect();
        starts.sort_unstable();
        assert_eq!(starts.len(), 64);
        assert!(starts.windows(2).all(|two| two[1] - two[0] == p.wave_launch), "{starts:?}");
    }
}
