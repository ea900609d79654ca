//! `isa` and `run --stats`: what is said about opcodes, for people and for programs.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn amdinst(words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    command
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"))
        .env("NO_COLOR", "1")
        .env_remove("CARGO_TERM_COLOR");
    command.args(words.split_whitespace()).output().unwrap()
}

fn stdout(words: &str) -> String {
    let output = amdinst(words);
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_line_an_opcode() {
    let text = stdout("isa --target-cpu gfx1100 _gs_reg");
    let reason = "the global data share (GDS) is not supported";
    let line =
        |number: u32, name: &str| format!("ds          {number:>3}  {name:<34} unsupported  {reason}\n");
    let expected: String = [
        line(122, "ds_add_gs_reg_rtn"),
        line(123, "ds_sub_gs_reg_rtn"),
        "gfx1100: 2 opcodes, 0 exact, 0 approximate, 2 unsupported\n".to_owned(),
    ]
    .concat();
    assert_eq!(text, expected);
    let text = stdout("isa --target-cpu gfx900 s_addc_u32");
    assert_eq!(
        text,
        "sop2          4  s_addc_u32                         exact\n\
         gfx900: 1 opcode, 1 exact, 0 approximate, 0 unsupported\n"
    );
}

#[test]
fn every_processor_as_json() {
    // Opcodes that LLVM 22's assembler accepts; more may be added when it knows more.
    for (cpu, at_least) in [
        ("gfx900", 1800),
        ("gfx906", 1800),
        ("gfx908", 1850),
        ("gfx90a", 1800),
        ("gfx942", 1800),
        ("gfx950", 1900),
    ] {
        let view: Value =
            serde_json::from_str(&stdout(&format!("isa --target-cpu {cpu} --format json"))).unwrap();
        assert_eq!((view["schema"].clone(), view["target_cpu"].clone()), (1.into(), cpu.into()));
        let opcodes = view["opcodes"].as_array().unwrap();
        assert!(opcodes.len() >= at_least, "{cpu}: {}", opcodes.len());
        for class in ["exact", "approximate", "unsupported"] {
            let of_it: Vec<_> = opcodes.iter().filter(|opcode| opcode["fidelity"] == class).collect();
            assert_eq!(view[class], of_it.len(), "{cpu} {class}");
            assert!(of_it.iter().all(|opcode| opcode.get("remark").is_none() == (class == "exact")), "{cpu}");
        }
        let image = opcodes.iter().find(|opcode| opcode["encoding"] == "mimg");
        if let Some(image) = image {
            assert_eq!(image["remark"], "images are not supported");
            assert!(image["opcode"].is_u64() && image["mnemonic"].is_string());
        }
    }
    assert_eq!(amdinst("isa --target-cpu gfx701").status.code(), Some(2));
}

#[test]
fn a_launch_tells_what_it_executed() {
    let options = "run branches.elf --kernel add --grid 1 --block 64 --stats \
                   --arg buf:256 --arg buf:256 --arg buf:256 --arg i32:64";
    let view: Value = serde_json::from_str(&stdout(&format!("{options} --format json"))).unwrap();
    let [exact, approximate] = &view["fidelity"].as_array().unwrap()[..] else { panic!("{view}") };
    assert_eq!(
        (exact["fidelity"].clone(), approximate["fidelity"].clone()),
        ("exact".into(), "approximate".into())
    );
    assert_eq!(exact["executions"], view["wave_instructions"]);
    assert_eq!((approximate["opcodes"].clone(), approximate["executions"].clone()), (0.into(), 0.into()));
    let opcodes = view["opcodes"].as_array().unwrap();
    assert_eq!(exact["opcodes"], opcodes.len());
    assert!(opcodes.iter().all(|opcode| opcode["fidelity"] == "exact"), "{view}");
    let text = stdout(options);
    let line = format!("{:>12}  exact ({} opcodes)\n", exact["executions"].as_u64().unwrap(), opcodes.len());
    assert!(text.contains(&line), "{text}");
}
