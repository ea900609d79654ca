//! Reciprocals, roots and transcendentals: within the manual's bound of the value computed with more
//! precision.

use amdgpu_isa::Arch;
use amdinst_emu::{Config, Machine, WaveState};
use rustc_apfloat::ieee::{Double, Half, Quad, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use crate::coverage::Snippet;
use crate::model::Kind;
use crate::support::{Random, trials, value};

fn results(machine: &mut Machine, text: &str, lanes: [u128; 64], mode: u32) -> [u64; 64] {
    let mut state = WaveState { mode, ..WaveState::default() };
    state.set_vgpr_pair(2, lanes.map(|lane| lane as u64));
    let snippet = Snippet::assemble(machine.arch(), text).unwrap_or_else(|error| panic!("{error}"));
    snippet.run(machine, &state).unwrap_or_else(|fault| panic!("{fault}")).vgpr_pair(0)
}

/// The functions in double precision, on the host.
fn reference(name: &str, x: f64) -> f64 {
    let turns = |f: fn(f64) -> f64| f((x - x.round()) * std::f64::consts::TAU);
    match name {
        "rcp" => 1.0 / x,
        "rsq" => 1.0 / x.sqrt(),
        "sqrt" => x.sqrt(),
        "exp" => x.exp2(),
        "log" => x.log2(),
        "sin" => turns(f64::sin),
        _ => turns(f64::cos),
    }
}

/// A single's distance from a value, in units of its last place.
fn distance(result: f32, exact: f64) -> f64 {
    let unit = f64::from(2.0_f32).powi((exact.abs().log2().floor() as i32).max(-126) - 23);
    (f64::from(result) - exact).abs() / unit
}

#[test]
pub(crate) fn singles_are_within_one_unit_of_the_last_place() {
    let mut machine = Machine::new(Arch::Gfx90a, Config::default());
    for name in ["rcp", "rcp_iflag", "rsq", "sqrt", "exp", "log", "sin", "cos"] {
        let mut random = Random::new(name);
        let mut worst = 0.0_f64;
        let function = name.trim_end_matches("_iflag");
        let periodic = matches!(function, "sin" | "cos");
        for _ in 0..trials(100) {
            let lanes: [u128; 64] = std::array::from_fn(|_| value(&mut random, Kind::F32) & 0xffff_ffff);
            let found = results(&mut machine, &format!("v_{name}_f32 v0, v2"), lanes, 0x3f0);
            for (x, found) in lanes.into_iter().zip(found) {
                let (x, found) = (f32::from_bits(x as u32), f32::from_bits(found as u32));
                // "Denormals are flushed", on both sides, by all but sine and cosine.
                let x = if x.is_subnormal() && !periodic { 0.0_f32.copysign(x) } else { x };
                let exact = reference(function, f64::from(x));
                if exact.is_nan() {
                    assert!(found.is_nan(), "v_{name}_f32 of {x:e} is {found:e}");
                } else if exact.abs() < f64::from(f32::MIN_POSITIVE) && !periodic {
                    assert_eq!(found, 0.0, "v_{name}_f32 of {x:e}");
                } else if exact.is_infinite() || exact.abs() > f64::from(f32::MAX) {
                    assert!(
                        found.is_infinite() && f64::from(found).signum() == exact.signum(),
                        "v_{name}_f32 of {x:e} is {found:e}"
                    );
                } else if periodic {
                    // An absolute bound: next to a zero of the function there are no units of the last place.
                    let error = (f64::from(found) - exact).abs();
                    assert!(error < 2.0_f64.powi(-20), "v_{name}_f32 of {x:e} is {found:e}, not {exact:e}");
                } else if exact == 0.0 {
                    assert_eq!(found, 0.0, "v_{name}_f32 of {x:e}");
                } else {
                    worst = worst.max(distance(found, exact));
                    assert!(worst <= 1.0, "v_{name}_f32 of {x:e} is {found:e}, not {exact:e}: {worst} units");
                }
            }
        }
        println!("v_{name}_f32: {worst:.4} units of the last place at most");
    }
}

/// "0.51 ULP": the nearest half or, next to a tie, its neighbour; here always the nearest in every rounding
/// mode's sense.
#[test]
pub(crate) fn every_half_is_the_nearest() {
    let mut machine = Machine::new(Arch::Gfx90a, Config::default());
    for name in ["rcp", "rsq", "sqrt", "exp", "log"] {
        for block in 0..1024_u32 {
            let lanes: [u128; 64] = std::array::from_fn(|lane| u128::from(block * 64 + lane as u32));
            let found = results(&mut machine, &format!("v_{name}_f16 v0, v2"), lanes, 0x3f0);
            for (x, found) in lanes.into_iter().zip(found) {
                let wide: Double = Half::from_bits(x).convert(&mut false).value;
                let exact = Double::from_bits(
                    reference(name, f64::from_bits(wide.to_bits() as u64)).to_bits().into(),
                );
                let nearest: Half = exact.convert_r(Round::NearestTiesToEven, &mut false).value;
                let found = Half::from_bits(found.into());
                assert!(
                    found.to_bits() == nearest.to_bits() || found.is_nan() && nearest.is_nan(),
                    "v_{name}_f16 of {x:#x}: {:#x}, not {:#x}",
                    found.to_bits(),
                    nearest.to_bits()
                );
            }
        }
    }
}

/// Double precision against quadruple: |1 - x·r|, |1 - x·r²|, |1 - r²/x| of the results, far within the
/// manual's 2^29 units.
#[test]
pub(crate) fn doubles_are_within_one_unit_of_the_last_place() {
    let mut machine = Machine::new(Arch::Gfx90a, Config::default());
    let nearest = Round::NearestTiesToEven;
    let wide = |x: Double| -> Quad { x.convert(&mut false).value };
    for name in ["rcp", "rsq", "sqrt"] {
        let mut random = Random::new(name);
        for _ in 0..trials(100) {
            // Normal numbers whose results are normal.
            let lanes: [u128; 64] = std::array::from_fn(|_| {
                value(&mut random, Kind::I64) & 0x800f_ffff_ffff_ffff
                    | u128::from(2 + random.below(2040)) << 52
            });
            let lanes = if name == "rcp" { lanes } else { lanes.map(|lane| lane & !(1 << 63)) };
            let found = results(&mut machine, &format!("v_{name}_f64 v[0:1], v[2:3]"), lanes, 0x3f0);
            for (x, found) in lanes.into_iter().zip(found) {
                let (x, r) = (wide(Double::from_bits(x)), wide(Double::from_bits(found.into())));
                let product = match name {
                    "rcp" => x.mul_r(r, nearest).value,
                    "rsq" => x.mul_r(r, nearest).value.mul_r(r, nearest).value,
                    _ => r.mul_r(r, nearest).value.div_r(x, nearest).value,
                };
                let error: Single =
                    product.sub_r(Quad::from_i128(1).value, nearest).value.convert(&mut false).value;
                let error = f32::from_bits(error.to_bits() as u32).abs();
                assert!(error < 2.0_f32.powi(-51), "v_{name}_f64: relative error {error:e}");
            }
        }
    }
}

/// The tests in here that take little time, for [`crate::coverage`].
pub(crate) fn all() {
    singles_are_within_one_unit_of_the_last_place();
    doubles_are_within_one_unit_of_the_last_place();
}
