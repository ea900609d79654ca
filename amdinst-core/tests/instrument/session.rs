//! One session for many code objects gives what each of them alone gives.

use amdgpu_object::CodeObject;
use amdinst_core::instrument::{
    Abi, Counters, InstrumentError, Level, Options, Plan, Probe, Session, SiteSelector, apply, plan,
};

use super::{SOURCE, compile_source, tools};

/// Kernels that stand before the others, so that these have other addresses and other numbers.
const BEFORE: &str = "
__attribute__((amdgpu_kernel)) void before(int *p, int n) { if (__builtin_amdgcn_workitem_id_x() < n) p[n] = n; }
";

/// What comes of a plan: the code object and its probe map, or why there is none.
fn outcome(object: &CodeObject, plan: Result<Plan, InstrumentError>) -> (Vec<u8>, String) {
    match plan.and_then(|plan| apply(object, plan)) {
        Ok(instrumented) => {
            let map = instrumented.map.to_json().expect("a probe map is JSON");
            (instrumented.bytes.to_vec(), String::from_utf8(map).expect("JSON is UTF-8"))
        }
        Err(error) => (Vec::new(), error.to_string()),
    }
}

fn ways() -> Vec<Options> {
    let counters = [Counters::Auto, Counters::Register, Counters::Lds, Counters::Global];
    let mut ways: Vec<Options> =
        counters.into_iter().map(|counters| Options { counters, ..Options::default() }).collect();
    ways.extend([Probe::Blocks, Probe::Time].map(|probe| Options { probe, ..Options::default() }));
    ways.push(Options { level: Level::Basic, ..Options::default() });
    ways.push(Options { abi: Abi::Global, ..Options::default() });
    ways.push(Options { spare_sgprs: Some(0), ..Options::default() });
    ways.push(Options { spare_vgprs: Some(1), ..Options::default() });
    let line = SiteSelector::Lines("kernels.c:14".parse().expect("lines"));
    ways.push(Options { only: vec![line], ..Options::default() });
    ways.push(Options { kernels: Some(vec!["waits".to_owned()]), ..Options::default() });
    ways
}

#[test]
fn a_session_plans_as_if_each_code_object_were_alone() {
    if !tools("a_session_plans_as_if_each_code_object_were_alone") {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let moved = format!("{BEFORE}{SOURCE}");
    // The same code with other descriptors and other metadata.
    let narrow = SOURCE.replace("((amdgpu_kernel))", "((amdgpu_kernel, amdgpu_flat_work_group_size(1, 64)))");
    let roomy = SOURCE.replace("((amdgpu_kernel))", "((amdgpu_kernel, amdgpu_num_vgpr(96)))");
    // Other code with the same masks.
    let below = SOURCE.replace(" > ", " < ");
    let mut objects = Vec::new();
    for cpu in ["gfx90a", "gfx90a:xnack+", "gfx90a:xnack-", "gfx906", "gfx942"] {
        for source in [SOURCE, &moved, &narrow, &roomy, &below] {
            for level in ["-O2", "-O0"] {
                objects.push(compile_source(directory.path(), source, cpu, &["-g", level]));
            }
        }
    }
    let mut session = Session::default();
    let mut instrumented = 0;
    for (number, way) in ways().iter().enumerate() {
        for object in &objects {
            let alone = outcome(object, plan(object, way));
            let (bytes, text) = outcome(object, session.plan(object, way));
            assert_eq!(text, alone.1, "way {number}, {}", object.target);
            assert!(bytes == alone.0, "way {number}, {}: other bytes", object.target);
            instrumented += usize::from(!bytes.is_empty());
        }
    }
    assert!(instrumented > ways().len() * objects.len() / 2, "{instrumented}");
}
