//! Traces: the same instructions, counts, values and memory as of a launch that is not traced.

mod support;

use std::collections::HashMap;

use amdgpu_isa::Reg;
use amdinst_emu::trace::{Keep, Trace, TraceError, Watch, WaveId, WrittenPlace, last_write, trace};
use amdinst_emu::{Config, FaultKind, Launch, Machine, MemorySpace};

use support::{Device, LEVELS, compile, tools};

/// Divergent loops, LDS with barriers, an atomic whose result depends on the order, calls at `-O0`.
const SOURCE: &str = include_str!("sources/trace.cl");

const GRID: u32 = 3;
const BLOCK: u32 = 128;
const WAVES: u64 = 6;
const N: u32 = 300;

/// A machine with the arguments, and the launch.
fn launch(source: &str, level: &str, config: Config) -> (Device, Launch, u64) {
    let mut device = Device::with(&compile(source, "gfx90a", level), config);
    let out = device.buffer("out", &vec![0u32; N as usize]);
    let counter = device.buffer("counter", &[0u32]);
    let mut kernarg = [out.to_le_bytes(), counter.to_le_bytes()].concat();
    kernarg.extend_from_slice(&N.to_le_bytes());
    let launch = Launch {
        grid: [GRID, 1, 1],
        block: [BLOCK, 1, 1],
        kernarg,
        record_steps: true,
        ..Launch::new("work")
    };
    (device, launch, out)
}

fn traced(machine: &mut Machine, device: &Device, launch: &Launch, watch: &Watch) -> Trace {
    trace(machine, &device.program, launch, watch).expect("a trace")
}

fn all_of(wave: u64, lane: u8) -> Watch {
    Watch { wave: WaveId::Index(wave), lane, limit: usize::MAX, keep: Keep::First }
}

/// What a read gives is what was last written: nothing changes that the trace does not tell.
fn check_values(trace: &Trace) {
    let mut known: HashMap<Reg, u32> = HashMap::new();
    let mut exec = trace.steps[0].exec_before;
    for step in &trace.steps {
        assert_eq!(step.exec_before, exec, "{:#x} {}", step.pc, step.text);
        exec = step.exec;
        for &(register, value) in &step.reads {
            let last = *known.entry(register).or_insert(value);
            assert_eq!(last, value, "{register} before {:#x} {}", step.pc, step.text);
        }
        known.extend(step.writes.iter().copied());
    }
    assert!(known.len() > 10);
}

#[test]
fn a_trace_is_the_launch_itself() {
    if !tools("a_trace_is_the_launch_itself") {
        return;
    }
    for &level in LEVELS {
        for fast_layer in [true, false] {
            let mut config = Config::default();
            config.fast_layer = fast_layer;
            // So that waves of a workgroup take turns within a run, too.
            config.time_slice = 37;
            let (mut device, launch, out) = launch(SOURCE, level, config);
            let fresh = device.machine.clone();
            let execution = device.machine.launch(&device.program, &launch).expect("work");
            let expected = device.u32s(out, N as usize);
            for wave in 0..WAVES {
                let mut machine = fresh.clone();
                let trace = traced(&mut machine, &device, &launch, &all_of(wave, 5));
                assert_eq!(trace.fault, None);
                assert_eq!(
                    (trace.index, trace.workgroup, trace.wave),
                    (wave, [wave as u32 / 2, 0, 0], wave as u32 % 2)
                );
                assert_eq!(trace.executed, trace.steps.len() as u64);
                check_values(&trace);
                // The emulator's own count of the wave, made in another way.
                let mut counts: HashMap<u64, (u64, u64)> = HashMap::new();
                for step in &trace.steps {
                    let (executions, lanes) = counts.entry(step.pc).or_default();
                    *executions += 1;
                    *lanes += u64::from(step.exec_before.count_ones());
                }
                let own = execution.steps.iter().filter(|record| record.wave == wave);
                let own = own.map(|record| (record.pc, (record.executions, record.lanes))).collect();
                assert_eq!(counts, own, "{level}, wave {wave}");
                if wave == WAVES - 1 {
                    let mut bytes = vec![0; 4 * N as usize];
                    machine.read(out, &mut bytes).expect("reading");
                    assert_eq!(bytes, support::bytes_of(&expected), "{level}");
                }
            }
        }
    }
}

#[test]
fn the_store_of_a_lane_is_what_is_in_memory() {
    if !tools("the_store_of_a_lane_is_what_is_in_memory") {
        return;
    }
    let (mut device, launch, out) = launch(SOURCE, "-O2", Config::default());
    let mut machine = device.machine.clone();
    device.machine.launch(&device.program, &launch).expect("work");
    let expected = device.u32s(out, N as usize);
    // Work-item 5 of the second wave of the second workgroup.
    let trace =
        traced(&mut machine, &device, &launch, &Watch { wave: WaveId::Of([1, 0, 0], 1), ..all_of(0, 5) });
    let item = 128 + 64 + 5;
    let stores = trace.steps.iter().filter_map(|step| {
        let access = step.access.as_ref().filter(|_| step.text.starts_with("global_store"))?;
        Some((access, &step.reads))
    });
    let [(access, reads)] = &stores.collect::<Vec<_>>()[..] else { panic!("one store") };
    assert_eq!(access.address, out + 4 * item);
    assert_eq!(access.inside, Some(("out".to_owned(), 4 * item)));
    assert!(reads.iter().any(|&(_, value)| value == expected[item as usize]), "{reads:?}");
    // LDS is told as offsets into it.
    let in_lds = trace
        .steps
        .iter()
        .filter_map(|step| step.access.as_ref())
        .filter(|access| access.space == MemorySpace::Lds);
    // Its own element, and the sum.
    assert!(in_lds.clone().count() >= 2);
    assert!(in_lds.into_iter().all(|access| access.address < 512 && access.inside.is_none()));
}

#[test]
fn a_limit_keeps_the_first_or_the_last() {
    if !tools("a_limit_keeps_the_first_or_the_last") {
        return;
    }
    let (device, launch, _) = launch(SOURCE, "-O1", Config::default());
    let with = |limit, keep| {
        let mut machine = device.machine.clone();
        traced(&mut machine, &device, &launch, &Watch { limit, keep, ..all_of(1, 0) })
    };
    let whole = with(usize::MAX, Keep::First);
    let count = whole.steps.len();
    assert!(count > 100);
    assert_eq!(with(usize::MAX, Keep::Last), whole);
    let first = with(20, Keep::First);
    assert_eq!((&first.steps[..], first.executed), (&whole.steps[..20], whole.executed));
    let last = with(20, Keep::Last);
    assert_eq!((&last.steps[..], last.executed), (&whole.steps[count - 20..], whole.executed));
    assert_eq!(with(0, Keep::Last).executed, whole.executed);
    let before = with(20, Keep::Before(50));
    assert_eq!((&before.steps[..], before.executed), (&whole.steps[30..50], whole.executed));
    assert_eq!(with(20, Keep::Before(0)).steps, []);
}

/// Each element has the value of the store that is told to be its last, and the sum in LDS is that of the
/// work-item that adds last.
#[test]
fn the_last_write_of_a_place_is_the_store_that_its_value_is_of() {
    if !tools("the_last_write_of_a_place_is_the_store_that_its_value_is_of") {
        return;
    }
    for level in ["-O0", "-O3"] {
        let (device, launch, out) = launch(SOURCE, level, Config::default());
        let written = |place, before| {
            let mut machine = device.machine.clone();
            last_write(&mut machine, &device.program, &launch, place, before).expect("a launch")
        };
        for item in [0, 5, 64, 127, 128, 299] {
            let writer = written(WrittenPlace::Device(out + 4 * item + 1), None).expect("a store");
            assert_eq!((writer.wave, u64::from(writer.lane)), (item / 64, item % 64), "{level}");
            let mut machine = device.machine.clone();
            let watch =
                Watch { keep: Keep::Before(writer.number + 1), limit: 1, ..all_of(writer.wave, writer.lane) };
            let trace = traced(&mut machine, &device, &launch, &watch);
            let access = trace.steps[0].access.as_ref().expect("an access");
            assert_eq!((access.address, access.bytes), (out + 4 * item, 4), "{level}");
            assert_eq!(written(WrittenPlace::Device(out + 4 * item), Some(writer)), None, "{level}");
        }
        // The sum of a workgroup stands where the compiler has put the only array in LDS.
        let sum = written(WrittenPlace::Lds { group: 1, offset: 0 }, None).expect("a store");
        assert_eq!((sum.wave, sum.lane), (2, 0), "{level}");
        let before = written(WrittenPlace::Lds { group: 1, offset: 0 }, Some(sum)).expect("another store");
        assert!(before.wave == 2 && before.number < sum.number, "{level}");
        assert_eq!(written(WrittenPlace::Lds { group: 1, offset: 4096 }, None), None);
    }
}

#[test]
fn a_fault_ends_a_trace() {
    if !tools("a_fault_ends_a_trace") {
        return;
    }
    // One element too few.
    let (mut device, mut launch, out) = launch(SOURCE, "-O2", Config::default());
    launch.kernarg[16..20].copy_from_slice(&(N + 1).to_le_bytes());
    let fault = device.machine.launch(&device.program, &launch).expect_err("out of bounds");
    let watch = Watch { keep: Keep::Last, limit: 3, wave: WaveId::Of(fault.workgroup, fault.wave), lane: 44 };
    let mut machine = device.machine.clone();
    let trace = trace(&mut machine, &device.program, &launch, &watch).expect("a trace");
    assert_eq!((&trace.fault.as_deref(), fault.lane), (&Some(&fault), Some(44)));
    let last = trace.steps.last().expect("steps");
    assert_eq!((Some(last.pc), &*last.text), (fault.pc, fault.instruction.as_str()));
    assert_eq!(last.access.as_ref().expect("an access").address, out + 4 * u64::from(N));
    assert!(last.writes.is_empty());
}

#[test]
fn what_is_not_there_is_told() {
    if !tools("what_is_not_there_is_told") {
        return;
    }
    let (device, launch, _) = launch(SOURCE, "-O2", Config::default());
    let with = |wave, lane| {
        let mut machine = device.machine.clone();
        trace(&mut machine, &device.program, &launch, &Watch { wave, lane, ..all_of(0, 0) })
    };
    let told = |wave, lane| with(wave, lane).unwrap_err().to_string();
    assert_eq!(told(WaveId::Index(6), 0), "there is no wave 6 to trace; the launch has 6 waves, from 0 on");
    assert!(told(WaveId::Of([3, 0, 0], 0), 0).contains("workgroup 3,0,0"));
    assert!(told(WaveId::Of([0, 0, 0], 2), 0).contains("a workgroup has 2 waves"));
    assert_eq!(told(WaveId::Index(0), 64), "there is no lane 64 to trace; a wave has 64 lanes, from 0 on");
    let mut machine = device.machine.clone();
    let error = trace(&mut machine, &device.program, &Launch::new("nosuch"), &all_of(0, 0)).unwrap_err();
    assert!(matches!(error, TraceError::Launch(fault) if matches!(fault.kind, FaultKind::BadDispatch(_))));
}
