//! How fast float instructions are in each rounding and denormal mode, beside the default.
//!
//! `cargo bench -p amdinst-emu --bench modes [-- [--test] [--only TEXT] [--vectors LEVEL] [GFX ...]]`. A loop
//! of one instruction runs in every mode, on numbers of usual size and on ones of which a third are
//! subnormal. Each line is an instruction: its time in the default mode, and how much slower the slowest of
//! the others is. Exits with 1 if one takes more than twice the default's time, or than [`EXCUSES`] says: no
//! mode is left out of the fast layer. With `--test` each instruction runs once in every mode: do they work?

#[path = "throughput/clock.rs"]
#[expect(dead_code, reason = "one core alone is measured here")]
mod clock;

use std::process::ExitCode;

use amdgpu_isa::{Arch, Target, WaveSize};
use amdinst_emu::{Config, Machine, Snippet, Vectors, WaveState};

/// Copies of the instruction in the loop, and how often the loop runs.
const COPIES: usize = 32;
const TURNS: u32 = 400;
/// Times that each is measured; the best counts.
const REPEAT: usize = 5;
/// MODE.FP_ROUND.
const ROUNDING: u32 = 0xf;
/// How much slower than the default a mode may be.
const LIMIT: f64 = 2.0;
/// What else some may be, and why: the first that an instruction's text begins with counts.
const EXCUSES: &[(&str, f64, &str)] = &[
    ("v_cvt_f32_i32", 8.0, "three steps by default; otherwise as the next"),
    ("v_cvt_f32_u32", 8.0, "as the last"),
    ("v_fma_mix", 36.0, "rounded by a double that is made odd, halves among its sources"),
    ("v_div_fmas_f32", 14.0, "rounded by a double that is made odd"),
    ("v_fract_f32", 20.0, "rounded by a double that is made odd"),
    ("v_ldexp_f32", 6.0, "rounded by a double"),
    ("v_cvt_f32_f64", 8.0, "rounded by the neighbour's distance"),
    ("v_div_scale_f32", 5.0, "scaled by doubles"),
    ("v_rcp_f16", 16.0, "quotients of integers where they are not rounded to the nearest"),
    ("v_add_f16", 8.0, "in single precision, and the error looked at"),
    ("v_pk_add_f16", 8.0, "in single precision, and the error looked at"),
    ("v_floor_f32", 8.0, "one step by default; subnormals of sources and results are flushed apart from it"),
    ("v_rcp_f32", 5.0, "subnormals of sources and results are flushed apart from it"),
    ("v_sqrt_f32", 5.0, "subnormals of sources and results are flushed apart from it"),
    ("v_dual_", 9.0, "two, each as by itself"),
    ("", 6.0, "the host's MXCSR is written twice and the row goes through memory, or subnormals are flushed"),
];

/// Instructions that every processor here has. {b} is the suffix of the mask's width.
const FORMS: &[&str] = &[
    "v_add_f32 v0, v1, v2",
    "v_sub_f32 v0, s2, v2",
    "v_mul_f32 v0, v1, v2",
    "v_min_f32 v0, v1, v2",
    "v_max_f32 v0, v1, v2",
    "v_fma_f32 v0, v1, v2, v3",
    "v_fma_f32 v0, -v1, v2, |v3| clamp",
    "v_fmac_f32 v0, v1, v2",
    "v_cvt_f32_i32 v0, v1",
    "v_cvt_f32_u32 v0, v1",
    "v_cmp_lt_f32_e64 {m}, v1, v2",
    "v_med3_f32 v0, v1, v2, v3",
    "v_floor_f32 v0, v1",
    "v_fract_f32 v0, v1",
    "v_rcp_f32 v0, v1",
    "v_sqrt_f32 v0, v1",
    "v_exp_f32 v0, v1",
    "v_ldexp_f32 v0, v1, v4",
    "v_cvt_i32_f32 v0, v1",
    "v_cvt_f16_f32 v0, v1",
    "v_cvt_f32_f16 v0, v1",
    "v_cvt_f64_f32 v[6:7], v1",
    "v_cvt_f32_f64 v0, v[2:3]",
    "v_div_scale_f32 v0, {M}, v1, v1, v2",
    "v_div_fmas_f32 v0, v1, v2, v3",
    "v_div_fixup_f32 v0, v1, v2, v3",
    "v_add_f64 v[6:7], v[0:1], v[2:3]",
    "v_mul_f64 v[6:7], v[0:1], v[2:3]",
    "v_fma_f64 v[6:7], v[0:1], v[2:3], v[4:5]",
    "v_max_f64 v[6:7], v[0:1], v[2:3]",
    "v_cmp_lt_f64_e64 {m}, v[0:1], v[2:3]",
    "v_rcp_f64 v[6:7], v[0:1]",
    "v_floor_f64 v[6:7], v[0:1]",
    "v_add_f16 v0, v1, v2",
    "v_mul_f16 v0, v1, v2",
    "v_fma_f16 v0, v1, v2, v3",
    "v_max_f16 v0, v1, v2",
    "v_cmp_lt_f16_e64 {m}, v1, v2",
    "v_rcp_f16 v0, v1",
    "v_pk_add_f16 v0, v1, v2",
    "v_pk_mul_f16 v0, v1, v2",
    "v_pk_fma_f16 v0, v1, v2, v3",
    "v_pk_max_f16 v0, v1, v2",
    "v_fma_mix_f32 v0, v1, v2, v3",
];

/// Pairs of operations, of waves of 32 lanes.
const PAIRS: &[&str] = &[
    "v_dual_fmac_f32 v0, v1, v2 :: v_dual_mul_f32 v3, v4, v5",
    "v_dual_add_f32 v0, v1, v2 :: v_dual_max_f32 v3, v4, v5",
];

/// MODE with both formats' fields alike, IEEE and DX10_CLAMP; the last mode has every exception on besides.
fn modes() -> impl Iterator<Item = u32> {
    const EXCEPTIONS: u32 = 0x7f << 12;
    let field = |value: u32| value | value << 2;
    let all = (0..4).flat_map(move |round| (0..4).map(move |keeps| 0x300 | field(keeps) << 4 | field(round)));
    all.chain([WaveState::KERNEL_MODE | EXCEPTIONS])
}

/// Numbers of usual size, as halves, singles and the high words of doubles; or a third of them subnormal.
fn state(subnormal: bool) -> WaveState {
    let mut state = WaveState::default();
    let number = |register: usize, lane: usize| {
        let mixed = (register * 64 + lane) as u32;
        let usual = 0x3c00_3c00 | mixed.wrapping_mul(0x9e37_79b9) & 0x03ff_03ff;
        let tiny = 0x0000_0155 | mixed.wrapping_mul(0x0101) & 0x0000_0fff;
        if subnormal && mixed.is_multiple_of(3) { tiny } else { usual }
    };
    for register in 0..8 {
        state.set_vgpr(register, std::array::from_fn(|lane| number(register, lane)));
    }
    state.sgprs[2] = 0x3fa0_0000;
    state
}

/// What the command line asks for.
struct Options {
    short: bool,
    vectors: Vectors,
    /// Instructions with this in their text.
    only: String,
    filters: Vec<String>,
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            short: false,
            vectors: Config::default().vectors,
            only: String::new(),
            filters: Vec::new(),
        };
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                // Cargo says that it is `cargo bench`.
                "--bench" => {}
                "--test" => options.short = true,
                "--only" => options.only = arguments.next().ok_or("--only needs a text")?,
                "--vectors" => {
                    let name = arguments.next().unwrap_or_default();
                    let level = Vectors::of_name(&name);
                    options.vectors = level.ok_or(format!("--vectors {name}: no such level"))?;
                }
                _ if argument.starts_with('-') => return Err(format!("{argument}: no such option")),
                _ => options.filters.push(argument),
            }
        }
        Ok(options)
    }

    /// A machine whose lanes are computed as asked.
    fn machine(&self, arch: Arch) -> Machine {
        let mut config = Config::default();
        config.vectors = self.vectors;
        Machine::new(arch, config)
    }

    /// Seconds of the loop, the best of a few runs.
    fn seconds(&self, machine: &mut Machine, snippet: &Snippet, state: &WaveState) -> f64 {
        let repeat = if self.short { 1 } else { REPEAT };
        (0..repeat).map(|_| seconds(machine, snippet, state)).fold(f64::INFINITY, f64::min)
    }
}

/// Seconds of the loop.
fn seconds(machine: &mut Machine, snippet: &Snippet, state: &WaveState) -> f64 {
    let (after, seconds) = clock::one_thread(|| snippet.run(machine, state));
    after.expect("running");
    seconds
}

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    let targets = [
        Target::from(Arch::Gfx90a),
        Target { arch: Arch::Gfx1100, wave: WaveSize::Wave32 },
        Target { arch: Arch::Gfx1100, wave: WaveSize::Wave64 },
    ];
    let mut slow = 0;
    for target in targets {
        let lanes = target.wave.lanes();
        let name = target.arch.to_string();
        if !options.filters.is_empty() && !options.filters.iter().any(|filter| name.contains(filter)) {
            continue;
        }
        println!("{name}, {lanes} lanes, {}", options.vectors.name());
        println!(
            "{:<60} {:>10} {:>9} {:>9} {:>9}  slowest",
            "instruction", "ns", "flushing", "rounding", "subnormal"
        );
        let (mask, vcc) = if lanes == 32 { ("s6", "vcc_lo") } else { ("s[6:7]", "vcc") };
        let pairs = if lanes == 32 { PAIRS } else { &[] };
        // The first of them warms caches up.
        let empty = || options.seconds(&mut options.machine(target.arch), &looped(target, ""), &state(false));
        let empty = empty().min(empty()).min(empty());
        for form in FORMS.iter().chain(pairs) {
            let text = form.replace("{m}", mask).replace("{M}", vcc);
            if !text.contains(&options.only) {
                continue;
            }
            let snippet = looped(target, &text);
            let mut machine = options.machine(target.arch);
            let mut time = |mode: u32, subnormal: bool| {
                let state = WaveState { mode, ..state(subnormal) };
                (options.seconds(&mut machine, &snippet, &state) - empty).max(0.0)
            };
            let default = time(WaveState::KERNEL_MODE, false);
            // Rounded to the nearest; otherwise; and with subnormal numbers.
            let mut ratios = [0.0f64; 3];
            let mut slowest = 0;
            for mode in modes() {
                let found = time(mode, false) / default;
                if found > ratios[0].max(ratios[1]) {
                    slowest = mode;
                }
                let kind = usize::from(mode & ROUNDING != 0);
                ratios[kind] = ratios[kind].max(found);
                ratios[2] = ratios[2].max(time(mode, true) / default);
            }
            if options.short {
                continue;
            }
            let ratio = ratios[0].max(ratios[1]);
            let excuse = EXCUSES.iter().find(|(start, ..)| text.starts_with(start));
            let excuse = excuse.filter(|(_, limit, _)| ratio > LIMIT && ratio <= *limit);
            let mark = match excuse {
                Some((_, _, why)) => format!("  * {why}"),
                None if ratio > LIMIT => "  !".to_owned(),
                None => String::new(),
            };
            slow += u32::from(ratio > LIMIT && excuse.is_none());
            let nanoseconds = default * 1e9 / (COPIES as f64 * f64::from(TURNS));
            println!(
                "{text:<60} {nanoseconds:>10.2} {:>8.2}x {:>8.2}x {:>8.2}x  {slowest:#x}{mark}",
                ratios[0], ratios[1], ratios[2]
            );
        }
        println!();
    }
    if slow == 0 {
        return ExitCode::SUCCESS;
    }
    println!("{slow} instructions take longer in another mode than they may");
    ExitCode::FAILURE
}

/// A loop of copies of one instruction; of none, what is around them.
fn looped(target: Target, text: &str) -> Snippet {
    let copies = if text.is_empty() { String::new() } else { format!("{text}\n").repeat(COPIES) };
    // The branch counts dwords, so the loop's length comes from its own code.
    let dwords = |snippet_text: &str| {
        let size = |line: &str| amdgpu_isa::parse(target, line).map(|inst| u32::from(inst.size) / 4);
        snippet_text.lines().map(|line| size(line).expect(line)).sum::<u32>()
    };
    let body = format!("{copies}s_sub_u32 s0, s0, 1\ns_cmp_lg_u32 s0, 0");
    let back = 0x1_0000 - (dwords(&body) + 1);
    let all = format!("s_movk_i32 s0, {TURNS}\n{body}\ns_cbranch_scc1 {back}");
    Snippet::assemble(target, &all).unwrap_or_else(|error| panic!("{all}: {error}"))
}
