//! Text tables under `tests/semantics/tables/`: a case a line, its source in the comments.

use amdgpu_isa::{Arch, Op, Target, opcodes};
use amdinst_emu::{Config, Machine, WaveState};

use crate::coverage::Snippet;
use crate::targets::{PROCESSORS, RDNA, TARGETS};

fn assembled(target: Target, text: &str) -> Result<Snippet, String> {
    Snippet::assemble(target, &text.replace(';', "\n")).map_err(|error| error.to_string())
}

fn run(target: Target, text: &str, state: &WaveState) -> Result<WaveState, String> {
    let snippet = assembled(target, text)?;
    snippet.run(&mut Machine::new(target.arch, Config::default()), state).map_err(|fault| fault.to_string())
}

pub(crate) fn lines(table: &str) -> impl Iterator<Item = &str> {
    table.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn number(text: &str) -> u64 {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// What the manuals print as examples.
#[test]
pub(crate) fn manual_examples() {
    let table = include_str!("tables/manual_examples.txt");
    let mut failures = Vec::new();
    let mut count = 0;
    for line in lines(table) {
        count += 1;
        let (call, result) = line.split_once(" => ").unwrap();
        let (name, operands) = call.strip_suffix(')').unwrap().split_once('(').unwrap();
        let name = name.to_lowercase();
        let file = if name.starts_with('v') { 'v' } else { 's' };
        let mut state = WaveState::default();
        let mut text = format!("{name} {file}0");
        for (index, operand) in operands.split(',').enumerate() {
            let value = number(operand.trim()) as u32;
            state.set_vgpr(index + 1, [value; 64]);
            state.sgprs[index + 1] = value;
            text += &format!(", {file}{}", index + 1);
        }
        let after = run(Arch::Gfx90a.into(), &text, &state).unwrap_or_else(|error| panic!("{line}: {error}"));
        let found = if file == 'v' { after.vgpr(0)[63] } else { after.sgprs[0] };
        if u64::from(found) != number(result) {
            failures.push(format!("{line}: {found:#x}"));
        }
    }
    println!("{count} examples of the manuals");
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
}

/// One `name=value` of a state.
pub(crate) fn set(state: &mut WaveState, item: &str) {
    let (name, value) = item.split_once('=').unwrap_or_else(|| panic!("{item}: no value"));
    if let Some(register) = name
        .strip_prefix('v')
        .filter(|rest| rest.starts_with(|first: char| first.is_ascii_digit()) && !rest.contains(':'))
    {
        let (register, lane) = match register.split_once('[') {
            Some((register, lane)) => (register, Some(number(lane.trim_end_matches(']')) as usize)),
            None => (register, None),
        };
        let register = number(register) as usize;
        let mut lanes = state.vgpr(register);
        match (lane, value) {
            (Some(lane), value) => lanes[lane] = number(value) as u32,
            (None, "lane") => lanes = std::array::from_fn(|lane| lane as u32),
            (None, value) if value.contains(',') => {
                let values: Vec<u32> = value.split(',').map(|value| number(value) as u32).collect();
                lanes = values.try_into().unwrap_or_else(|_| panic!("{item}: not 64 lanes"));
            }
            (None, value) => lanes = [number(value) as u32; 64],
        }
        return state.set_vgpr(register, lanes);
    }
    if let Some((first, _)) = name.split_once(':') {
        let register = number(&first[1..]) as usize;
        return match first.split_at(1).0 {
            "v" => state.set_vgpr_pair(register, [number(value); 64]),
            _ => state.set_sgpr_pair(register, number(value)),
        };
    }
    let value = number(value);
    match name {
        "exec" => state.exec = value,
        "lds" => state.lds = vec![0; value as usize],
        "vcc" => state.vcc = value,
        "m0" => state.m0 = value as u32,
        "flat_scratch" => state.flat_scratch = value,
        "scratch" => state.scratch = value as u32,
        "mode" => state.mode = value as u32,
        "scc" => state.scc = value != 0,
        _ => {
            let register = name.strip_prefix('s').unwrap_or_else(|| panic!("{item}: no register"));
            state.sgprs[number(register) as usize] = value as u32;
        }
    }
}

/// Each table, and where its lines are tried.
fn states() -> [(&'static str, Vec<Target>); 6] {
    let gfx9 = || PROCESSORS.map(Target::from).to_vec();
    [
        (include_str!("tables/lanes.txt"), gfx9()),
        (include_str!("tables/modes.txt"), gfx9()),
        (include_str!("tables/small_floats.txt"), gfx9()),
        (include_str!("tables/dpp.txt"), gfx9()),
        (include_str!("tables/control.txt"), TARGETS.to_vec()),
        (include_str!("tables/rdna.txt"), RDNA.to_vec()),
    ]
}

/// Whether a line with these names (`@gfx90a`, `@32`) is for a target.
fn is_for(target: Target, before: &str) -> bool {
    let names = before.split_whitespace().filter_map(|item| item.strip_prefix('@'));
    let wave = target.wave.lanes().to_string();
    let is_size = |name: &&str| matches!(*name, "32" | "64");
    let (sizes, archs): (Vec<&str>, Vec<&str>) = names.partition(is_size);
    (sizes.is_empty() || sizes.contains(&wave.as_str()))
        && (archs.is_empty() || archs.contains(&target.arch.name()))
}

/// Whole states: what the last column does not name has not changed. After `!`, it is what the fault says. On
/// every processor that has the instructions, unless the line names some.
#[test]
pub(crate) fn states_before_and_after() {
    let mut failures = Vec::new();
    let mut count = 0;
    let tables = states();
    let rows = tables.iter().flat_map(|(table, targets)| lines(table).map(move |line| (line, targets)));
    for (line, targets) in rows {
        let [text, before, after] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("{line}: not three columns")
        };
        let names_some = before.split_whitespace().any(|item| item.starts_with("@gfx"));
        let mut tried = 0;
        for &target in targets.iter().filter(|target| is_for(**target, before)) {
            if !names_some && assembled(target, text).is_err() {
                continue;
            }
            tried += 1;
            if let Err(message) = compared(target, text, before, after) {
                failures.push(format!("{target:?}: {line}\n  {message}"));
            }
        }
        if tried == 0 {
            failures.push(format!("{line}\n  no processor has it"));
        }
        count += tried;
    }
    println!("{count} states compared");
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
}

/// In every encoding, for some have no text of their own.
#[test]
pub(crate) fn vector_instructions_without_effect() {
    for target in TARGETS {
        let arch = target.arch;
        for opcode in opcodes(target)
            .filter(|opcode| matches!(opcode.op(), Op::v_nop | Op::v_clrexcp | Op::v_pipeflush | Op::ds_nop))
        {
            let words = opcode.plain().and_then(|inst| inst.encode(target)).unwrap();
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let exec = target.wave.all_lanes();
            let mut state = WaveState { scc: true, exec, ..WaveState::default() };
            state.set_vgpr(0, [5; 64]);
            let mut machine = Machine::new(arch, Config::default());
            let after = Snippet::from_bytes(target, &bytes).run(&mut machine, &state).unwrap();
            assert_eq!(
                WaveState { vgprs: vec![after.vgpr(0)], ..after },
                state,
                "{arch} {}",
                opcode.mnemonic()
            );
        }
    }
}

/// One line of a table of states on one processor.
fn compared(target: Target, text: &str, before: &str, after: &str) -> Result<(), String> {
    let mut state = WaveState::default();
    before.split_whitespace().filter(|item| !item.starts_with('@')).for_each(|item| set(&mut state, item));
    state.exec &= target.wave.all_lanes();
    if let Some(fault) = after.strip_prefix('!') {
        return match run(target, text, &state) {
            Err(error) if error.contains(fault.trim()) => Ok(()),
            Err(error) => Err(error),
            Ok(_) => Err("it ran".to_owned()),
        };
    }
    let mut expected = state.clone();
    after.split_whitespace().for_each(|item| set(&mut expected, item));
    expected.exec &= target.wave.all_lanes();
    let mut found = run(target, text, &state)?;
    let registers = found.vgprs.len().max(expected.vgprs.len());
    // Lanes that the wave has not.
    for (number, row) in expected.vgprs.iter_mut().enumerate() {
        let lanes = target.wave.lanes() as usize;
        row[lanes..].copy_from_slice(&state.vgpr(number)[lanes..]);
    }
    for state in [&mut found, &mut expected] {
        state.vgprs.resize(registers, [0; 64]);
        state.agprs.clear();
    }
    if found == expected { Ok(()) } else { Err(difference(&found, &expected)) }
}

fn difference(found: &WaveState, expected: &WaveState) -> String {
    let mut text = format!(
        "scc {}/{} flat_scratch {:#x}/{:#x} m0 {:#x}/{:#x} mode {:#x}/{:#x} exec {:#x}/{:#x} vcc {:#x}/{:#x}",
        found.scc,
        expected.scc,
        found.flat_scratch,
        expected.flat_scratch,
        found.m0,
        expected.m0,
        found.mode,
        expected.mode,
        found.exec,
        expected.exec,
        found.vcc,
        expected.vcc
    );
    for (number, (found, expected)) in found.sgprs.iter().zip(&expected.sgprs).enumerate() {
        if found != expected {
            text += &format!(" s{number} {found:#x}/{expected:#x}");
        }
    }
    for (number, (found, expected)) in found.vgprs.iter().zip(&expected.vgprs).enumerate() {
        if let Some(lane) = (0..64).find(|lane| found[*lane] != expected[*lane]) {
            text += &format!(" v{number}[{lane}] {:#x}/{:#x}", found[lane], expected[lane]);
        }
    }
    text
}
