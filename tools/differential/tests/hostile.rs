//! Mutated code objects, for ten seconds; `cargo xtask corpus mutants` takes as long as it is given.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use amdgpu_object::CodeObject;
use differential::dice::Dice;
use differential::hostile::check::{Reached, whole_path};
use differential::hostile::mutate::mutate;

fn fixture() -> Vec<u8> {
    named("branches.elf")
}

fn named(name: &str) -> Vec<u8> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cargo-amdinst/tests/fixtures");
    std::fs::read(directory.join(name)).unwrap()
}

/// What the fuzzer begins with.
fn seeds() -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds/whole_path");
    let mut paths: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "elf"));
    paths.sort();
    assert!(paths.len() >= 4, "{paths:?}");
    paths.iter().map(|path| std::fs::read(path).unwrap()).chain([fixture()]).collect()
}

#[test]
fn a_sound_file_goes_all_the_way() {
    let reached = whole_path(&fixture()).unwrap();
    let all =
        Reached { files: 1, parsed: 1, instrumented: 1, launched: 2, ended: 2, compared: 2, by_chance: 0 };
    assert_eq!(reached, all);
    for seed in seeds() {
        let reached = whole_path(&seed).unwrap();
        assert!(reached.ended > 0 && reached.ended == reached.launched, "{reached:?}");
    }
}

/// A mutant that shifts a register by another, neither of which anything wrote: with two dwords in their
/// place, the result is zero.
#[test]
fn what_is_equal_by_chance_is_no_finding() {
    let reached = whole_path(&named("by_chance.elf")).unwrap();
    assert_eq!((reached.compared, reached.by_chance), (1, 1));
}

#[test]
fn mutants_are_refused_or_go_all_the_way() {
    let (files, until) = (seeds(), Instant::now() + Duration::from_secs(10));
    let mut reached = Reached::default();
    // The same ones everywhere, as many as there is time for.
    for number in 0.. {
        let mut dice = Dice::new(40, number);
        let mut bytes = dice.pick(&files).clone();
        mutate(&mut bytes, &mut dice);
        let ended = catch_unwind(AssertUnwindSafe(|| whole_path(&bytes)));
        reached += ended
            .unwrap_or_else(|_| panic!("mutant {number} of seed 40 panics"))
            .unwrap_or_else(|what| panic!("mutant {number} of seed 40: {what}"));
        if Instant::now() > until {
            break;
        }
    }
    eprintln!("{reached:?}");
    // Most of them are still code objects, and many of their kernels run.
    assert!(reached.parsed > reached.files / 3 && reached.ended > reached.files / 10, "{reached:?}");
    assert!(reached.compared > reached.files / 50, "{reached:?}");
}

#[test]
fn mutants_are_the_same_each_time_and_most_are_damaged() {
    let file = fixture();
    let make = |number| {
        let mut bytes = file.clone();
        mutate(&mut bytes, &mut Dice::new(7, number));
        bytes
    };
    let mutants: Vec<_> = (0..200).map(make).collect();
    assert!(mutants.iter().zip(0..).all(|(mutant, number)| *mutant == make(number)));
    assert!(mutants.iter().filter(|mutant| **mutant != file).count() > 190);
    let parsed = |mutant: &&Vec<u8>| CodeObject::parse((*mutant).clone()).is_ok();
    assert!(mutants.iter().filter(parsed).count() > 60);
}
