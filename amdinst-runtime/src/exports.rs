//! The functions of the table, as C calls them.
//!
//! Whoever calls them, the harness, vouches for what `amdinst_format::interface::Interface` asks: slices have
//! as many bytes as they say, which live through the call; a device is a handle that `open` gave and `close`
//! has not taken; places to write to have room; an answer is given back once.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use amdinst_format::interface::{
    Embedded, EmbeddedCode, EmbeddedCodeObject, EmbeddedForm, EmbeddedKind, Interface, JunitSuite,
    LaunchFailure, LaunchRequest, Launched, Opened, Owned, Settings, Slice, VERSION,
};
use serde::Serialize;

use crate::device::{Device, DeviceError};
use crate::request::{Request, kernarg};
use crate::stopping::{self, Running};
use crate::{artifacts, junit, listing, source, summary};

static INTERFACE: Interface = Interface {
    version: VERSION,
    package,
    open,
    close,
    allocate,
    free,
    read,
    write,
    launch,
    why,
    listing: listing_of,
    wave_size: wave_size_of,
    summary: summary_of,
    write_junit,
    release,
};

/// The table of functions.
pub fn interface() -> &'static Interface {
    &INTERFACE
}

/// [`interface`], for programs that load the library.
#[unsafe(no_mangle)]
extern "C" fn amdinst_runtime_interface() -> *const Interface {
    &raw const INTERFACE
}

/// Bytes that the caller gives back with [`release`].
fn owned(bytes: Vec<u8>) -> Owned {
    if bytes.is_empty() {
        return Owned { data: std::ptr::null_mut(), len: 0 };
    }
    let bytes = Box::leak(bytes.into_boxed_slice());
    Owned { data: bytes.as_mut_ptr(), len: bytes.len() }
}

unsafe extern "C" fn package() -> Slice {
    Slice::new(env!("CARGO_PKG_VERSION").as_bytes())
}

unsafe extern "C" fn release(answer: Owned) {
    if !answer.data.is_null() {
        let bytes = std::ptr::slice_from_raw_parts_mut(answer.data, answer.len);
        // SAFETY: `owned` made it of a box of that length, and the caller gives each answer back once.
        drop(unsafe { Box::from_raw(bytes) });
    }
}

/// The bytes of a slice.
///
/// # Safety
/// They live as long as `'a`.
unsafe fn bytes<'a>(slice: Slice) -> &'a [u8] {
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts(slice.data, slice.len) }
}

/// The text of a slice. The harness passes UTF-8.
///
/// # Safety
/// As [`bytes`].
unsafe fn text<'a>(slice: Slice) -> Result<&'a str, String> {
    // SAFETY: the caller's.
    std::str::from_utf8(unsafe { bytes(slice) }).map_err(|error| error.to_string())
}

/// The device of a handle.
///
/// # Safety
/// `open` gave it, and `close` has not taken it for as long as `'a`.
unsafe fn device<'a>(handle: *mut c_void) -> &'a Device {
    // SAFETY: the caller's.
    unsafe { &*handle.cast::<Device>() }
}

/// What a panic says.
fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("it panicked").to_owned()
}

/// The JSON of what `body` gives. A panic is a failure that `internal` makes of its text.
fn answer<T: Serialize, E: Serialize>(
    internal: impl FnOnce(String) -> E,
    body: impl FnOnce() -> Result<T, E>,
) -> Owned {
    let result = catch_unwind(AssertUnwindSafe(body))
        .unwrap_or_else(|payload| Err(internal(panic_text(payload.as_ref()))));
    // Maps with keys that are no text are not among the messages, so nothing fails; an empty answer is one
    // that the harness reports.
    owned(serde_json::to_vec(&result).unwrap_or_default())
}

/// Nothing, or what went wrong.
fn empty_or_text<E: ToString>(body: impl FnOnce() -> Result<(), E>) -> Owned {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => owned(Vec::new()),
        Ok(Err(error)) => owned(error.to_string().into_bytes()),
        Err(payload) => {
            let text = panic_text(payload.as_ref());
            owned(format!("internal error of the runtime: {text}; please report this").into_bytes())
        }
    }
}

fn internal(message: String) -> LaunchFailure {
    LaunchFailure::Internal { message }
}

unsafe extern "C" fn open(
    settings: Slice,
    embedded: *const EmbeddedCode,
    count: usize,
    handle: *mut *mut c_void,
) -> Owned {
    answer(
        |text| format!("internal error of the runtime: {text}; please report this"),
        || {
            // SAFETY: the caller's slice, and an array of `count` elements (of which an empty one may be
            // anywhere).
            let (settings, embedded) = unsafe {
                let embedded = if count == 0 { &[] } else { std::slice::from_raw_parts(embedded, count) };
                (bytes(settings), embedded)
            };
            let mut settings: Settings =
                serde_json::from_slice(settings).map_err(|error| format!("settings: {error}"))?;
            // SAFETY: embedded code objects are constants of the program.
            settings.embedded = unsafe { embedded_of(embedded) }?;
            let (device, why) = Device::open(&settings).map_err(|error| error.to_string())?;
            let opened = Opened {
                name: device.name(),
                why,
                is_emulator: device.is_emulator(),
                cpu: device.cpu().to_owned(),
            };
            // SAFETY: the caller's place for a handle.
            unsafe { *handle = Box::into_raw(Box::new(device)).cast() };
            Ok(opened)
        },
    )
}

/// The embedded code objects, by package. They and the lists of them live to the process's end; a program has
/// few, and each list is made once.
///
/// # Safety
/// All slices are of bytes that live to the process's end.
unsafe fn embedded_of(all: &[EmbeddedCode]) -> Result<Vec<&'static Embedded>, String> {
    let mut packages: Vec<(&'static str, Vec<EmbeddedCodeObject>)> = Vec::new();
    for code in all {
        // SAFETY: the caller's.
        unsafe {
            let package = text(code.package)?;
            let form = match code.kind {
                EmbeddedKind::LeftOut | EmbeddedKind::Original => None,
                EmbeddedKind::Planned => Some(EmbeddedForm { code_object: None, probes: bytes(code.probes) }),
                EmbeddedKind::Instrumented => Some(EmbeddedForm {
                    code_object: Some(bytes(code.instrumented)),
                    probes: bytes(code.probes),
                }),
            };
            let known = match packages.iter().position(|(name, _)| *name == package) {
                Some(at) => at,
                None => {
                    packages.push((package, Vec::new()));
                    packages.len() - 1
                }
            };
            if code.kind != EmbeddedKind::LeftOut {
                packages[known].1.push(EmbeddedCodeObject {
                    cpu: text(code.cpu)?,
                    profile: text(code.profile)?,
                    original: bytes(code.original),
                    instrumented: form,
                });
            }
        }
    }
    Ok(kept(packages))
}

/// The packages, each list made at most once in a process.
fn kept(packages: Vec<(&'static str, Vec<EmbeddedCodeObject>)>) -> Vec<&'static Embedded> {
    use std::sync::{Mutex, PoisonError};
    static KEPT: Mutex<Vec<&'static Embedded>> = Mutex::new(Vec::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let mut found = Vec::new();
    for (package, code_objects) in packages {
        let known = kept.iter().find(|one| one.package == package && one.code_objects == code_objects);
        let embedded = match known {
            Some(known) => *known,
            None => {
                let one = Embedded { package, code_objects: Vec::leak(code_objects) };
                let one: &'static Embedded = Box::leak(Box::new(one));
                kept.push(one);
                one
            }
        };
        found.push(embedded);
    }
    found
}

unsafe extern "C" fn close(handle: *mut c_void) {
    // SAFETY: `open` made it of a box, and the caller takes it back once.
    let device = unsafe { Box::from_raw(handle.cast::<Device>()) };
    // A device whose end panics has nobody left to tell.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(device)));
}

unsafe extern "C" fn allocate(handle: *mut c_void, size: u64, label: Slice, address: *mut u64) -> Owned {
    empty_or_text(|| {
        // SAFETY: the caller's handle and slice.
        let (device, label) = unsafe { (device(handle), text(label)?) };
        let size = usize::try_from(size).map_err(|error| error.to_string())?;
        let found = device.allocate(size, label).map_err(|error| error.to_string())?;
        // SAFETY: the caller's place for an address.
        unsafe { *address = found };
        Ok::<(), String>(())
    })
}

unsafe extern "C" fn free(handle: *mut c_void, address: u64) {
    // SAFETY: the caller's handle.
    let device = unsafe { device(handle) };
    // Nobody asks how freeing went.
    let _ = catch_unwind(AssertUnwindSafe(|| device.free(address)));
}

unsafe extern "C" fn read(handle: *mut c_void, address: u64, into: *mut u8, len: usize) -> Owned {
    empty_or_text(|| -> Result<(), DeviceError> {
        // SAFETY: the caller's handle, and its place for `len` bytes.
        let (device, into) = unsafe { (device(handle), std::slice::from_raw_parts_mut(into, len)) };
        device.read(address, into)
    })
}

unsafe extern "C" fn write(handle: *mut c_void, address: u64, from: Slice) -> Owned {
    // SAFETY: the caller's handle and slice.
    empty_or_text(|| unsafe { device(handle).write(address, bytes(from)) })
}

unsafe extern "C" fn launch(handle: *mut c_void, request: Slice) -> Owned {
    answer(internal, || {
        // SAFETY: the caller's handle and slice.
        let (device, request) = unsafe { (device(handle), bytes(request)) };
        let request = serde_json::from_slice(request).map_err(|error| internal(error.to_string()))?;
        launched(device, &request)
    })
}

fn launched(device: &Device, asked: &LaunchRequest) -> Result<Launched, LaunchFailure> {
    let LaunchRequest { package, features, kernel, grid, block, lds, arguments, parameters } = asked;
    let built = artifacts::find(device.settings(), package, device.cpu(), features.as_deref())?;
    let kernel = built.name(kernel);
    let kernarg = kernarg(&built, kernel, arguments, parameters)?;
    let (grid, block, lds) = (*grid, *block, *lds);
    let running = Running::begin();
    let outcome = device.launch(&Request { built: &built, kernel, grid, block, lds, kernarg, parameters });
    if let (Err(failure), Some(signal)) = (&outcome, stopping::asked()) {
        let test = std::thread::current().name().map(|name| format!(" in {name}")).unwrap_or_default();
        eprintln!("{failure}\n{signal} ends this program{test}");
        running.end();
    }
    drop(running);
    let outcome = outcome?;
    let mut report = outcome.report;
    if let Some(root) = source::workspace_root() {
        report.relative_to(root);
    }
    let timing = outcome.timing.as_ref();
    Ok(Launched {
        report,
        profile: built.profile.clone(),
        wave_instructions: outcome.wave_instructions,
        elapsed: outcome.elapsed,
        timing: timing.map(|timing| timing.told()),
        modelled: timing.map(|timing| timing.kept()),
        timeline: timing.and_then(|timing| timing.timeline()),
        memory: outcome.memory,
        doubts: outcome.doubts,
        sampled: outcome.sampled,
        printed: outcome.printed,
    })
}

unsafe extern "C" fn why(handle: *mut c_void, address: u64) -> Owned {
    answer(std::convert::identity, || {
        // SAFETY: the caller's handle.
        let device = unsafe { device(handle) };
        device.why(address)
    })
}

unsafe extern "C" fn listing_of(handle: *mut c_void, package: Slice, kernel: Slice) -> Owned {
    answer(internal, || {
        // SAFETY: the caller's handle and slices.
        let (device, package, kernel) = unsafe { (device(handle), text(package), text(kernel)) };
        let (package, kernel) = (package.map_err(internal)?, kernel.map_err(internal)?);
        let built = artifacts::find(device.settings(), package, device.cpu(), None)?;
        listing::listing(&built, built.name(kernel))
    })
}

unsafe extern "C" fn wave_size_of(handle: *mut c_void, package: Slice, kernel: Slice) -> Owned {
    answer(internal, || {
        // SAFETY: the caller's handle and slices.
        let (device, package, kernel) = unsafe { (device(handle), text(package), text(kernel)) };
        let (package, kernel) = (package.map_err(internal)?, kernel.map_err(internal)?);
        let built = artifacts::find(device.settings(), package, device.cpu(), None)?;
        Ok(built.wave_size(built.name(kernel))?.lanes())
    })
}

unsafe extern "C" fn summary_of(reports: Slice, layout: Slice) -> Owned {
    answer(std::convert::identity, || {
        // SAFETY: the caller's slices.
        let (reports, layout) = unsafe { (bytes(reports), bytes(layout)) };
        let reports = serde_json::from_slice(reports).map_err(|error| error.to_string())?;
        let layout = serde_json::from_slice(layout).map_err(|error| error.to_string())?;
        Ok(summary::summary(reports, &layout))
    })
}

unsafe extern "C" fn write_junit(path: Slice, suite: Slice) -> Owned {
    empty_or_text(|| {
        // SAFETY: the caller's slices.
        let (path, suite) = unsafe { (text(path)?, bytes(suite)) };
        let suite: JunitSuite = serde_json::from_slice(suite).map_err(|error| error.to_string())?;
        junit::write(Path::new(path), &suite)
    })
}
