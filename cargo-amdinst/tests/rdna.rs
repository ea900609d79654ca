//! Code objects of RDNA, in waves of 32 and of 64 lanes: shown, instrumented and run; what a processor does
//! not have is told.

mod support;

use serde_json::Value;
use support::{HALVE, amdinst, stdout};

#[test]
fn rdna_is_shown_instrumented_and_run() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let source = directory.join("halve.cl");
    std::fs::write(&source, HALVE).unwrap();
    let wide = directory.join("wide.elf");
    if !support::compile_with(&source, &directory.join("narrow.elf"), &["-mcpu=gfx1100"]) {
        return;
    }
    support::compile_with(&source, &wide, &["-mcpu=gfx1151", "-mwavefrontsize64", "-mcumode"]);
    support::compile_with(&source, &directory.join("narrow10.elf"), &["-mcpu=gfx1030"]);
    support::compile_with(&source, &directory.join("wide10.elf"), &["-mcpu=gfx1010", "-mwavefrontsize64"]);
    support::compile_with(&source, &directory.join("narrow12.elf"), &["-mcpu=gfx1201"]);
    support::compile_with(&source, &directory.join("wide12.elf"), &["-mcpu=gfx1200", "-mwavefrontsize64"]);

    let narrow = stdout(directory, "inspect narrow.elf");
    assert!(narrow.starts_with("gfx1100: code object V6, 1 kernel, "), "{narrow}");
    assert!(
        narrow.contains("  waves       32 lanes; those of a workgroup share a work-group processor\n"),
        "{narrow}"
    );
    assert!(narrow.contains("  occupancy   16 of 16 waves a SIMD, limited by "), "{narrow}");
    assert!(narrow.contains("SGPRs     64 waves a work-group processor up to 108\n"), "{narrow}");
    assert!(narrow.contains("  sites       1, 0 uniform\n"), "{narrow}");
    let text = stdout(directory, "inspect wide.elf --format json");
    let view: Value = serde_json::from_str(&text).unwrap();
    let kernel = &view["code_objects"][0]["kernels"][0];
    assert_eq!(kernel["waves"]["lanes"], 64);
    assert_eq!(kernel["waves"]["workgroup_processor_mode"], false);
    assert_eq!(kernel["occupancy"]["waves_per_cu"], 32);

    // A mask of lanes is as wide as a wave.
    let narrow = stdout(directory, "disasm narrow.elf -S");
    assert!(narrow.contains("vcc_lo, s2, v0"), "{narrow}");
    assert!(narrow.contains("; kernel void halve"), "{narrow}");
    let wide = stdout(directory, "disasm wide.elf");
    assert!(wide.contains("vcc, s2, v0") && !wide.contains("vcc_lo, s2, v0"), "{wide}");

    for file in ["narrow.elf", "wide.elf", "narrow10.elf", "wide10.elf", "narrow12.elf", "wide12.elf"] {
        let words = "--grid 1 --block 64 --arg i32:[9,8,-7,6] --arg i32:3 --print 1";
        let text = stdout(directory, &format!("run {file} {words}"));
        let printed: Vec<&str> = text.split_whitespace().collect();
        assert!(printed.ends_with(&["0:", "4", "4", "-3", "6"]), "{text}");
    }

    // Three of 64 lanes have an element; a wave of 32 more has none.
    let lanes = |file: &str, words: &str| {
        let text =
            stdout(directory, &format!("run {file} --grid 1 --block 64 --arg buf:256 --arg i32:3 {words}"));
        assert!(text.contains("equal; counters and the emulator's own: equal"), "{text}");
        text
    };
    let pairs = [["narrow", "wide"], ["narrow10", "wide10"], ["narrow12", "wide12"]];
    let homes = ["register", "lds", "global"];
    for ([narrow, wide], home) in pairs.into_iter().flat_map(|pair| homes.map(|home| (pair, home))) {
        let report = format!("--report --counters {home}");
        let text = lanes(&format!("{narrow}.elf"), &report);
        assert!(text.contains("1 workgroup of 64 work-items, 2 waves of 32 lanes, counters in "), "{text}");
        let text = lanes(&format!("{wide}.elf"), &report);
        assert!(text.contains("1 workgroup of 64 work-items, 1 wave, counters in "), "{text}");
        for file in [narrow, wide] {
            stdout(directory, &format!("instrument {file}.elf -o {file}.{home}.elf --counters {home}"));
            let map = std::fs::read(directory.join(format!("{file}.{home}.probes.json"))).unwrap();
            let map: Value = serde_json::from_slice(&map).unwrap();
            let lanes = map["kernels"][0].get("lanes").and_then(Value::as_u64);
            assert_eq!(lanes, (file == narrow).then_some(32));
            assert_eq!(map["kernels"][0]["sites"].as_array().unwrap().len(), 1);
        }
    }
}

/// Code that assumes waves of 64: the lanes that waves of 32 do not have are told once a line, though a value
/// of two words takes two instructions, and the kernel goes on.
#[test]
fn lanes_of_larger_waves_are_told() {
    const MIRRORED: &str = "\
kernel void mirrored(global ulong *a) {
    int lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
    uint2 value = as_uint2(a[lane]);
    value.x = __builtin_amdgcn_ds_bpermute(4 * (63 - lane), value.x); value.y = __builtin_amdgcn_ds_bpermute(4 * (63 - lane), value.y);
    a[lane] = as_ulong(value);
}
";
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let source = directory.join("mirrored.cl");
    std::fs::write(&source, MIRRORED).unwrap();
    if !support::compile_with(&source, &directory.join("narrow.elf"), &["-mcpu=gfx1100"]) {
        return;
    }
    support::compile_with(&source, &directory.join("wide.elf"), &["-mcpu=gfx1100", "-mwavefrontsize64"]);
    let run = |file: &str, rest: &str| {
        let output = amdinst(directory, &format!("run {file} --grid 1 --block 64 --arg buf:512 {rest}"));
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        output
    };
    let told = String::from_utf8(run("narrow.elf", "").stderr).unwrap();
    let message = "warning: kernel `mirrored`: lane 63 does not exist in waves of 32 lanes: what lane 31 has is taken\n";
    assert!(told.contains(message) && told.contains("--> mirrored.cl:4:"), "{told}");
    assert_eq!(
        (told.matches("warning").count(), told.matches("= help: code that assumes waves of 64").count()),
        (1, 1)
    );
    let view: Value = serde_json::from_slice(&run("narrow.elf", "--format json").stdout).unwrap();
    assert_eq!(view["doubts"][0]["kind"], "no-such-lane");
    assert_eq!(view["doubts"].as_array().map(Vec::len), Some(1), "{view}");
    let told = String::from_utf8(run("wide.elf", "").stderr).unwrap();
    assert!(!told.contains("warning"), "{told}");
}

/// The vector addition of the talk that this project began with, in Rust (`fixtures/vector_add.rs`), as the
/// link step makes it for gfx1100: its listing, the same with counters in each storage, and the report of
/// four waves of which the last diverges. `cargo xtask snapshots --bless` writes the snapshot anew.
#[test]
fn a_vector_addition_of_gfx1100_is_listed_instrumented_and_reported() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    std::fs::write(directory.join("vector_add.elf"), include_bytes!("fixtures/vector_add.elf")).unwrap();
    // Without addresses, and up to the kernel's end.
    let listing = |file: &str| {
        let text = stdout(directory, &format!("disasm {file}"));
        let lines = text.lines().skip_while(|line| !line.ends_with("<vector_add>:")).skip(1);
        let lines: Vec<&str> = lines.filter_map(|line| Some(line.split_once("//")?.0.trim())).collect();
        let end = lines.iter().position(|line| *line == "s_endpgm").unwrap();
        lines[..=end].join("\n")
    };
    let mut text = format!("# listing\n{}\n", listing("vector_add.elf"));
    for counters in ["register", "lds", "global"] {
        let file = format!("{counters}.elf");
        stdout(directory, &format!("instrument vector_add.elf -o {file} --counters {counters}"));
        text.push_str(&format!("\n# instrumented, counters: {counters}\n{}\n", listing(&file)));
    }
    let arguments = "--arg f32[100] --arg iota:f32[100] --arg fill:f32[100]:0.5 --arg i32:100";
    let report = stdout(directory, &format!("run vector_add.elf --grid 1 --block 128 {arguments} --report"));
    text.push_str(&format!("\n# report\n{report}"));

    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots/vector_add-gfx1100.txt");
    if std::env::var_os("AMDINST_BLESS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(path).unwrap_or_default(), "look, then bless");
}

/// One that a library for several GPUs has in it.
#[test]
fn a_bundle_of_several_generations_is_instrumented() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let source = directory.join("halve.cl");
    std::fs::write(&source, HALVE).unwrap();
    let compiled = |cpu: &'static str| {
        let file = directory.join(format!("{cpu}.elf"));
        let made = support::compile_with(&source, &file, &[&format!("-mcpu={cpu}")]);
        made.then(|| (cpu, std::fs::read(file).unwrap()))
    };
    let cpus = ["gfx1100", "gfx1151", "gfx906", "gfx90a"];
    let Some(parts) = cpus.into_iter().map(compiled).collect::<Option<Vec<_>>>() else { return };
    std::fs::write(directory.join("rdna.bundle"), support::bundle(&parts[..2])).unwrap();
    std::fs::write(directory.join("fat.bundle"), support::bundle(&parts)).unwrap();

    stdout(directory, "run rdna.bundle --target-cpu gfx1151 --grid 1 --block 64 --arg buf:256 --arg i32:64");
    let shown = stdout(directory, "inspect rdna.bundle");
    assert!(shown.contains("gfx1100: code object") && shown.contains("gfx1151: code object"), "{shown}");
    assert!(stdout(directory, "disasm rdna.bundle --target-cpu gfx1151").contains("s_endpgm"));

    stdout(directory, "instrument --whole fat.bundle -o fat.out");
    let written = std::fs::read(directory.join("fat.out")).unwrap();
    let stands = |code: &[u8]| written.windows(code.len()).any(|window| window == code);
    assert_eq!([0, 1, 2, 3].map(|index: usize| stands(&parts[index].1)), [false; 4]);
    stdout(directory, "run fat.bundle --target-cpu gfx90a --grid 1 --block 64 --arg buf:256 --arg i32:64");
}

/// What is asked for in vain is told before anything is compiled, with what to ask for instead.
#[test]
fn what_a_processor_does_not_have_is_told_first() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    std::fs::create_dir(directory.join("src")).unwrap();
    std::fs::write(directory.join("src/lib.rs"), "#![no_std]\npub extern \"gpu-kernel\" fn halve() {}\n")
        .unwrap();
    let package = "[package]\nname = \"halve\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n";
    let narrow = format!("{package}[package.metadata.amdinst]\nwave-size = 32\n");
    let of_setting =
        "gfx90a has waves of 64 lanes only, and `wave-size` in [package.metadata.amdinst] asks for 32";
    let of_option = "gfx90a has waves of 64 lanes only, and `--wave-size` asks for 32";
    let sizes = [
        "note: processors with several sizes: gfx1010, gfx1011,",
        "help: leave it away, or give `--wave-size 64`",
    ];
    let other_name = "`gfx1300` is not a processor this tool knows (gfx801 … gfx810, gfx900 … gfx950, gfx1010 … gfx1036, gfx1100 … gfx1153, gfx1200, gfx1201, and generic ones, as gfx11-generic)";
    let built = ["note: processors that kernels are built for: gfx801, gfx802,", "gfx1152, gfx1153"];
    let exec = "the ROCm runtime cannot be run on gfx803: it is one of gfx900,";
    for (manifest, command, code, first, others) in [
        (package, "build --wave-size 32", 2, of_option, &sizes[..]),
        (package, "test --target-cpu gfx1100,gfx90a --wave-size 32", 2, of_option, &sizes),
        (&narrow, "build", 2, of_setting, &sizes),
        (
            package,
            "build --wave-size 48",
            2,
            "invalid value '48' for '--wave-size <LANES>': a wave has 32 or 64 lanes",
            &[],
        ),
        (package, "build --target-cpu gfx1300", 2, other_name, &built),
        (package, "exec --target-cpu gfx803 -- true", 8, exec, &[]),
    ] {
        std::fs::write(directory.join("Cargo.toml"), manifest).unwrap();
        let output = amdinst(directory, command);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{command}: {message}");
        let told = message.lines().next().unwrap_or_default();
        assert!(told.starts_with(&format!("error: {first}")), "{command}: {message}");
        assert!(others.iter().all(|part| message.contains(part)), "{command}: {message}");
    }
}

#[test]
fn opcodes_of_rdna_are_listed_with_their_fidelity() {
    let directory = tempfile::tempdir().unwrap();
    let isa = |mnemonic: &str| stdout(directory.path(), &format!("isa --target-cpu gfx1100 {mnemonic}"));
    let text = isa("image_load");
    assert!(text.contains("  unsupported  images are not supported\n"), "{text}");
    let text = isa("v_wmma_i32_16x16x16_iu8");
    assert!(text.ends_with("gfx1100: 1 opcode, 1 exact, 0 approximate, 0 unsupported\n"), "{text}");
}
