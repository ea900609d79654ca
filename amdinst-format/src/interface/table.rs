//! The table of functions, as C has it.

use std::ffi::c_void;

/// Borrowed bytes. Of text: UTF-8.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Slice {
    /// The first byte; never null.
    pub data: *const u8,
    /// How many there are.
    pub len: usize,
}

impl Slice {
    /// The bytes of `bytes`, for as long as these live.
    pub const fn new(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr(), len: bytes.len() }
    }
}

/// Bytes that belong to the runtime until they are given back with [`Interface::release`].
#[derive(Debug)]
#[repr(C)]
pub struct Owned {
    /// The first byte; null if there are none.
    pub data: *mut u8,
    /// How many there are.
    pub len: usize,
}

/// What a program has embedded of one package and processor.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct EmbeddedCode {
    /// Its kind.
    pub kind: EmbeddedKind,
    /// The kernel package.
    pub package: Slice,
    /// The processor (`gfx90a`).
    pub cpu: Slice,
    /// The cargo profile.
    pub profile: Slice,
    /// The code object, as it was compiled.
    pub original: Slice,
    /// The instrumented code object.
    pub instrumented: Slice,
    /// Its probe map, JSON.
    pub probes: Slice,
}

/// Which fields of an [`EmbeddedCode`] mean something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum EmbeddedKind {
    /// The package alone: its kernels were left out of the program.
    LeftOut = 0,
    /// All but `instrumented` and `probes`.
    Original = 1,
    /// All but `instrumented`: nothing could or had to be instrumented.
    Planned = 2,
    /// All.
    Instrumented = 3,
}

/// The function of the name [`SYMBOL`](super::SYMBOL). The table lives as long as the library.
pub type Entry = unsafe extern "C" fn() -> *const Interface;

/// The functions. Each may be called from any thread. None unwinds.
///
/// A device is a handle that `open` gave and `close` has not taken. `Owned` answers are JSON, or empty where
/// that is said.
#[derive(Debug)]
#[repr(C)]
pub struct Interface {
    /// [`VERSION`](super::VERSION).
    pub version: u32,
    /// The version of the package that the runtime was built from, text that lives as long as the library.
    pub package: unsafe extern "C" fn() -> Slice,
    /// Opens a device for the JSON of [`Settings`](super::Settings) and `count` embedded code objects, whose
    /// bytes live as long as the process. The answer is the JSON of `Result<Opened, String>`; `device` is
    /// written if it is `Ok`.
    pub open: unsafe extern "C" fn(
        settings: Slice,
        embedded: *const EmbeddedCode,
        count: usize,
        device: *mut *mut c_void,
    ) -> Owned,
    /// Ends a device. Its memory goes with it.
    pub close: unsafe extern "C" fn(device: *mut c_void),
    /// Allocates zeroed device memory and writes its address. The answer is empty, or text that says why
    /// there is none.
    pub allocate:
        unsafe extern "C" fn(device: *mut c_void, bytes: u64, label: Slice, address: *mut u64) -> Owned,
    /// Frees an allocation by the address that `allocate` gave.
    pub free: unsafe extern "C" fn(device: *mut c_void, address: u64),
    /// Copies from the device to `len` bytes at `into`. The answer is empty, or text that says what failed.
    pub read: unsafe extern "C" fn(device: *mut c_void, address: u64, into: *mut u8, len: usize) -> Owned,
    /// Copies to the device. The answer is as that of `read`.
    pub write: unsafe extern "C" fn(device: *mut c_void, address: u64, from: Slice) -> Owned,
    /// Launches a kernel, by the JSON of a [`LaunchRequest`](super::LaunchRequest), and waits for its end.
    /// The answer is the JSON of `Result<Launched, LaunchFailure>`.
    pub launch: unsafe extern "C" fn(device: *mut c_void, request: Slice) -> Owned,
    /// Where the byte at an address has its value from, if one of the last launches has written it. The
    /// answer is the JSON of
    /// `Result<Option<`[`LaunchOrigin`](crate::report::why::LaunchOrigin)`>, String>`.
    pub why: unsafe extern "C" fn(device: *mut c_void, address: u64) -> Owned,
    /// The machine code of a kernel of a package, as text. The answer is the JSON of
    /// `Result<String, LaunchFailure>`.
    pub listing: unsafe extern "C" fn(device: *mut c_void, package: Slice, kernel: Slice) -> Owned,
    /// The lanes of a wave of a kernel of a package. The answer is the JSON of `Result<u32, LaunchFailure>`.
    pub wave_size: unsafe extern "C" fn(device: *mut c_void, package: Slice, kernel: Slice) -> Owned,
    /// A table for each kernel over all its launches, by the JSON of their reports, a list, and of a
    /// [`Layout`](crate::report::Layout). The answer is the JSON of `Result<String, String>`.
    pub summary: unsafe extern "C" fn(reports: Slice, layout: Slice) -> Owned,
    /// Adds the JSON of a [`JunitSuite`](super::JunitSuite) to the file at `path`. The answer is as that of
    /// `read`.
    pub write_junit: unsafe extern "C" fn(path: Slice, suite: Slice) -> Owned,
    /// Takes an answer back.
    pub release: unsafe extern "C" fn(answer: Owned),
}
