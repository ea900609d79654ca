//! What a code object costs grows no faster than its size, whatever the shape of its code.
//!
//! Work is counted in bytes that are asked of the allocator, on all that commands do with a code object:
//! read, find and plan its sites, list and rewrite it. Data flows that copy what they know, or start again,
//! ask for more than their input is.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write as _;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use amdgpu_object::CodeObject;
use amdinst_core::instrument::{Options, apply, plan};
use amdinst_core::listing::Listing;

/// Counts the bytes that are asked for.
struct Counting;

static ASKED: AtomicU64 = AtomicU64::new(0);

// SAFETY: `System` does all of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ASKED.fetch_add(layout.size() as u64, Relaxed);
        // SAFETY: the caller keeps to what is asked of it.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// `if`s in each other, so deep that the masks of most are put by in lanes.
fn nested(depth: usize) -> String {
    let mut body = String::new();
    let (vgpr, lane) = (|at: usize| 8 + at / 32, |at: usize| at % 32 * 2);
    for at in 0..depth {
        let (vgpr, lane) = (vgpr(at), lane(at));
        _ = write!(
            body,
            "v_cmp_gt_u32_e32 vcc, {at}, v0\ns_and_saveexec_b64 s[8:9], vcc\n\
             v_writelane_b32 v{vgpr}, s8, {lane}\nv_writelane_b32 v{vgpr}, s9, {}\ns_cbranch_execz end{at}\n",
            lane + 1
        );
    }
    for at in (0..depth).rev() {
        let (vgpr, lane) = (vgpr(at), lane(at));
        _ = write!(
            body,
            "end{at}:\nv_readlane_b32 s8, v{vgpr}, {lane}\nv_readlane_b32 s9, v{vgpr}, {}\n\
             s_or_b64 exec, exec, s[8:9]\n",
            lane + 1
        );
    }
    body + "s_endpgm\n"
}

/// Calls one after the other of a function whose address was made before: each tells where the next leads.
fn called(calls: usize) -> String {
    let mut body = "s_getpc_b64 s[8:9]\ns_add_u32 s8, s8, function@rel32@lo+4\n\
                    s_addc_u32 s9, s9, function@rel32@hi+12\n"
        .to_owned();
    for at in 0..calls {
        _ = write!(
            body,
            "v_cmp_gt_u32_e32 vcc, {at}, v0\ns_and_saveexec_b64 s[10:11], vcc\ns_cbranch_execz around{at}\n\
             s_swappc_b64 s[30:31], s[8:9]\naround{at}:\ns_or_b64 exec, exec, s[10:11]\n"
        );
    }
    body + "s_endpgm\n.type function,@function\nfunction:\nv_mov_b32_e32 v1, 0\ns_setpc_b64 s[30:31]\n\
            .size function, .-function\n"
}

/// A code object with one kernel; `None`, and loudly, if LLVM is not installed.
fn assemble(body: &str) -> Option<Vec<u8>> {
    let source = format!(
        ".amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"
.text
.globl test
.p2align 8
.type test,@function
test:
{body}
.size test, .-test
.rodata
.p2align 6
.amdhsa_kernel test
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_next_free_vgpr 128
    .amdhsa_next_free_sgpr 40
    .amdhsa_accum_offset 128
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx90a
amdhsa.kernels:
  - .name: test
    .symbol: test.kd
    .kernarg_segment_size: 0
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 46
    .vgpr_count: 128
    .agpr_count: 0
    .max_flat_workgroup_size: 256
...
.end_amdgpu_metadata
"
    );
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("kernel.s"), source).expect("writing");
    let tools: [(&str, &[&str]); 2] = [
        (
            "llvm-mc-22",
            &["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj", "-o", "kernel.o", "kernel.s"],
        ),
        ("ld.lld-22", &["-shared", "-o", "kernel.elf", "kernel.o"]),
    ];
    for (tool, arguments) in tools {
        let Ok(status) = Command::new(tool).args(arguments).current_dir(&directory).status() else {
            let required = std::env::var_os("AMDINST_REQUIRE_TOOLS").is_some_and(|value| value == "1");
            assert!(!required, "{tool} is not installed");
            eprintln!("SKIPPED: {tool} is not installed (apt-get install llvm-22 lld-22)");
            return None;
        };
        assert!(status.success(), "{tool} {arguments:?}");
    }
    Some(std::fs::read(path("kernel.elf")).expect("reading"))
}

/// The bytes that each step of work on a code object asks for.
fn work(bytes: Vec<u8>) -> [(&'static str, u64); 4] {
    let mut before = ASKED.load(Relaxed);
    let mut asked = |what| {
        let now = ASKED.load(Relaxed);
        (what, now - std::mem::replace(&mut before, now))
    };
    let object = CodeObject::parse(bytes).expect("a code object");
    let read = asked("read");
    let planned = plan(&object, &Options::default()).expect("a plan");
    assert!(planned.kernels()[0].refusals.is_empty(), "{:?}", planned.kernels()[0].refusals);
    let plan = asked("plan");
    Listing::new(&object).write(&mut std::io::sink()).expect("a listing");
    let list = asked("list");
    apply(&object, planned).expect("an instrumented code object");
    [read, plan, list, asked("write")]
}

/// One test alone: the allocator is the whole program's.
#[test]
fn no_shape_of_code_costs_more_than_its_size() {
    let sizes = [250, 1000];
    for (shape, bodies) in [("nested", sizes.map(nested)), ("called", sizes.map(called))] {
        let [Some(small), Some(large)] = bodies.map(|body| assemble(&body)) else { return };
        let times = large.len() as f64 / small.len() as f64;
        for ((what, small), (_, large)) in work(small).into_iter().zip(work(large)) {
            let grown = large as f64 / small as f64;
            println!("{shape}, {what}: {small} bytes, {large} bytes: {grown:.1} times, of {times:.1}");
            assert!(grown < 1.5 * times, "{shape}, {what}: {small} bytes, then {large} bytes of memory");
        }
    }
}
