//! Backwards from a value.

use amdinst_explain::origin::why;
use amdinst_format::report::why::{OriginStep, ValueOrigin};

use crate::launched::Done;
use crate::support::{compile_with, tools};

const SOURCE: &str = include_str!("sources/why.cl");

/// Where an element of the result comes from.
fn told(kernel: &str, cpu: &str, level: &str, element: u64) -> ValueOrigin {
    let object = compile_with(SOURCE, cpu, level, &[]);
    let mut done = Done::new(&object, kernel);
    let dword = done.out + 4 * element;
    let value = done.device.u32s(dword, 1)[0];
    let mut rerun = done.rerun(&object);
    why(&mut rerun, format!("out[{element}]"), dword, value).unwrap_or_else(|lost| panic!("{lost}"))
}

/// The line of the source that a step is on.
fn line(step: &OriginStep) -> &'static str {
    let number = step.made.location.line.expect("a line") as usize;
    SOURCE.lines().nth(number - 1).expect("a line of the source").trim()
}

#[test]
fn a_nan_leads_back_to_the_product_that_made_it() {
    if !tools("a_nan_leads_back_to_the_product_that_made_it") {
        return;
    }
    for cpu in ["gfx90a", "gfx1100", "gfx1201"] {
        for level in ["-O0", "-O3"] {
            let origin = told("overflow", cpu, level, 3);
            assert_eq!(origin.value, "NaN", "{cpu} {level}");
            let (first, last) = (&origin.steps[0], origin.steps.last().expect("steps"));
            assert_eq!((line(first), first.made.work_item), ("out[i] = total + 1.0f;", 3), "{cpu} {level}");
            // The product of an infinity and zero, in the work-item that has stored it.
            let product = origin.steps.iter().find(|step| line(step) == "float product = large * small;");
            let product = product.unwrap_or_else(|| panic!("{cpu} {level}: {origin:#?}"));
            assert_eq!((product.made.work_item, product.made.value.as_str()), (40, "NaN"), "{cpu} {level}");
            assert_eq!(
                (line(last), last.made.value.as_str()),
                ("float large = x[i] * 0x1p124f;", "inf"),
                "{origin:#?}"
            );
            assert!(origin.end.starts_with("there it was made"), "{}", origin.end);
            let text = origin.human();
            assert!(text.starts_with("out[3] is NaN\n  in work-item 3 of workgroup 0,0,0:\n"), "{text}");
        }
    }
}

#[test]
fn a_value_leads_through_lds_to_where_it_was_loaded() {
    if !tools("a_value_leads_through_lds_to_where_it_was_loaded") {
        return;
    }
    for cpu in ["gfx90a", "gfx1100"] {
        for level in ["-O0", "-O3"] {
            let origin = told("opposite", cpu, level, 3);
            // Element 60, three times, and a half.
            assert_eq!(origin.value, "110.0", "{cpu} {level}");
            let lines: Vec<_> = origin.steps.iter().map(line).collect();
            for expected in
                ["out[i] = theirs + 0.5f;", "float theirs = tile[63 - i];", "float mine = x[i] * 3.0f;"]
            {
                assert!(lines.contains(&expected), "{cpu} {level}: {lines:?}");
            }
            let loaded =
                origin.steps.iter().filter_map(|step| Some((step.loaded.as_deref()?, step.made.work_item)));
            assert!(loaded.clone().any(|(from, item)| (from, item) == ("x+0xf0", 60)), "{cpu}: {origin:#?}");
        }
    }
    let unwritten = told("opposite", "gfx90a", "-O3", 62);
    assert_eq!((unwritten.steps.len(), unwritten.end.as_str()), (0, "nothing in this launch has written it"));
}
