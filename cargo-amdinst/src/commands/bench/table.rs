//! The table of `bench seed`, for a terminal and for a document.

use std::fmt::Write as _;

use super::view::{HomeView, KernelFigures, LaunchView, SeedView};

/// For a terminal.
pub(super) fn human(view: &SeedView) -> String {
    let mut text = format!(
        "mean cycles of a wave, modeled on {}, and slowdowns; \"2022\" are the counters of that evaluation, modeled too; \
         \"measured\" is what it measured\n",
        view.device
    );
    let _ = writeln!(
        text,
        "{:<20} {:>9} {:>8} {:>6} {:>6} {:>9} {:>8} {:>12} | {:>9} {:>8} {:>15}",
        "kernel",
        "baseline",
        "register",
        "lds",
        "global",
        "2022 lds",
        "global",
        "instructions",
        "measured",
        "lds",
        "global"
    );
    let row = |name: &str, baseline: &str, s: [f64; 7], added: &str, measured: &str| {
        format!(
            "{name:<20} {baseline:>9} {:>8} {:>6} {:>6} {:>9} {:>8} {added:>12} | {measured:>9} {:>8} {:>15}\n",
            times(s[0]),
            times(s[1]),
            times(s[2]),
            times(s[3]),
            times(s[4]),
            times(s[5]),
            times(s[6]),
        )
    };
    for kernel in &view.kernels {
        let baseline = format!("{:.0}", kernel.baseline.cycles);
        let measured = kernel.measured.baseline.to_string();
        text.push_str(&row(&kernel.kernel, &baseline, kernel.slowdowns(), &added(kernel), &measured));
    }
    text.push_str(&row("geometric mean", "", view.means.all(), "", ""));
    text.push_str(&row("worst", "", view.worst.all(), "", ""));
    let _ = writeln!(text, "{}", predictions(view));
    text
}

/// For a document.
pub(super) fn markdown(view: &SeedView) -> String {
    let mut text = String::from(
        "| kernel | workgroups | baseline, modeled | `register` | `lds` | `global` | instructions added by `register` | \
         2022 `lds`, modeled | measured | 2022 `global`, modeled | measured |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for kernel in &view.kernels {
        let [register, lds, global, seed_lds, seed_global, measured_lds, measured_global] =
            kernel.slowdowns().map(times);
        let [lds_error, global_error] = kernel.errors().map(|error| off(view, error));
        let _ = writeln!(
            text,
            "| {}{} | {} | {:.0} | {register} | {lds} | {global} | {} | {seed_lds}{lds_error} | {measured_lds} | {seed_global}{global_error} | {measured_global} |",
            kernel.kernel,
            mark(view, kernel),
            kernel.workgroups,
            kernel.baseline.cycles,
            added(kernel),
        );
    }
    for (name, columns) in [("geometric mean", view.means), ("worst", view.worst)] {
        let [register, lds, global, seed_lds, seed_global, measured_lds, measured_global] =
            columns.all().map(|value| format!("**{}**", times(value)));
        let _ = writeln!(
            text,
            "| **{name}** | | | {register} | {lds} | {global} | | {seed_lds} | {measured_lds} | {seed_global} | {measured_global} |"
        );
    }
    let mark = if view.is_comparable() { "¹ constants of the model were fitted on it. " } else { "" };
    let _ = writeln!(text, "\n{mark}{}", predictions(view));
    text.push_str(&clocks(view));
    text.push_str(&launches(view));
    text.push_str(&dispatches(view));
    text
}

/// One line of slowdowns for each kernel and launch.
fn launches(view: &SeedView) -> String {
    let mut text = String::from(
        "\nThe first launch, which finds every cache empty, and one after it:\n\n\
         | kernel | | baseline | `register` | `lds` | `global` | 2022 `lds` | 2022 `global` |\n|---|---|---:|---:|---:|---:|---:|---:|\n",
    );
    type Which = fn(&HomeView) -> LaunchView;
    let launches: [(&str, bool, Which); 2] =
        [("first", false, |home| home.first), ("after it", true, |home| home.again)];
    for kernel in &view.kernels {
        let KernelFigures { baseline, register, lds, global, seed_lds, seed_global, .. } = kernel;
        for (name, repeated, launch) in launches {
            let homes = [register, lds, global, seed_lds, seed_global];
            let slowdowns = homes.map(|home| times(launch(home).slowdown)).join(" | ");
            let mark = if repeated == kernel.repeated { ", as in the table" } else { "" };
            let cycles = launch(baseline).cycles;
            let _ = writeln!(text, "| {} | {name}{mark} | {cycles:.0} | {slowdowns} |", kernel.kernel);
        }
    }
    text
}

/// What the program waits for: waves that take longer may overlap more, and the other way round.
fn dispatches(view: &SeedView) -> String {
    let mut text = String::from(
        "\nThe whole dispatch, from its first wave's first instruction to its last wave's last, of the launch in the table; all by the \
         kernel as it was compiled:\n\n\
         | kernel | cycles | `register` | `lds` | `global` | 2022, clock alone | 2022 `lds` | 2022 `global` |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for kernel in &view.kernels {
        let KernelFigures { baseline, register, lds, global, seed_baseline, seed_lds, seed_global, .. } =
            kernel;
        let cycles = |home: &HomeView| if kernel.repeated { home.again } else { home.first }.dispatch;
        let original = cycles(baseline);
        let homes = [register, lds, global, seed_baseline, seed_lds, seed_global];
        let by = homes.map(|home| times(cycles(home) as f64 / original.max(1) as f64)).join(" | ");
        let _ = writeln!(text, "| {} | {original} | {by} |", kernel.kernel);
    }
    text
}

fn times(slowdown: f64) -> String {
    format!("{slowdown:.2}x")
}

/// Wave-instructions that the `register` home adds.
fn added(kernel: &KernelFigures) -> String {
    let original = kernel.baseline.wave_instructions.max(1) as f64;
    format!("+{:.1} %", 100.0 * (kernel.register.wave_instructions as f64 / original - 1.0))
}

fn mark(view: &SeedView, kernel: &KernelFigures) -> &'static str {
    if view.is_comparable() && kernel.is_fitted() { " ¹" } else { "" }
}

/// How far something modeled is from what was measured, where that can be told.
fn off(view: &SeedView, error: f64) -> String {
    if view.is_comparable() { format!(" ({:+.0} %)", 100.0 * error) } else { String::new() }
}

/// What the slowdowns of 2022's counters are of.
fn clocks(view: &SeedView) -> String {
    let mut text = String::from(
        "\nThe cycles that slowdowns of the counters of 2022 are of, between the readings of the clock:\n\n\
         | kernel | baseline, modeled | measured | `lds`, modeled | measured | `global`, modeled | measured |\n\
         |---|---:|---:|---:|---:|---:|---:|\n",
    );
    for kernel in &view.kernels {
        let KernelFigures { seed_baseline, seed_lds, seed_global, measured, .. } = kernel;
        let _ = writeln!(
            text,
            "| {}{} | {:.0}{} | {} | {:.0} | {} | {:.0} | {} |",
            kernel.kernel,
            mark(view, kernel),
            seed_baseline.cycles,
            off(view, kernel.baseline_error()),
            measured.baseline,
            seed_lds.cycles,
            measured.lds,
            seed_global.cycles,
            measured.global,
        );
    }
    text
}

/// How many kernels that nothing was fitted on are predicted, where that can be told.
fn predictions(view: &SeedView) -> String {
    if !view.is_comparable() {
        let device = &view.device;
        return format!(
            "What was measured is of another GPU than {device}: `--timing vega10` models one like it, to compare with."
        );
    }
    let predicted: Vec<&KernelFigures> = view.kernels.iter().filter(|kernel| !kernel.is_fitted()).collect();
    let right = predicted.iter().filter(|kernel| kernel.predicted()).count();
    format!(
        "Of the {} kernels that nothing was fitted on, both slowdowns of the counters of 2022 are within 25 % of the \
         measured ones for {right}.",
        predicted.len()
    )
}
