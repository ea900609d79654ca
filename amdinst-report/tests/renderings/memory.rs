//! Memory accesses, in each rendering.

use amdinst_core::report::columns::Layout;
use amdinst_core::report::run::Run;
use amdinst_core::report::{
    InstructionMemory, MemoryAccess, MemoryFigures, MemoryPlace, MemoryRules, MemoryUse, MemoryVerb,
};
use amdinst_report::{Gate, Sources, Summary, github, html, human, markdown};

use super::model;

/// The run of the model with memory figures: each of two launches of `demo` loads a dword a lane 16 bytes
/// apart at line 4, reads a column of LDS at line 5, and adds to one address there.
fn with_memory() -> Run {
    let instruction = |pc, line, memory, access, figures| InstructionMemory {
        pc,
        file: Some("src/demo.rs".to_owned()),
        line: Some(line),
        access: MemoryAccess { memory, access },
        figures,
    };
    let wave = MemoryFigures { executions: 1, lanes: 64, bytes: 256, ..MemoryFigures::default() };
    let strided = MemoryFigures { lines_64: 16, lines_128: 8, least_lines_64: 4, least_lines_128: 2, ..wave };
    let column = MemoryFigures { bank_cycles: 64, least_bank_cycles: 2, ..wave };
    let one = MemoryFigures { lines_64: 1, lines_128: 1, least_lines_64: 1, least_lines_128: 1, ..wave };
    let sum = MemoryFigures { turns: 64, most_turns: 64, ..one };
    let mut run = model::run();
    for test in &mut run.programs[0].tests[1..] {
        test.memory = vec![MemoryUse {
            kernel: "demo".to_owned(),
            rules: MemoryRules { line_bytes: 64, lds_phases_of: None },
            instructions: vec![
                instruction(0x1000, 4, MemoryPlace::Global, MemoryVerb::Load, strided),
                instruction(0x1010, 5, MemoryPlace::Lds, MemoryVerb::Load, column),
                instruction(0x1018, 5, MemoryPlace::Global, MemoryVerb::Atomic, sum),
            ],
        }];
    }
    run
}

fn summary() -> Summary {
    Summary::new(&with_memory())
}

#[test]
fn for_a_terminal_the_costliest_line_comes_first() {
    let memory = summary().kernels[0].memory.clone().unwrap();
    let table = amdinst_report::memory::table(&memory, 2, &Layout::default());
    insta::assert_snapshot!(table);
    assert_eq!(amdinst_report::memory::table(&memory, 0, &Layout::default()), "");
    let whole = human::render(&summary(), &Sources::default(), &human::Options::default());
    assert!(whole.contains("load LDS"), "{whole}");
}

#[test]
fn as_markdown_it_is_a_table() {
    let text = markdown::render(&summary(), &[], 10);
    let section = text.split("### ").find(|part| part.starts_with("Memory of")).unwrap();
    insta::assert_snapshot!(section);
}

/// A limit that was passed is told at its line.
#[test]
fn limits_are_annotations_at_lines() {
    let gate: Gate = "bank-conflicts:10%".parse().unwrap();
    let violations = gate.check(&summary(), None);
    let text = github::render(&summary(), &violations[..1], 0);
    let expected = "::error file=src/demo.rs,line=5,title=--fail-on bank-conflicts%3A10%25::demo on gfx90a: load LDS: conflicts cost 124 of 128 cycles of the banks (96.9 %25)";
    assert!(text.contains(expected), "{text}");
}

/// The JSON is what the schemas say, and comes back as it was.
#[test]
fn documents_have_it() {
    super::schemas::Schema::read("run.v1.json").assert(&serde_json::to_value(with_memory()).unwrap());
    let json = serde_json::to_value(summary()).unwrap();
    super::schemas::Schema::read("report.v1.json").assert(&json);
    let lines = json["kernels"][0]["memory"]["lines"].as_array().unwrap();
    let of_lds = lines.iter().find(|line| line["memory"] == "lds").unwrap();
    assert_eq!(of_lds["bank_conflicts"], 124);
    let read = Summary::from_json(json.to_string().as_bytes()).unwrap();
    assert_eq!(
        read.kernels[0].memory.as_ref().unwrap().lines,
        summary().kernels[0].memory.as_ref().unwrap().lines
    );
}

/// The page has the lines, and is as it was without figures.
#[test]
fn the_page_has_it() {
    let page =
        |summary: &Summary| html::render(summary, &Sources::default(), &html::Extras::default()).unwrap();
    let with = page(&summary());
    assert!(with.contains("128 bank cycles, 124 by conflicts"));
    assert!(!page(&Summary::new(&model::run())).contains("bank cycles"));
}
