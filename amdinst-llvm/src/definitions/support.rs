//! Definitions that Rust cannot express, as textual IR.

use std::fmt::Write as _;

use amdgpu_isa::{Generation, Target, WaveSize};
use amdinst_core::printed::{HEAD, ROOM, WRITER};
use amdinst_core::{panics, printed};

use crate::ir::text::{escaped, text_section};
use crate::program::records::Records;

/// The workgroup barrier of `amdinst_device::barrier`. Rust's fences are of system scope, which on gfx90a and
/// later writes back and invalidates caches that no wave of the workgroup needs; these wait for LDS and
/// memory only.
const BARRIER: &str = r#"
define hidden void @__amdinst_workgroup_barrier() alwaysinline convergent nounwind {
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  ret void
}
declare void @llvm.amdgcn.s.barrier()
"#;

/// The function that adds a line to a buffer (`amdinst_format::printed`): the text's length, workgroup and
/// work-item, then the text. Whoever launches kernels finds the buffer by its name. A work-item takes the
/// room for all of a line at once, so that lines stay whole; what is taken is looked at first, so that the
/// sum never comes round.
fn write() -> String {
    format!(
        r#"
define hidden void @{WRITER}(ptr addrspace(1) %buffer, ptr %text, i32 %len) noinline nounwind {{
entry:
  %some = icmp ne i32 %len, 0
  %up = add i32 %len, 3
  %padded = and i32 %up, -4
  %size = add i32 %padded, 28
  %fits = icmp ule i32 %len, {ROOM}
  %before = load atomic i32, ptr addrspace(1) %buffer syncscope("agent") monotonic, align 8
  %free = icmp ule i32 %before, {ROOM}
  %may = and i1 %fits, %free
  br i1 %may, label %take, label %lost
take:
  %begin = atomicrmw add ptr addrspace(1) %buffer, i32 %size syncscope("agent") monotonic, align 8
  %end = add i32 %begin, %size
  %within = icmp ule i32 %end, {ROOM}
  br i1 %within, label %write, label %lost
write:
  %from = add i32 %begin, {HEAD}
  %from.wide = zext i32 %from to i64
  %line = getelementptr i8, ptr addrspace(1) %buffer, i64 %from.wide
  store i32 %len, ptr addrspace(1) %line, align 4
  %w.x = call i32 @llvm.amdgcn.workgroup.id.x()
  %w.y = call i32 @llvm.amdgcn.workgroup.id.y()
  %w.z = call i32 @llvm.amdgcn.workgroup.id.z()
  %i.x = call i32 @llvm.amdgcn.workitem.id.x()
  %i.y = call i32 @llvm.amdgcn.workitem.id.y()
  %i.z = call i32 @llvm.amdgcn.workitem.id.z()
  %p.1 = getelementptr i8, ptr addrspace(1) %line, i64 4
  store i32 %w.x, ptr addrspace(1) %p.1, align 4
  %p.2 = getelementptr i8, ptr addrspace(1) %line, i64 8
  store i32 %w.y, ptr addrspace(1) %p.2, align 4
  %p.3 = getelementptr i8, ptr addrspace(1) %line, i64 12
  store i32 %w.z, ptr addrspace(1) %p.3, align 4
  %p.4 = getelementptr i8, ptr addrspace(1) %line, i64 16
  store i32 %i.x, ptr addrspace(1) %p.4, align 4
  %p.5 = getelementptr i8, ptr addrspace(1) %line, i64 20
  store i32 %i.y, ptr addrspace(1) %p.5, align 4
  %p.6 = getelementptr i8, ptr addrspace(1) %line, i64 24
  store i32 %i.z, ptr addrspace(1) %p.6, align 4
  %p.7 = getelementptr i8, ptr addrspace(1) %line, i64 28
  br i1 %some, label %copy, label %done
copy:
  %at = phi i32 [ 0, %write ], [ %next, %copy ]
  %at.wide = zext i32 %at to i64
  %read = getelementptr i8, ptr %text, i64 %at.wide
  %byte = load i8, ptr %read, align 1
  %place = getelementptr i8, ptr addrspace(1) %p.7, i64 %at.wide
  store i8 %byte, ptr addrspace(1) %place, align 1
  %next = add nuw i32 %at, 1
  %more = icmp ult i32 %next, %len
  br i1 %more, label %copy, label %done
lost:
  %count = getelementptr i8, ptr addrspace(1) %buffer, i64 4
  %ignored = atomicrmw add ptr addrspace(1) %count, i32 1 syncscope("agent") monotonic, align 4
  br label %done
done:
  ret void
}}
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workgroup.id.y()
declare i32 @llvm.amdgcn.workgroup.id.z()
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workitem.id.y()
declare i32 @llvm.amdgcn.workitem.id.z()
"#
    )
}

/// The buffer of printed lines, and the function that adds one.
fn print() -> String {
    let buffer = buffer(printed::SYMBOL);
    format!(
        r#"{buffer}
define hidden void @__amdinst_print(ptr %text, i32 %len) alwaysinline nounwind {{
  call void @{WRITER}(ptr addrspace(1) @{}, ptr %text, i32 %len)
  ret void
}}
"#,
        printed::SYMBOL
    )
}

/// The buffer of what panics say, and the function that the panic handler calls for all lanes that panic
/// together (`amdinst_format::panics`).
fn panic() -> String {
    let (lines, ends, buffer) = (panics::SYMBOL, panics::ENDS, buffer(panics::SYMBOL));
    format!(
        r#"{buffer}
@{ends} = protected addrspace(1) global i64 0, align 8
define hidden void @__amdinst_panic(ptr %text, i32 %len) noinline convergent nounwind {{
entry:
  %low = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %id = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %low)
  %first = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %id)
  %is.first = icmp eq i32 %id, %first
  br i1 %is.first, label %say, label %said
say:
  call void @{WRITER}(ptr addrspace(1) @{lines}, ptr %text, i32 %len)
  br label %said
said:
  %wish = load volatile i64, ptr addrspace(1) @{ends}, align 8
  %traps = icmp eq i64 %wish, 0
  br i1 %traps, label %back, label %end
end:
  call void @llvm.amdgcn.endpgm()
  unreachable
back:
  ret void
}}
declare i32 @llvm.amdgcn.mbcnt.lo(i32, i32)
declare i32 @llvm.amdgcn.mbcnt.hi(i32, i32)
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
declare void @llvm.amdgcn.endpgm()
"#
    )
}

/// What panics call, for a program, LLVM IR, that may have their buffer already.
pub(crate) fn panics(program: &str) -> String {
    let mut ir = panic();
    if program.contains(&format!("@{} = ", panics::SYMBOL)) {
        let is_variable = |line: &&str| line.starts_with('@');
        let declared = ir.lines().filter(is_variable).filter_map(|line| line.split(' ').next());
        let types = [format!("[{} x i8]", HEAD + ROOM), "i64".to_owned()];
        let declared = declared
            .zip(types)
            .map(|(name, ty)| format!("{name} = external protected addrspace(1) global {ty}, align 8\n"));
        let functions = ir.lines().filter(|line| !is_variable(line)).flat_map(|line| [line, "\n"]);
        ir = declared.chain(functions.map(str::to_owned)).collect();
    }
    with_places(&format!("{}{ir}", write()))
}

/// A buffer of lines.
fn buffer(symbol: &str) -> String {
    format!("\n@{symbol} = protected addrspace(1) global [{} x i8] zeroinitializer, align 8", HEAD + ROOM)
}

/// What `amdgpu-device-libs` asks its host for. It ends what is one line with `\n`. Memory is not given back,
/// as in `amdinst_device`.
const HOST: &str = r#"
define hidden void @__amdgpu_util_print_stdout(ptr %text, i32 %given) nounwind {
entry:
  %some = icmp sgt i32 %given, 0
  br i1 %some, label %look, label %print
look:
  %last = sub nuw nsw i32 %given, 1
  %last.wide = zext i32 %last to i64
  %place = getelementptr i8, ptr %text, i64 %last.wide
  %byte = load i8, ptr %place, align 1
  %ends = icmp eq i8 %byte, 10
  %without = select i1 %ends, i32 %last, i32 %given
  br label %print
print:
  %len = phi i32 [ 0, %entry ], [ %without, %look ]
  call void @__amdinst_print(ptr %text, i32 %len)
  ret void
}
define hidden ptr @__amdgpu_util_alloc(i64 %size) nounwind {
  %place = call ptr @__amdinst_allocate(i64 %size, i64 16)
  ret ptr %place
}
define hidden void @__amdgpu_util_dealloc(ptr %place) alwaysinline nounwind {
  ret void
}
define hidden ptr @__amdgpu_util_queue_ptr() alwaysinline nounwind {
  %place = call ptr addrspace(4) @llvm.amdgcn.queue.ptr()
  %cast = addrspacecast ptr addrspace(4) %place to ptr
  ret ptr %cast
}
define hidden ptr @__amdgpu_util_kernarg_segment_ptr() alwaysinline nounwind {
  %place = call ptr addrspace(4) @llvm.amdgcn.kernarg.segment.ptr()
  %cast = addrspacecast ptr addrspace(4) %place to ptr
  ret ptr %cast
}
define hidden ptr @__amdgpu_util_implicitarg_ptr() alwaysinline nounwind {
  %place = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  %cast = addrspacecast ptr addrspace(4) %place to ptr
  ret ptr %cast
}
declare ptr addrspace(4) @llvm.amdgcn.queue.ptr()
declare ptr addrspace(4) @llvm.amdgcn.kernarg.segment.ptr()
declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
"#;

/// `amdinst_device::shuffle`, where `ds_bpermute_b32` reaches every lane of a wave. It takes a byte address
/// and wraps it.
const SHUFFLE: &str = r#"
define hidden i32 @__amdinst_shuffle(i32 %value, i32 %lane) alwaysinline convergent nounwind {
  %address = shl i32 %lane, 2
  %result = call i32 @llvm.amdgcn.ds.bpermute(i32 %address, i32 %value)
  ret i32 %result
}
declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)
"#;

/// The block of a shuffle in which the values come one by one, from one active lane that is asked after the
/// other. It goes on to `done`, with the result `%next`.
macro_rules! one_by_one {
    () => {
        r#"each:
  %left = phi i64 [ %active, %entry ], [ %rest, %each ]
  %result = phi i32 [ 0, %entry ], [ %next, %each ]
  %first = call i64 @llvm.cttz.i64(i64 %left, i1 true)
  %asks = trunc i64 %first to i32
  %asked = call i32 @llvm.amdgcn.readlane.i32(i32 %lane, i32 %asks)
  %from = and i32 %asked, 63
  %read = call i32 @llvm.amdgcn.readlane.i32(i32 %value, i32 %from)
  %place = zext i32 %from to i64
  %shifted = lshr i64 %active, %place
  %is.active = trunc i64 %shifted to i1
  %one = select i1 %is.active, i32 %read, i32 0
  %wanted = and i32 %lane, 63
  %is.wanted = icmp eq i32 %wanted, %from
  %next = select i1 %is.wanted, i32 %one, i32 %result
  %served = call i64 @llvm.amdgcn.ballot.i64(i1 %is.wanted)
  %others = xor i64 %served, -1
  %rest = and i64 %left, %others
  %more = icmp ne i64 %rest, 0
  br i1 %more, label %each, label %done
"#
    };
}

/// `amdinst_device::shuffle` of 64 lanes, where `ds_bpermute_b32` reaches the lanes of its own half alone.
/// With all lanes active, one reads that half, one the other half, which `v_permlane64_b32` brings over. That
/// writes active lanes only: a value would be lost whose lane is active and whose counterpart in the other
/// half is not. So with fewer lanes the values come one by one.
const SHUFFLE_OF_HALVES: &str = concat!(
    r#"
define hidden i32 @__amdinst_shuffle(i32 %value, i32 %lane) alwaysinline convergent nounwind {
entry:
  %active = call i64 @llvm.amdgcn.ballot.i64(i1 true)
  %all = icmp eq i64 %active, -1
  br i1 %all, label %halves, label %each
halves:
  %address = shl i32 %lane, 2
  %own = call i32 @llvm.amdgcn.ds.bpermute(i32 %address, i32 %value)
  %swapped = call i32 @llvm.amdgcn.permlane64.i32(i32 %value)
  %other = call i32 @llvm.amdgcn.ds.bpermute(i32 %address, i32 %swapped)
  %low = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %id = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %low)
  %differ = xor i32 %id, %lane
  %half = and i32 %differ, 32
  %is.own = icmp eq i32 %half, 0
  %exchanged = select i1 %is.own, i32 %own, i32 %other
  br label %done
"#,
    one_by_one!(),
    r#"done:
  %shuffled = phi i32 [ %exchanged, %halves ], [ %next, %each ]
  ret i32 %shuffled
}
declare i64 @llvm.amdgcn.ballot.i64(i1)
declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)
declare i32 @llvm.amdgcn.permlane64.i32(i32)
declare i32 @llvm.amdgcn.mbcnt.lo(i32, i32)
declare i32 @llvm.amdgcn.mbcnt.hi(i32, i32)
declare i32 @llvm.amdgcn.readlane.i32(i32, i32)
declare i64 @llvm.cttz.i64(i64, i1)
"#
);

/// As that, where nothing brings values over from the other half: they come one by one.
const SHUFFLE_ONE_BY_ONE: &str = concat!(
    r#"
define hidden i32 @__amdinst_shuffle(i32 %value, i32 %lane) alwaysinline convergent nounwind {
entry:
  %active = call i64 @llvm.amdgcn.ballot.i64(i1 true)
  br label %each
"#,
    one_by_one!(),
    r#"done:
  ret i32 %next
}
declare i64 @llvm.amdgcn.ballot.i64(i1)
declare i32 @llvm.amdgcn.readlane.i32(i32, i32)
declare i64 @llvm.cttz.i64(i64, i1)
"#
);

/// The definition of `amdinst_device::shuffle` for a target; none for one that is not known.
const fn shuffle_of_any(target: Option<Target>) -> &'static str {
    match target {
        None => "",
        Some(Target { arch, wave }) => match (arch.generation(), wave) {
            (Generation::Gfx11, WaveSize::Wave64) => SHUFFLE_OF_HALVES,
            (Generation::Gfx10, WaveSize::Wave64) => SHUFFLE_ONE_BY_ONE,
            (Generation::Gfx8 | Generation::Gfx9 | Generation::Gfx12, _)
            | (Generation::Gfx10 | Generation::Gfx11, WaveSize::Wave32) => SHUFFLE,
        },
    }
}

/// As that, with a way of its own for a lane that is a constant. There the pass `instcombine` makes
/// `v_readlane` of `ds_bpermute`, which is wrong of a lane that is off, and of halves of a wave. At opt-level
/// 0 it does not run.
fn shuffle(target: Option<Target>, opt_level: u8) -> String {
    let of_any = shuffle_of_any(target);
    let Some(target) = target.filter(|_| opt_level > 0) else { return of_any.to_owned() };
    let last = target.wave.lanes() - 1;
    let mut ir = of_any
        .replace("define hidden i32 @__amdinst_shuffle(", "define internal i32 @__amdinst_shuffle_of_any(");
    let _ = write!(
        ir,
        r#"
define hidden i32 @__amdinst_shuffle(i32 %value, i32 %lane) alwaysinline convergent nounwind {{
entry:
  %known = call i1 @llvm.is.constant.i32(i32 %lane)
  br i1 %known, label %one, label %any
one:
  %from = and i32 %lane, {last}
  %read = call i32 @llvm.amdgcn.readlane.i32(i32 %value, i32 %from)
  %active = call i64 @llvm.amdgcn.ballot.i64(i1 true)
  %place = zext i32 %from to i64
  %shifted = lshr i64 %active, %place
  %is.active = trunc i64 %shifted to i1
  %of.one = select i1 %is.active, i32 %read, i32 0
  br label %done
any:
  %of.any = call i32 @__amdinst_shuffle_of_any(i32 %value, i32 %lane)
  br label %done
done:
  %result = phi i32 [ %of.one, %one ], [ %of.any, %any ]
  ret i32 %result
}}
"#
    );
    for declaration in [
        "declare i1 @llvm.is.constant.i32(i32)",
        "declare i32 @llvm.amdgcn.readlane.i32(i32, i32)",
        "declare i64 @llvm.amdgcn.ballot.i64(i1)",
    ] {
        if !of_any.contains(declaration) {
            let _ = writeln!(ir, "{declaration}");
        }
    }
    ir
}

/// The heap of `size` bytes behind a word that says how many are taken (`amdinst_format::heap`), and the
/// function that takes some: at an address that `align`, a power of two, divides. It gives null where there
/// is no room.
fn heap(size: u64) -> String {
    let all = size + HEAP_HEAD;
    format!(
        r#"
@__amdinst_heap = protected addrspace(1) global [{all} x i8] zeroinitializer, align 16
define hidden ptr @__amdinst_allocate(i64 %size, i64 %align) nounwind {{
entry:
  %small = icmp ule i64 %size, {size}
  %near = icmp ule i64 %align, {size}
  %possible = and i1 %small, %near
  %before = load atomic i64, ptr addrspace(1) @__amdinst_heap syncscope("agent") monotonic, align 8
  %free = icmp ule i64 %before, {size}
  %may = and i1 %possible, %free
  br i1 %may, label %take, label %full
take:
  %up = add i64 %size, 15
  %padded = and i64 %up, -16
  %wide = call i64 @llvm.umax.i64(i64 %align, i64 16)
  %slack = sub i64 %wide, 16
  %ask = add i64 %padded, %slack
  %begin = atomicrmw add ptr addrspace(1) @__amdinst_heap, i64 %ask syncscope("agent") monotonic, align 8
  %end = add i64 %begin, %ask
  %within = icmp ule i64 %end, {size}
  br i1 %within, label %found, label %back
back:
  %ignored = atomicrmw sub ptr addrspace(1) @__amdinst_heap, i64 %ask syncscope("agent") monotonic, align 8
  br label %full
found:
  %heap = ptrtoint ptr addrspace(1) @__amdinst_heap to i64
  %from = add i64 %begin, {HEAP_HEAD}
  %first = add i64 %heap, %from
  %last = sub i64 %wide, 1
  %over = add i64 %first, %last
  %mask = sub i64 0, %wide
  %address = and i64 %over, %mask
  %place = inttoptr i64 %address to ptr
  ret ptr %place
full:
  ret ptr null
}}
declare i64 @llvm.umax.i64(i64, i64)
"#
    )
}

/// Bytes of a heap before what is given out.
const HEAP_HEAD: u64 = amdinst_core::heap::HEAD as u64;

/// The module to link with a program that has `records`, for `target`, if that is known, with a heap of
/// `heap_size` bytes.
pub(crate) fn module(records: &Records, target: Option<Target>, heap_size: u64, opt_level: u8) -> String {
    let mut ir = String::from("target triple = \"amdgcn-amd-amdhsa\"\n");
    if !records.probes.is_empty() {
        let lines: Vec<_> = records.probes.iter().cloned().collect();
        ir.push_str(&text_section(".amdinst.probes", &lines));
    }
    for (index, variable) in records.shared.iter().enumerate() {
        let (symbol, size, align) = (escaped(&variable.symbol), variable.size, variable.align);
        let (linkage, initialiser) = match size {
            // LDS of no size is LLVM's way to say that the launcher decides.
            0 => ("external", ""),
            _ => ("internal", " poison"),
        };
        let _ = write!(
            ir,
            "\n@__amdinst_lds.{index} = {linkage} addrspace(3) global [{size} x i8]{initialiser}, align {align}\n\
             define hidden ptr @\"{symbol}\"() alwaysinline nounwind {{\n  \
             ret ptr addrspacecast (ptr addrspace(3) @__amdinst_lds.{index} to ptr)\n}}\n"
        );
    }
    // The functions of one host call what prints and allocates, whichever of them a program calls.
    let prints = records.prints || records.asks_its_host;
    let parts = [
        (prints || records.panics).then(write),
        prints.then(print),
        records.panics.then(panic),
        (records.allocates || records.asks_its_host).then(|| heap(heap_size)),
        records.asks_its_host.then(|| HOST.to_owned()),
    ];
    let functions: String = parts.into_iter().flatten().collect();
    if !functions.is_empty() {
        ir.push_str(&with_places(&functions));
    }
    ir.push_str(BARRIER);
    ir.push_str(&float_atomics());
    ir.push_str(&shuffle(target, opt_level));
    ir
}

/// The atomic floats of `amdinst_device`: relaxed, of the device's scope. Rust has no atomic operation on
/// floats. Memory is the device's own, so that the processor's instruction will do.
fn float_atomics() -> String {
    let mut ir = String::new();
    for (name, ty, align) in [("f32", "float", 4), ("f64", "double", 8)] {
        let scope = "syncscope(\"agent\") monotonic";
        for operation in ["fadd", "fmin", "fmax"] {
            let _ = write!(
                ir,
                "define hidden {ty} @__amdinst_atomic_{operation}_{name}(ptr %place, {ty} %value) alwaysinline nounwind {{\n  \
                 %before = atomicrmw {operation} ptr %place, {ty} %value {scope}, align {align}, !amdgpu.no.fine.grained.memory !{{}}, \
                 !amdgpu.no.remote.memory !{{}}, !amdgpu.ignore.denormal.mode !{{}}\n  ret {ty} %before\n}}\n"
            );
        }
        let _ = write!(
            ir,
            "define hidden {ty} @__amdinst_atomic_load_{name}(ptr %place) alwaysinline nounwind {{\n  \
             %value = load atomic {ty}, ptr %place {scope}, align {align}\n  ret {ty} %value\n}}\n\
             define hidden void @__amdinst_atomic_store_{name}(ptr %place, {ty} %value) alwaysinline nounwind {{\n  \
             store atomic {ty} %value, ptr %place {scope}, align {align}\n  ret void\n}}\n"
        );
    }
    ir
}

/// Gives functions that stay functions debug information, so that reports tell whose their branches are:
/// `amdinst_device`'s, of no line. Those that are inlined take the place of their calls.
fn with_places(ir: &str) -> String {
    let mut text = String::from(
        "!llvm.module.flags = !{!3}\n!llvm.dbg.cu = !{!0}\n\
         !0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: LineTablesOnly)\n\
         !1 = !DIFile(filename: \"amdinst-device/src/print.rs\", directory: \"\")\n\
         !2 = !DISubroutineType(types: !{})\n\
         !3 = !{i32 2, !\"Debug Info Version\", i32 3}\n",
    );
    let mut next = 4;
    let mut place = None;
    for line in ir.lines() {
        let head = line
            .strip_suffix('{')
            .filter(|head| head.starts_with("define ") && !head.contains("alwaysinline"));
        let name = head.and_then(|head| Some(head.split_once('@')?.1.split_once('(')?.0));
        let _ = match (head, name, place) {
            (Some(head), Some(name), _) => {
                let scope = next;
                place = Some(scope + 1);
                next += 2;
                writeln!(
                    text,
                    "!{scope} = distinct !DISubprogram(name: \"{name}\", scope: !1, file: !1, type: !2, spFlags: \
                     DISPFlagDefinition, unit: !0)\n!{} = !DILocation(line: 0, scope: !{scope})\n{head}!dbg !{scope} {{",
                    scope + 1
                )
            }
            (_, _, Some(place)) if line.starts_with("  ") => writeln!(text, "{line}, !dbg !{place}"),
            _ => {
                place = place.filter(|_| line != "}");
                writeln!(text, "{line}")
            }
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use amdgpu_isa::Arch;

    use super::*;
    use crate::program::records::SharedVariable;

    #[test]
    fn functions_that_stay_have_places() {
        let ir = "define void @a(i32 %x) noinline {\nentry:\n  ret void\n}\ndefine void @b() alwaysinline {\n  ret void\n}\n\
                  declare void @c()\n";
        let placed = with_places(ir);
        let (_, placed) = placed.split_once("define").unwrap();
        let expected = " void @a(i32 %x) noinline !dbg !4 {\nentry:\n  ret void, !dbg !5\n}\n\
                        define void @b() alwaysinline {\n  ret void\n}\ndeclare void @c()\n";
        assert_eq!(placed, expected);
    }

    #[test]
    fn lds_and_probes() {
        let records = Records {
            probes: ["1\t\"x\"".to_owned()].into(),
            shared: vec![
                SharedVariable { symbol: "s".to_owned(), size: 64, align: 16 },
                SharedVariable { symbol: "d".to_owned(), size: 0, align: 4 },
            ],
            ..Records::default()
        };
        let ir = module(&records, Some(Arch::Gfx90a.into()), 1 << 20, 3);
        assert!(ir.contains("internal addrspace(3) global [64 x i8] poison, align 16"), "{ir}");
        assert!(ir.contains("external addrspace(3) global [0 x i8], align 4"), "{ir}");
        assert!(ir.contains(r#"module asm ".ascii \221\5C011\5C042x\5C042\5Cn\22""#), "{ir}");
    }
}
