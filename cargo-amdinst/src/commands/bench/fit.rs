//! `cargo amdinst bench fit`: unpublished constants of the model of the GPU of 2022, chosen so that three
//! kernels with the counters of 2022 come as close as they can to what was measured. The other six kernels
//! are not looked at.
//!
//! One constant after the other is set to each of its values, and kept where the sum of squared errors is
//! least, until a round changes nothing. An error is the logarithm of something modelled by the same
//! measured: of each kernel the cycles of the baseline and both slowdowns, so nine of them.

use std::collections::BTreeMap;

use amdgpu_object::CodeObject;
use amdinst_emu::timing::{Model, Parameters};
use rayon::prelude::*;

use super::cases::{self, Case, Sizes};
use super::seed::kernels;
use super::subject::{Form, Subject};
use super::view::FITTED;
use crate::cli::FitArgs;
use crate::context::Context;
use crate::exit::{CommandResult, Exit};
use crate::output;

/// A constant that may be fitted: nothing is published of it.
struct Constant {
    name: &'static str,
    values: &'static [u64],
    get: fn(&Parameters) -> u64,
    set: fn(&mut Parameters, u64),
}

/// Each with the range in which it can be.
const CONSTANTS: [Constant; 3] = [
    Constant {
        name: "hbm",
        values: &[300, 400, 500, 600, 700, 800, 900, 1000],
        get: |p| p.hbm,
        set: |p, value| p.hbm = value,
    },
    Constant {
        name: "store_acknowledge",
        values: &[0, 75, 150, 225, 340],
        get: |p| p.store_acknowledge,
        set: |p, value| p.store_acknowledge = value,
    },
    Constant {
        name: "atomic",
        values: &[0, 64, 96, 128, 192, 256, 320],
        get: |p| p.atomic,
        set: |p, value| p.atomic = value,
    },
];

/// Values of the constants, in their order.
type Point = [u64; CONSTANTS.len()];

/// Runs the command.
///
/// # Errors
/// When the kernels cannot be built, or one does not end well.
pub(super) fn run(context: &mut Context, args: &FitArgs) -> CommandResult {
    let original = kernels(context, args.manifest_path.clone(), Model::Vega10.arch())?;
    let cases: Vec<Case> = FITTED.iter().filter_map(|name| cases::case(name, &Sizes::FULL)).collect();
    let parameters = Model::Vega10.parameters();
    let mut seen: BTreeMap<Point, f64> = BTreeMap::new();
    let mut error = |point: Point| -> CommandResult<f64> {
        if let Some(&error) = seen.get(&point) {
            return Ok(error);
        }
        let error = squares(&original, &cases, &at(&parameters, &point))?;
        let named: Vec<String> = names(&point).collect();
        context.shell.status("Tried", format_args!("{}: {error:.4}", named.join(", ")));
        seen.insert(point, error);
        Ok(error)
    };
    let mut best = CONSTANTS.each_ref().map(|constant| (constant.get)(&parameters));
    let mut least = error(best)?;
    loop {
        let before = best;
        for (number, constant) in CONSTANTS.iter().enumerate() {
            for &value in constant.values {
                let mut point = best;
                point[number] = value;
                let here = error(point)?;
                // A tie leaves what is there.
                if here < least - 1e-9 {
                    (best, least) = (point, here);
                }
            }
        }
        if best == before {
            break;
        }
    }
    let mut text = format!("sum of squared errors {least:.4}\n");
    for line in names(&best) {
        text.push_str(&line);
        text.push('\n');
    }
    output::print(&text)?;
    Ok(Exit::Success)
}

fn names(point: &Point) -> impl Iterator<Item = String> {
    CONSTANTS.iter().zip(point).map(|(constant, value)| format!("{} = {value}", constant.name))
}

fn at(parameters: &Parameters, point: &Point) -> Parameters {
    let mut parameters = parameters.clone();
    for (constant, &value) in CONSTANTS.iter().zip(point) {
        (constant.set)(&mut parameters, value);
    }
    parameters
}

/// The sum of squared errors; the forms of a kernel side by side.
fn squares(original: &CodeObject, cases: &[Case], parameters: &Parameters) -> CommandResult<f64> {
    let mut sum = 0.0;
    for case in cases {
        let forms = [Form::SeedBaseline, Form::SeedLds, Form::SeedGlobal];
        let cycles =
            forms.into_par_iter().map(|form| Subject::new(original, case, form)?.residency(parameters));
        let cycles: Vec<f64> = cycles.collect::<CommandResult<_>>()?;
        let errors = |at: usize| (cycles[at] / case.measured[at] as f64).ln();
        let baseline = errors(0);
        sum += baseline.powi(2) + (1..3).map(|at| (errors(at) - baseline).powi(2)).sum::<f64>();
    }
    Ok(sum)
}
