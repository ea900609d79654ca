//! Packets and code in the host's memory, as a runtime's queues have them: the same kernels, found by their
//! descriptors alone, give what launches by name give.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use amdgpu_isa::Arch;
use amdgpu_object::CodeObject;
use amdinst_emu::{Config, Dispatch, FaultKind, Machine, MemoryError, Resident};

use support::tools;

/// Memory of the host at its own address in the machine.
struct Host(Arc<Vec<AtomicU64>>);

impl Host {
    fn new(machine: &mut Machine, bytes: usize, label: &str) -> Self {
        let words: Arc<Vec<AtomicU64>> =
            Arc::new((0..bytes.div_ceil(8)).map(|_| AtomicU64::new(0)).collect());
        let host = Self(words);
        // SAFETY: the words live as long as the machine keeps the `Arc`, and are atomics.
        unsafe { machine.map_host(host.address(), host.start(), bytes as u64, label, host.0.clone()) }
            .expect("mapping");
        host
    }

    fn start(&self) -> *const u8 {
        self.0.as_ptr().cast()
    }

    fn address(&self) -> u64 {
        self.start().addr() as u64
    }

    fn set(&self, index: usize, value: u64) {
        self.0[index].store(value, Relaxed);
    }

    fn u32s(&self, count: usize) -> Vec<u32> {
        self.0
            .iter()
            .flat_map(|word| [word.load(Relaxed) as u32, (word.load(Relaxed) >> 32) as u32])
            .take(count)
            .collect()
    }
}

/// A code object's segments in memory at their distances, and the machine that sees them.
struct Loaded {
    machine: Machine,
    image: Host,
    low: u64,
    object: CodeObject,
}

impl Loaded {
    fn new(object: CodeObject) -> Self {
        let mut machine = Machine::new(object.target.arch, Config::default());
        let low = object.segments.iter().map(|segment| segment.address).min().unwrap() & !0xfff;
        let high = object.segments.iter().map(|segment| segment.address + segment.size).max().unwrap();
        let image = Host::new(&mut machine, (high - low) as usize, "image");
        for segment in &object.segments {
            let bytes = &object.bytes[segment.range.clone()];
            machine.write(image.address() + segment.address - low, bytes).unwrap();
        }
        Self { machine, image, low, object }
    }

    fn resident<'a>(&self, name: &'a str) -> Resident<'a> {
        let kernel = self.object.kernels.iter().find(|kernel| kernel.name == name).unwrap();
        let bias = self.image.address() - self.low;
        Resident {
            descriptor: bias + kernel.descriptor_address,
            name,
            bias,
            code: None,
            elsewhere: &Vec::new,
            is_empty: false,
        }
    }
}

/// The words of a dispatch packet.
fn packet(block: [u64; 3], items: [u64; 3], lds: u64, kernel: u64, kernarg: u64) -> [u64; 8] {
    let setup = 2 | 3 << 16 | block[0] << 32 | block[1] << 48;
    [setup, block[2] | items[0] << 32, items[1] | items[2] << 32, lds << 32, kernel, kernarg, 0, 0]
}

const SOURCE: &str = include_str!("sources/packet.cl");

/// KERNARG_PRELOAD_SPEC_OFFSET may put what is preloaded anywhere in the kernarg segment (AMDGPU user guide,
/// "Preloaded Kernel Arguments").
#[test]
fn preloaded_arguments_are_taken_from_their_offset() {
    if !tools("preloaded_arguments") {
        return;
    }
    let source = "kernel void fill(global uint *out) { out[__builtin_amdgcn_workitem_id_x()] = 7; }";
    for cpu in ["gfx90a", "gfx942"] {
        let options = ["-mllvm", "-amdgpu-kernarg-preload-count=1"];
        let mut loaded = Loaded::new(support::compile_with(source, cpu, "-O2", &options));
        let out = Host::new(&mut loaded.machine, 256, "out");
        let memory = Host::new(&mut loaded.machine, 512, "packet");
        let resident = loaded.resident("fill");
        // The kernarg segment is from byte 128 on: the argument is dwords 30 and 31 of it.
        for (offset, word) in [(0u16, 16), (30, 31)] {
            memory.set(16, 0);
            memory.set(word, out.address());
            loaded.machine.write(resident.descriptor + 58, &(2 | offset << 7).to_le_bytes()).unwrap();
            let words = packet([64, 1, 1], [64, 1, 1], 0, resident.descriptor, memory.address() + 128);
            words.iter().enumerate().for_each(|(index, word)| memory.set(index, *word));
            out.set(0, 0);
            let program = loaded.machine.program_at(&resident).expect("decoding");
            let dispatch =
                Dispatch { packet: memory.address(), queue: memory.address() + 256, ..Dispatch::default() };
            loaded
                .machine
                .dispatch(&program, &dispatch)
                .unwrap_or_else(|fault| panic!("{cpu}, dword {offset}: {fault}"));
            assert_eq!(out.u32s(64), [7; 64], "{cpu}, dword {offset}");
        }
    }
}

/// A grid of 150 x 7 work-items in workgroups of 64 x 5: each work-item runs once, and workgroups at the ends
/// have only the work-items that are left.
#[test]
fn partial_workgroups_run_the_work_items_that_there_are() {
    if !tools("partial_workgroups") {
        return;
    }
    for cpu in ["gfx900", "gfx90a"] {
        let object = support::compile_with(SOURCE, cpu, "-O2", &["-mcode-object-version=4"]);
        let mut loaded = Loaded::new(object);
        let (width, height) = (150u64, 7u64);
        let out = Host::new(&mut loaded.machine, (width * height * 4) as usize, "out");
        let memory = Host::new(&mut loaded.machine, 512, "packet");
        memory.set(16, out.address());
        memory.set(17, width | height << 32);
        let resident = loaded.resident("where");
        let words = packet([64, 5, 1], [width, height, 1], 64, resident.descriptor, memory.address() + 128);
        words.iter().enumerate().for_each(|(index, word)| memory.set(index, *word));
        let program = loaded.machine.program_at(&resident).expect("decoding");
        let dispatch =
            Dispatch { packet: memory.address(), queue: memory.address() + 256, ..Dispatch::default() };
        let execution =
            loaded.machine.dispatch(&program, &dispatch).unwrap_or_else(|fault| panic!("{fault}"));
        // Three workgroups in x (64, 64, 22 work-items), two in y (5, 2): 5 + 5 + 2 waves, then 2 + 2 + 1.
        assert_eq!(execution.waves, 17, "{cpu}");
        let found = out.u32s((width * height) as usize);
        for (index, found) in found.into_iter().enumerate() {
            let (x, y) = (index as u32 % 150, index as u32 / 150);
            let size = if x < 128 { 64 } else { 22 } * if y < 5 { 5 } else { 2 };
            assert_eq!(found, size << 16 | y << 8 | x, "{cpu}: work-item ({x}, {y})");
        }
    }
}

#[test]
fn faults_name_the_code_objects_address_and_the_hosts_memory() {
    if !tools("resident_faults") {
        return;
    }
    let mut loaded = Loaded::new(support::compile(SOURCE, "gfx90a", "-O2"));
    let out = Host::new(&mut loaded.machine, 4000, "out");
    let memory = Host::new(&mut loaded.machine, 512, "packet");
    memory.set(16, out.address());
    let resident = loaded.resident("stray");
    let words = packet([1, 1, 1], [1, 1, 1], 0, resident.descriptor, memory.address() + 128);
    words.iter().enumerate().for_each(|(index, word)| memory.set(index, *word));
    let program = loaded.machine.program_at(&resident).expect("decoding");
    let dispatch = Dispatch { packet: memory.address(), ..Dispatch::default() };
    let fault = loaded.machine.dispatch(&program, &dispatch).unwrap_err();
    let FaultKind::OutOfBounds { address, nearest, .. } = &fault.kind else { panic!("{fault}") };
    assert_eq!(*address, out.address() + 4000);
    assert_eq!(nearest.as_ref().map(|near| near.label.as_str()), Some("out"));
    let kernel = loaded.object.kernels.iter().find(|kernel| kernel.name == "stray").unwrap();
    assert!(kernel.code.contains(&fault.pc.unwrap()), "{fault}");

    // Other code at the same place is noticed.
    assert!(loaded.machine.is_current(&program));
    loaded.machine.write(loaded.image.address() - loaded.low + kernel.code.start, &[0; 4]).unwrap();
    assert!(!loaded.machine.is_current(&program));

    // What a packet may not say.
    for (words, message) in [
        (packet([0, 1, 1], [1, 1, 1], 0, resident.descriptor, 0), "a dimension is zero"),
        (packet([1025, 1, 1], [1, 1, 1], 0, resident.descriptor, 0), "1025 work-items a workgroup"),
        (packet([1, 1, 1], [1, 1, 1], 65_537, resident.descriptor, 0), "65537 bytes of LDS"),
    ] {
        words.iter().enumerate().for_each(|(index, word)| memory.set(index, *word));
        let fault = loaded.machine.dispatch(&program, &dispatch).unwrap_err();
        assert!(fault.to_string().contains(message), "{fault}");
    }
}

/// An endless kernel ends when that is asked for, where it is then; one that is stopped at once does nothing.
#[test]
fn a_launch_is_stopped_between_slices() {
    if !tools("stopped") {
        return;
    }
    let mut loaded = Loaded::new(support::compile(SOURCE, "gfx90a", "-O2"));
    let out = Host::new(&mut loaded.machine, 4000, "out");
    let memory = Host::new(&mut loaded.machine, 512, "packet");
    memory.set(16, out.address());
    let resident = loaded.resident("endless");
    let words = packet([64, 1, 1], [64 * 8, 1, 1], 0, resident.descriptor, memory.address() + 128);
    words.iter().enumerate().for_each(|(index, word)| memory.set(index, *word));
    let program = loaded.machine.program_at(&resident).expect("decoding");
    let kernel = loaded.object.kernels.iter().find(|kernel| kernel.name == "endless").unwrap();
    for threads in [1, 2] {
        let dispatch =
            Dispatch { packet: memory.address(), threads, budget: u64::MAX, ..Dispatch::default() };
        out.set(0, 0);
        let fault = loaded.machine.dispatch_until(&program, &dispatch, &|| true).unwrap_err();
        assert_eq!((fault.kind, fault.workgroup), (FaultKind::Stopped, [0; 3]));
        assert_eq!(out.u32s(8), [0; 8]);

        // Once before the workgroup begins, then after each slice.
        let asked = AtomicU64::new(0);
        let stop = || asked.fetch_add(1, Relaxed) >= 5;
        let fault = loaded.machine.dispatch_until(&program, &dispatch, &stop).unwrap_err();
        assert_eq!((&fault.kind, fault.workgroup), (&FaultKind::Stopped, [0; 3]), "{fault}");
        assert!(kernel.code.contains(&fault.pc.unwrap()), "{fault}");
        assert_eq!(out.u32s(1), [1]);
        assert!((6..=12).contains(&asked.load(Relaxed)), "{asked:?}");
    }
}

#[test]
fn host_memory_is_shared_until_it_is_freed_and_never_overlaps() {
    let mut machine = Machine::new(Arch::Gfx90a, Config::default());
    let host = Host::new(&mut machine, 4096, "host");
    let copy = machine.clone();
    machine.write(host.address() + 8, &[1, 2, 3]).unwrap();
    assert_eq!(host.u32s(3)[2], 0x03_0201);
    let mut bytes = [0; 3];
    copy.read(host.address() + 8, &mut bytes).unwrap();
    assert_eq!(bytes, [1, 2, 3]);
    // SAFETY: refused.
    let overlap = unsafe { machine.map_host(host.address() + 8, host.start(), 8, "more", Arc::new(())) };
    assert!(matches!(overlap, Err(MemoryError::OutOfBounds { .. })));
    assert_eq!(Arc::strong_count(&host.0), 3);
    machine.free(host.address()).unwrap();
    assert!(machine.read(host.address(), &mut bytes).is_err());
    drop(copy);
    assert_eq!(Arc::strong_count(&host.0), 1);
    // Device addresses need not be the host's.
    // SAFETY: as in `Host::new`.
    unsafe { machine.map_host(0x7000_0000_0000, host.start(), 4096, "alias", host.0.clone()) }.unwrap();
    machine.read(0x7000_0000_0008, &mut bytes).unwrap();
    assert_eq!(bytes, [1, 2, 3]);
    machine.free(0x7000_0000_0000).unwrap();
    // A freed place may be used again, unlike the machine's own.
    // SAFETY: as in `Host::new`.
    unsafe { machine.map_host(host.address(), host.start(), 4096, "again", host.0.clone()) }.unwrap();
    assert!(machine.read(host.address(), &mut bytes).is_ok());
}
