//! Where two executions part: the line that was made different, from the element that differs in the end.

use amdgpu_object::CodeObject;
use amdinst_explain::origin::{Parting, parting};

use crate::launched::{Done, ITEMS};
use crate::support::{compile_with, tools};

const SOURCE: &str = include_str!("sources/parting.cl");

/// What the source has names for.
const NAMES: [&str; 3] = ["-DVOTE=__builtin_amdgcn_ballot_w64", "-DFROM=1", "-DFACTOR=5.0f"];

fn compiled(cpu: &str, level: &str, options: &[&str]) -> CodeObject {
    let mut all: Vec<&str> = NAMES.to_vec();
    // The last definition counts.
    for option in options {
        let name = option.split('=').next().unwrap_or_default();
        all.retain(|known| !known.starts_with(name));
        all.push(option);
    }
    compile_with(SOURCE, cpu, level, &all)
}

/// Where a kernel's executions part, by the first element that differs.
fn parted(kernel: &str, here: &CodeObject, there: &CodeObject) -> Parting {
    let (mut first, mut second) = (Done::new(here, kernel), Done::new(there, kernel));
    let [ours, theirs] = [&first, &second].map(|done| done.device.u32s(done.out, ITEMS as usize));
    let element = ours.iter().zip(&theirs).position(|(own, other)| own != other);
    let dword = first.out + 4 * element.unwrap_or_else(|| panic!("{kernel}: no difference")) as u64;
    parting(&mut first.rerun(here), &mut second.rerun(there), dword)
        .unwrap_or_else(|lost| panic!("{kernel}: {lost}"))
}

/// Both instructions stand on the line with these words.
#[track_caller]
fn assert_line(parting: &Parting, words: &str, suspect: Option<&str>) {
    let line = SOURCE.lines().position(|line| line.contains(words)).map(|line| line as u32 + 1);
    assert!(line.is_some(), "{words}");
    for step in [&parting.here, &parting.there].into_iter().flatten() {
        assert_eq!(step.location.line, line, "{parting:#?}");
    }
    assert!(parting.here.is_some() || parting.there.is_some(), "{parting:#?}");
    match (suspect, &parting.suspect) {
        (None, None) => {}
        (Some(words), Some(told)) => assert!(told.contains(words), "{told}"),
        (expected, told) => panic!("{expected:?}: {told:?}"),
    }
}

#[test]
fn waves_of_other_sizes_part_where_the_size_shows() {
    if !tools("waves_of_other_sizes_part_where_the_size_shows") {
        return;
    }
    for level in ["-O0", "-O3"] {
        let wide = compiled("gfx90a", level, &[]);
        let narrow = compiled("gfx1100", level, &["-DVOTE=__builtin_amdgcn_ballot_w32"]);
        for (here, there) in [(&wide, &narrow), (&narrow, &wide)] {
            assert_line(&parted("lane", here, there), "uint lane =", Some("lane's number in its wave"));
            assert_line(&parted("neighbour", here, there), "int other =", Some("another lane of the wave"));
            let vote = parted("vote", here, there);
            assert!(vote.suspect.as_ref().is_some_and(|told| told.contains("mask")), "{level} {vote:#?}");
        }
    }
}

#[test]
fn one_processor_parts_from_itself_where_it_was_compiled_otherwise() {
    if !tools("one_processor_parts_from_itself_where_it_was_compiled_otherwise") {
        return;
    }
    for cpu in ["gfx90a", "gfx1100", "gfx1201"] {
        let with = |options: &[&str]| compiled(cpu, "-O3", options);
        let plain = with(&[]);
        let fused = parted("fused", &plain, &with(&["-ffp-contract=fast"]));
        assert_line(&fused, "out[i] = a * 1.1f", Some("one rounding"));
        let small = parted("small", &plain, &with(&["-cl-denorms-are-zero"]));
        assert_line(&small, "float tiny =", Some("flushes subnormal numbers"));
        let elsewhere = parted("elsewhere", &plain, &with(&["-DFROM=2"]));
        assert_line(&elsewhere, "int from =", None);
        let through = parted("through_lds", &plain, &with(&["-DFACTOR=3.0f"]));
        assert_line(&through, "float mine =", None);
        let steps = [&through.here, &through.there].into_iter().flatten();
        assert!(steps.into_iter().all(|step| step.work_item == 5), "{through:#?}");
    }
}

#[test]
fn executions_that_do_not_differ_have_no_place_where_they_part() {
    if !tools("executions_that_do_not_differ_have_no_place_where_they_part") {
        return;
    }
    let (here, there) = (compiled("gfx90a", "-O3", &[]), compiled("gfx1100", "-O3", &[]));
    let (mut first, mut second) = (Done::new(&here, "fused"), Done::new(&there, "fused"));
    let out = first.out;
    let found = parting(&mut first.rerun(&here), &mut second.rerun(&there), out).expect("a parting");
    assert!(found.here.is_none() && found.there.is_none() && found.suspect.is_none(), "{found:#?}");
}
