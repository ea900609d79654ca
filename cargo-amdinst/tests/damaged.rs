//! Damaged files, through every command's own path: one clear error, or a result, and never a panic.
//!
//! The code object that is damaged is `fixtures/branches.elf`. A launch of a damaged kernel may fault, which
//! is an error like any other; its budget keeps endless ones short.

use std::ops::ControlFlow;
use std::path::PathBuf;

use amdgpu_object::CodeObject;
use amdinst_core::instrument::{self, Abi, Options};
use amdinst_core::listing::Listing;
use amdinst_launch::{Arguments, Outcome};
use cargo_amdinst::cli::FileArgs;
use cargo_amdinst::commands::input::{File, Input};
use cargo_amdinst::commands::inspect;
use cargo_amdinst::commands::run::fault;
use cargo_amdinst::exit::{Exit, Failure};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const FIXTURE: &[u8] = include_bytes!("fixtures/branches.elf");

/// Everything that is done with a file, short of printing.
fn all_commands(bytes: &[u8]) -> Result<(), Failure> {
    let args = FileArgs { file: PathBuf::from("damaged.elf"), target_cpu: None, object: None };
    let file = File::from(bytes.to_vec());
    let input = Input::new(&args, &file)?;
    input.for_each(|found| {
        let object = &found.object;
        let (view, _) = inspect::view_object(&found);
        let file = inspect::view::FileView::new("damaged.elf", vec![view], Vec::new());
        assert!(!inspect::Human(&file).to_string().is_empty());
        assert!(!listing(object).is_empty());
        if let Ok(plan) = instrument::plan(object, &Options::default())
            && let Ok(instrumented) = instrument::apply(object, plan)
        {
            let again = CodeObject::parse(instrumented.bytes);
            assert!(again.is_ok(), "the instrumented code object cannot be read: {:?}", again.err());
        }
        for kernel in &object.kernels {
            let specs: Vec<_> = match kernel.name.as_str() {
                "add" => vec!["buf:256", "buf:256", "buf:256", "u32:60"],
                "collatz" => vec!["buf:256", "u32:60", "u32:9"],
                _ => continue,
            };
            let specs: Vec<_> = specs.into_iter().map(|text| text.parse().unwrap()).collect();
            let Ok(arguments) = Arguments::new(kernel, &specs) else { continue };
            let launch = amdinst_emu::Launch {
                budget: 20_000,
                threads: 1,
                record_masks: true,
                ..amdinst_emu::Launch::new(&kernel.name)
            };
            if let Err(error) = Outcome::of(object, amdinst_emu::Config::default(), &arguments, launch) {
                check_failure(&fault::failure(error, object));
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(())
}

fn listing(object: &CodeObject) -> String {
    let mut text = Vec::new();
    Listing::new(object).write(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// An error is one: with an exit code of its own and a message of a few lines.
fn check_failure(failure: &Failure) {
    assert_ne!(failure.exit, Exit::Success);
    let message = failure.to_string();
    assert!(!message.trim().is_empty());
    assert!(message.len() < 2000, "{message}");
}

fn survives(bytes: &[u8]) {
    if let Err(failure) = all_commands(bytes) {
        check_failure(&failure);
    }
}

/// Parts that contradict each other: it is told what does, before anything is rewritten. To find it in what
/// was rewritten would be to find a bug.
#[test]
fn contradictions_are_damage_and_no_bug() {
    let number = |at: usize, size: usize| {
        FIXTURE[at..at + size].iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
    };
    // Where the header of the first section of that kind stands.
    let section = |kind: usize| {
        let table = number(0x28, 8);
        (0..number(0x3c, 2)).map(|index| table + 64 * index).find(|at| number(at + 4, 4) == kind).unwrap()
    };
    let (dynamic, hash, dynamic_symbols) = (section(6), section(5), section(11));
    let symbols = number(dynamic_symbols + 24, 8);
    for (at, new, words) in [
        // Kinds of sections.
        (dynamic_symbols + 4, 0x7f, "where DT_SYMTAB points"),
        (dynamic + 4, 0x7f, "where PT_DYNAMIC points"),
        (hash + 4, 0x7f, "where DT_HASH points"),
        // Not loaded; somewhere else; of no size.
        (hash + 8, 0, "where DT_HASH points"),
        (hash + 16, 0x99, "no segment loads it at its address"),
        (dynamic_symbols + 32, 24, "its hash table counts"),
        // The section of the first symbol.
        (symbols + 24 + 6, 1, "it does not lie in its section"),
        // The table of program headers is said to stand elsewhere.
        (0x40 + 8, 0x48, "it does not describe the program header table"),
    ] {
        let mut bytes = FIXTURE.to_vec();
        bytes[at] = new;
        let object = CodeObject::parse(bytes).unwrap();
        let plan = instrument::plan(&object, &Options::default()).unwrap();
        let failure = Failure::from(instrument::apply(&object, plan).unwrap_err());
        assert!(failure.to_string().contains(words), "expected `{words}`: {failure}");
        assert_eq!(failure.exit, Exit::BadInput, "{failure}");
        check_failure(&failure);
    }
}

#[test]
fn the_whole_file_is_fine() {
    all_commands(FIXTURE).unwrap();
}

#[test]
fn a_program_that_has_a_code_object_anywhere_is_read() {
    // This one has the fixture among its constants.
    all_commands(&std::fs::read(std::env::current_exe().unwrap()).unwrap()).unwrap();
}

#[test]
fn files_of_other_kinds_are_named_as_such() {
    let host = std::fs::read("/bin/sh").unwrap();
    let mut wrong_machine = FIXTURE.to_vec();
    wrong_machine[18] = 62;
    let mut wide = FIXTURE.to_vec();
    wide[4] = 1;
    let mut relocatable = FIXTURE.to_vec();
    relocatable[16] = 1;
    let mut radeon = FIXTURE.to_vec();
    radeon[48] = 0x23;
    for (bytes, words) in [
        (&b""[..], "not an ELF file"),
        (b"hello", "not an ELF file"),
        (&host, "without GPU code"),
        (&wrong_machine, "without GPU code"),
        (&wide, "64-bit"),
        (&relocatable, "unlinked"),
        (&radeon, "gfx701"),
    ] {
        let failure = all_commands(bytes).unwrap_err();
        assert_eq!(failure.exit, Exit::BadInput);
        let message = failure.to_string();
        assert!(
            message.starts_with("damaged.elf: ") && message.contains(words),
            "expected `{words}`: {message}"
        );
        check_failure(&failure);
    }
}

#[test]
fn every_truncation() {
    for length in (0..FIXTURE.len()).step_by(61) {
        survives(&FIXTURE[..length]);
    }
}

fn config() -> ProptestConfig {
    let set = |name| std::env::var_os(name).is_some();
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if !set("PROPTEST_RNG_SEED") {
        config.rng_seed = RngSeed::Fixed(0x616d_6469_6e73_7421);
    }
    config
}

proptest! {
    // The same cases in every run; `PROPTEST_RNG_SEED` and `PROPTEST_CASES` look further.
    #![proptest_config(config())]

    #[test]
    fn flipped_bits(flips in prop::collection::vec((0..FIXTURE.len(), 0..8u32), 1..12)) {
        let mut bytes = FIXTURE.to_vec();
        for (at, bit) in flips {
            bytes[at] ^= 1 << bit;
        }
        survives(&bytes);
    }

    /// Lengths, offsets and counts stand in words; random words are likelier to be absurd than flipped bits
    /// are.
    #[test]
    fn absurd_words(words in prop::collection::vec((0..FIXTURE.len() / 8, prop_oneof![
        Just(0), Just(u64::MAX), Just(1 << 63), Just(u64::from(u32::MAX)), any::<u64>(), 0..20_000u64,
    ]), 1..4)) {
        let mut bytes = FIXTURE.to_vec();
        for (index, word) in words {
            bytes[8 * index..][..8].copy_from_slice(&word.to_le_bytes());
        }
        survives(&bytes);
    }

    /// The kernels' code alone: everything else is sound, so this reaches the decoder, the analysis and the
    /// emulator.
    #[test]
    fn damaged_code(flips in prop::collection::vec((0x1a00..0x1be0usize, 0..8u32), 1..6)) {
        let mut bytes = FIXTURE.to_vec();
        let address = 0x1a00 - text_offset();
        for (at, bit) in flips {
            bytes[at - address] ^= 1 << bit;
        }
        survives(&bytes);
    }
}

/// Where `.text` (address 0x1a00) stands in the file.
fn text_offset() -> usize {
    let object = CodeObject::parse(FIXTURE.to_vec()).unwrap();
    assert_eq!(object.text.address, 0x1a00);
    object.text.range.start
}

/// Kinds of sections and of symbols, each put in place of each other one, and other sizes: what contradicts
/// itself is told of the file, not found in what is made of it.
#[test]
fn kinds_that_contradict_each_other_are_told_before_rewriting() {
    let word = |at: usize| u64::from_le_bytes(FIXTURE[at..at + 8].try_into().unwrap()) as usize;
    let count = usize::from(u16::from_le_bytes([FIXTURE[60], FIXTURE[61]]));
    let headers: Vec<usize> = (0..count).map(|number| word(40) + 64 * number).collect();
    let symbols =
        headers.iter().filter(|header| matches!(FIXTURE[**header + 4], 2 | 11)).flat_map(|header| {
            let (start, size) = (word(header + 24), word(header + 32));
            (start..start + size).step_by(24).map(|symbol| symbol + 4)
        });
    let kinds = headers.iter().map(|header| header + 4);
    let sizes = headers.iter().map(|header| header + 32);
    let (mut tried, mut refused) = (0, 0);
    for at in kinds.chain(sizes).chain(symbols) {
        for kind in 0..16 {
            let mut bytes = FIXTURE.to_vec();
            bytes[at] = bytes[at] & 0xf0 | kind;
            let Ok(object) = CodeObject::parse(bytes) else { continue };
            let abi = if kind % 2 == 0 { Abi::Argument } else { Abi::Global };
            let options = Options { abi, ..Options::default() };
            let Ok(plan) = instrument::plan(&object, &options) else { continue };
            tried += 1;
            if let Err(error) = instrument::apply(&object, plan) {
                let message = error.to_string();
                assert!(
                    !message.contains("the rewritten code object"),
                    "byte {at:#x}, kind {kind}: {message}"
                );
                refused += 1;
            }
        }
    }
    assert!(refused > 20 && tried > 2 * refused, "{refused} of {tried}");
}
