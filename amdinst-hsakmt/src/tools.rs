//! The runtime's interface for tools: it calls [`OnLoad`] of the library that `HSA_TOOLS_LIB` names, with the
//! table that its functions are called through (`hsa_api_trace.h`). Here the code objects are seen before
//! they are loaded, and replaced.
//!
//! The table is the runtime's, and laid out as ROCm 5 to 7 have it; it tells its version and size, without
//! which nothing is touched.
//!
//! If launches are instrumented, the loader is given the instrumented code object, with the buffer's address
//! in a variable; HIP's own kernels are left alone. For a report the packet processor gives each launch a
//! counter buffer, sets the variable, and adds what was counted to the kernel's report (`counting`). Launches
//! that count run one at a time.

use std::ffi::{c_char, c_int, c_void};
use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use crate::driver::Driver;
use crate::settings::Instrument;
use crate::tell::tell;

type FromMemory = unsafe extern "C" fn(*const c_void, usize, *mut u64) -> u32;
type FromFile = unsafe extern "C" fn(c_int, *mut u64) -> u32;

/// The functions that ours stand before.
static ORIGINAL: OnceLock<(FromFile, FromMemory)> = OnceLock::new();

/// The report will be printed when the program ends.
static WILL_PRINT: AtomicBool = AtomicBool::new(false);

/// `HSA_STATUS_ERROR`.
const ERROR: u32 = 0x1000;
/// Versions of the whole table, of ROCm 5 to 7. What is used of it is the same in all of them.
const MAJORS: RangeInclusive<u32> = 1..=3;
/// Byte offset of `core_` in `HsaApiTable`.
const CORE: usize = 16;
/// Byte offsets in `CoreApiTable`.
const FROM_FILE: usize = 936;
const FROM_MEMORY: usize = 944;
/// Bytes of a code object that are looked at, at most.
const LARGEST: u64 = 1 << 32;

/// The runtime's table, version number, and the tools that could not be loaded before this one.
///
/// # Safety
/// The runtime calls it with its own table, which outlives it.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn OnLoad(
    table: *mut u8,
    _version: u64,
    _failed: u64,
    _names: *const *const c_char,
) -> bool {
    let hook = || {
        let driver = Driver::existing()?;
        if table.is_null() {
            return None;
        }
        // SAFETY: the runtime's; the version comes first, so that the rest is known before it is read.
        unsafe {
            if !MAJORS.contains(&table.cast::<u32>().read()) {
                return None;
            }
            let core = table.add(CORE).cast::<*mut u8>().read();
            // Its own version, whose second part is its size.
            if core.is_null() || (core.cast::<u32>().add(1).read() as usize) < FROM_MEMORY + 8 {
                return None;
            }
            let file = core.add(FROM_FILE).cast::<FromFile>();
            let memory = core.add(FROM_MEMORY).cast::<FromMemory>();
            // The runtime may end and begin again, with its own functions in the table.
            ORIGINAL.get_or_init(|| (file.read(), memory.read()));
            file.write(from_file);
            memory.write(from_memory);
        }
        if driver.devices.settings.instrument == Instrument::Report && !WILL_PRINT.swap(true, SeqCst) {
            // SAFETY: a function that may be called at any time.
            unsafe { libc::atexit(at_exit) };
        }
        Some(())
    };
    let hooked = catch_unwind(AssertUnwindSafe(hook)).ok().flatten().is_some();
    if !hooked {
        tell("this ROCm runtime's interface for tools is unknown: code objects are not seen");
    }
    // The library stays loaded: it is the driver's too.
    true
}

/// The runtime has ended. Its table is no longer used.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn OnUnload() {}

extern "C" fn at_exit() {
    let _ = catch_unwind(|| {
        if let Some(driver) = Driver::existing() {
            driver.devices.reports.print();
        }
    });
}

/// Take note of a code object; gives what is to be loaded in its place.
fn seen(bytes: &[u8]) -> Option<&'static [u8]> {
    let driver = Driver::existing()?;
    let counters = match driver.devices.settings.instrument {
        Instrument::No => None,
        Instrument::Yes | Instrument::Report => Some(driver.devices.settings.counters),
    };
    let object = catch_unwind(AssertUnwindSafe(|| driver.devices.objects.note(bytes, counters))).ok()??;
    // The driver keeps it for as long as the process lives.
    let replacement: *const [u8] = object.replacement()?;
    // SAFETY: `Objects` forgets none, and an `Object` does not change.
    Some(unsafe { &*replacement })
}

/// `hsa_code_object_reader_create_from_memory`.
unsafe extern "C" fn from_memory(bytes: *const c_void, size: usize, reader: *mut u64) -> u32 {
    let Some((_, original)) = ORIGINAL.get() else { return ERROR };
    if !bytes.is_null() && size as u64 <= LARGEST {
        // SAFETY: the caller's code object.
        let given = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), size) };
        if let Some(other) = seen(given) {
            // SAFETY: the original function, with bytes that live forever.
            return unsafe { original(other.as_ptr().cast(), other.len(), reader) };
        }
    }
    // SAFETY: the original function, with the caller's arguments.
    unsafe { original(bytes, size, reader) }
}

/// `hsa_code_object_reader_create_from_file`.
unsafe extern "C" fn from_file(file: c_int, reader: *mut u64) -> u32 {
    let Some((original, from_memory)) = ORIGINAL.get() else { return ERROR };
    if let Some(other) = contents(file).and_then(|bytes| seen(&bytes)) {
        // SAFETY: the original function, with bytes that live forever.
        return unsafe { from_memory(other.as_ptr().cast(), other.len(), reader) };
    }
    // SAFETY: the original function, with the caller's arguments.
    unsafe { original(file, reader) }
}

/// The whole of a file, whose position stays where it is.
fn contents(file: c_int) -> Option<Vec<u8>> {
    // SAFETY: no pointers but one to a structure that it fills.
    let size = unsafe {
        let mut status = std::mem::zeroed::<libc::stat>();
        (libc::fstat(file, &raw mut status) == 0).then_some(status.st_size)
    };
    let size = u64::try_from(size?).ok().filter(|size| *size <= LARGEST)? as usize;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).ok()?;
    bytes.resize(size, 0);
    let mut done = 0;
    while done < size {
        // SAFETY: the rest of the buffer.
        let got = unsafe { libc::pread(file, bytes[done..].as_mut_ptr().cast(), size - done, done as i64) };
        match usize::try_from(got) {
            Ok(0) | Err(_) => return None,
            Ok(got) => done += got,
        }
    }
    Some(bytes)
}
