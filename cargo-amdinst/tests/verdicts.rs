//! What `run --report` says of kernels that have no one result: never that they are equal, nor that the
//! instrumentation is to blame. Of accesses that may be atomic, it compares what they leave, and says so.

mod support;

use std::path::Path;
use std::process::{Command, Output};

/// A kernel with one site that stores v7, which `BODY` may set, to the place of the work-item in its
/// workgroup.
fn kernel(body: &str) -> String {
    let code = "  s_load_dwordx2 s[8:9], s[0:1], 0x0
  BODY
  v_cmp_gt_u32 vcc, 10, v0
  s_and_saveexec_b64 s[4:5], vcc
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v7, s[8:9]
  s_endpgm";
    let arguments = "
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
...";
    support::KERNEL.replace("CODE", code).replace("BODY", body).replace("\n...", arguments)
}

/// Each workgroup writes its number to the same places: atomically, for all that is known.
const DOUBT: &str = "v_mov_b32 v7, s2";

/// Each workgroup writes its number to the same places, four at once, which no atomic does.
const RACE: &str = "v_mov_b32 v7, 5
  v_mov_b32 v2, s2
  v_mov_b32 v3, s2
  v_mov_b32 v4, s2
  v_mov_b32 v5, s2
  v_lshlrev_b32 v1, 4, v0
  s_waitcnt lgkmcnt(0)
  global_store_dwordx4 v1, v[2:5], s[8:9]";

fn report(directory: &Path, body: &str, options: &str) -> Output {
    support::assemble(&kernel(body), &directory.join("kernel.elf"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    command.current_dir(directory).env("NO_COLOR", "1").args([
        "run",
        "kernel.elf",
        "--block",
        "64",
        "--report",
    ]);
    command.args(options.split_whitespace()).output().unwrap()
}

#[test]
fn a_kernel_without_one_result_is_not_comparable() {
    if !support::tools("verdicts") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let report = |body, options| report(directory.path(), body, options);
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();

    let sound = report("v_mov_b32 v7, 5", "--grid 4 --arg buf:256");
    assert_eq!(sound.status.code(), Some(0), "{sound:?}");
    assert!(
        text(&sound).contains("memory after both kernels: equal; counters and the emulator's own: equal"),
        "{sound:?}"
    );

    let racing = report(RACE, "--grid 4 --arg buf:1024");
    assert_eq!(racing.status.code(), Some(9), "{racing:?}");
    assert!(!text(&racing).contains("equal"), "{racing:?}");
    for told in [
        "memory after both kernels: not comparable",
        "the original kernel races",
        "data race in global memory",
    ] {
        assert!(text(&racing).contains(told), "{racing:?}");
    }

    let doubtful = report(DOUBT, "--grid 4 --arg buf:256");
    assert_eq!(doubtful.status.code(), Some(0), "{doubtful:?}");
    assert!(text(&doubtful).contains("memory after both kernels: equal"), "{doubtful:?}");
    let warned = String::from_utf8_lossy(&doubtful.stderr);
    assert!(
        warned.contains("data race (unless both accesses are atomic) in global memory: write of 4 bytes"),
        "{warned}"
    );

    let unwritten = report("", "--grid 1 --arg buf:256");
    assert_eq!(unwritten.status.code(), Some(9), "{unwritten:?}");
    assert!(!text(&unwritten).contains("equal"), "{unwritten:?}");
    assert!(text(&unwritten).contains("depends on what nothing has written"), "{unwritten:?}");

    // A mutant that shifts v4 by s8, which nothing has written: zero for two dwords in their place.
    let mutant = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/by_chance.elf");
    let by_chance = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"))
        .env("NO_COLOR", "1")
        .args(["run", mutant, "--grid", "6", "--block", "64", "--report"])
        .args(["--arg", "buf:4096", "--arg", "iota:u32[1024]", "--arg", "u32:100"])
        .output()
        .unwrap();
    assert_eq!(by_chance.status.code(), Some(9), "{by_chance:?}");
    assert!(!text(&by_chance).contains("equal"), "{by_chance:?}");
    let told = "the original kernel computes with what nothing has written";
    assert!(text(&by_chance).contains(told), "{by_chance:?}");

    let json = report(RACE, "--grid 4 --arg buf:1024 --format json");
    let view: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert!(view["memory_equal"].is_null() && view["oracle_equal"].is_null(), "{view}");
    assert!(view["meaningless"].as_str().unwrap().contains("races"), "{view}");
    // What was counted is still told.
    assert_eq!(view["sites"][0]["executions"], 4);
    let json = report(DOUBT, "--grid 4 --arg buf:256 --format json");
    let view: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(
        (&view["memory_equal"], &view["doubts"][0]["kind"]),
        (&true.into(), &"atomicity-unknown".into())
    );
}

/// A large launch is looked through as well, though not all of it closely; the report says of how much.
#[test]
fn a_large_launch_that_races_is_not_equal() {
    if !support::tools("verdicts") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let report = |body, options| report(directory.path(), body, options);
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let large = "--grid 5000 --arg buf:256";

    // All workgroups write the same: no race that shows, and none that any report would tell.
    let sound = report("v_mov_b32 v7, 5", large);
    assert_eq!(sound.status.code(), Some(0), "{sound:?}");
    let told = text(&sound);
    assert!(told.contains("memory after both kernels: equal"), "{told}");
    // They access the same memory, so that they have to be looked at one by one.
    assert!(told.contains("looked for races in ") && told.contains(" of 5000 workgroups"), "{told}");

    // The last workgroup is the last in both.
    let racing = report(RACE, "--grid 5000 --arg buf:1024");
    assert_eq!(racing.status.code(), Some(9), "{racing:?}");
    let told = text(&racing);
    assert!(!told.contains("equal") && told.contains("the original kernel races"), "{told}");

    // What nothing has written, in every workgroup.
    let unwritten = report("", large);
    assert_eq!(unwritten.status.code(), Some(9), "{unwritten:?}");
    assert!(text(&unwritten).contains("depends on what nothing has written"), "{unwritten:?}");

    let json = report("v_mov_b32 v7, 5", &format!("{large} --format json"));
    let view: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((&view["memory_equal"], &view["sampled"][0]["of"]), (&true.into(), &5000.into()), "{view}");
}

/// How often a loop goes round that waits for another workgroup depends on how many instructions all of them
/// have.
#[test]
fn workgroups_that_wait_are_compared_with_their_own_run() {
    if !support::tools("verdicts") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let body = "v_mov_b32 v7, 5
  v_mov_b32 v5, 0
  v_mov_b32 v6, 1
  s_waitcnt lgkmcnt(0)
  s_cmp_eq_u32 s2, 3
  s_cbranch_scc1 .Lset
.Lask:
  v_mov_b32 v2, 0
  global_atomic_or v3, v5, v2, s[8:9] offset:256 glc
  v_cmp_gt_u32 vcc, 10, v0
  s_and_saveexec_b64 s[4:5], vcc
  v_add_u32 v2, v2, v6
  s_mov_b64 exec, s[4:5]
  s_waitcnt vmcnt(0)
  v_cmp_eq_u32 vcc, 0, v3
  s_cbranch_vccnz .Lask
  s_branch .Lgo
.Lset:
  global_atomic_add v5, v6, s[8:9] offset:256
.Lgo:";
    for home in ["register", "lds", "global"] {
        let options = format!("--grid 4 --arg buf:512 --counters {home}");
        let output = report(directory.path(), body, &options);
        let told = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{home}: {output:?}");
        assert!(told.contains("memory after both kernels: equal; "), "{told}");
        let own = "counters and the emulator's own: equal; workgroups wait for others: of the instrumented kernel's own run";
        assert!(told.contains(own), "{told}");
    }
}

/// Wave 0 hands numbers on to wave 1 in LDS: by a counter that it adds to with release, and that wave 1 reads
/// with acquire.
const HANDED_ON: &str = "\
kernel void hand_on(global const int *in, global int *out) {
    local int data[64];
    local int ready;
    int i = __builtin_amdgcn_workitem_id_x();
    if (i == 0) ready = 0;
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, \"workgroup\");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, \"workgroup\");
    if (i < 64) {
        data[i] = in[i] * 3;
        __scoped_atomic_fetch_add(&ready, 1, __ATOMIC_RELEASE, __MEMORY_SCOPE_WRKGRP);
    } else {
        while (__scoped_atomic_load_n(&ready, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_WRKGRP) != 64) __builtin_amdgcn_s_sleep(1);
        out[i - 64] = data[i - 64];
    }
}
";

/// Whether these accesses are atomic, nothing tells: the kernel is compared, and the doubt is told.
#[test]
fn what_may_be_a_race_is_compared_and_told() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("hand_on.cl");
    std::fs::write(&source, HANDED_ON).unwrap();
    if !support::compile(&source, &directory.path().join("hand_on.elf")) {
        return;
    }
    let words =
        "run hand_on.elf --kernel hand_on --grid 1 --block 128 --arg iota:i32[64] --arg buf:256 --report";
    let output = support::amdinst(directory.path(), words);
    let (told, warned) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(
        told.contains("memory after both kernels: equal; counters and the emulator's own: equal"),
        "{told}"
    );
    assert!(warned.contains("data race (unless both accesses are atomic) in LDS"), "{warned}");

    // A line is told once, however often the compiler has its accesses.
    let last = "kernel void last(global volatile int *a) {\n\
                for (int i = 0; i < 8; i++) a[0] = a[0] * 3 + (int)__builtin_amdgcn_workgroup_id_x();\n\
                if (__builtin_amdgcn_workitem_id_x() & 1) a[1] = 1;\n}\n";
    std::fs::write(&source, last).unwrap();
    assert!(support::compile(&source, &directory.path().join("hand_on.elf")));
    let output =
        support::amdinst(directory.path(), "run hand_on.elf --grid 4 --block 64 --arg buf:256 --report");
    let warned = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(warned.matches("data race (unless both accesses are atomic)").count(), 1, "{warned}");
    assert!(warned.contains("other pairs of instructions of these lines"), "{warned}");

    // Said on both, for whoever sees one of them alone.
    let racing = report(directory.path(), RACE, "--grid 4 --arg buf:1024");
    assert!(
        String::from_utf8_lossy(&racing.stderr).contains("error: the comparison means nothing"),
        "{racing:?}"
    );
}
