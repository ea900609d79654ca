//! Where kernels are launched.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use amdinst_format::interface::{
    DeviceChoice, EmbeddedCode, EmbeddedKind, Interface, LaunchFailure, LaunchRequest, Launched, Opened,
    Settings, Slice,
};
use amdinst_format::report::why::LaunchOrigin;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::report::Report;
use crate::runtime::{self, Answer, RuntimeError, slice};
use crate::{Buffer, Element};

/// A device, opened for one test: its memory is empty, and buffers of one test are unknown to another.
#[derive(Clone, Debug)]
pub struct Device {
    opened: Arc<Handle>,
}

/// A device of the runtime.
#[derive(Debug)]
struct Handle {
    id: u64,
    interface: &'static Interface,
    handle: *mut c_void,
    told: Opened,
    settings: Settings,
}

// SAFETY: a handle of the runtime, whose functions may be called from any thread.
unsafe impl Send for Handle {}
// SAFETY: the same.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: `open` gave it, and this is its end.
        unsafe { (self.interface.close)(self.handle) };
    }
}

/// Why a device could not be opened, or its memory not be used.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// There is no runtime that fits.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The device is not there, or refuses; in words.
    #[error("{0}")]
    Refused(String),
}

impl Device {
    /// Opens the device that `settings` ask for, and says in a sentence which was taken and why.
    ///
    /// `auto` takes a GPU if the HIP runtime has one that the kernels were built for, and the emulator
    /// otherwise.
    ///
    /// # Errors
    /// No runtime of the installed command. With [`DeviceChoice::Hip`]: no HIP, no GPU, or one of another
    /// target than the kernels'.
    pub fn open(settings: &Settings) -> Result<(Self, String), DeviceError> {
        let interface = runtime::interface()?;
        let text = serde_json::to_string(settings)
            .map_err(|error| DeviceError::Refused(format!("settings: {error}")))?;
        let embedded = embedded(settings);
        let mut handle = std::ptr::null_mut();
        // SAFETY: the slices live through the call, what is embedded to the end of the process, and there is
        // room for a handle.
        let owned =
            unsafe { (interface.open)(slice(&text), embedded.as_ptr(), embedded.len(), &raw mut handle) };
        let told: Opened = answered::<Result<Opened, String>>(interface, owned)
            .map_err(DeviceError::Refused)?
            .map_err(DeviceError::Refused)?;
        let why = told.why.clone();
        let handle = Handle { id: next_id(), interface, handle, told, settings: settings.clone() };
        Ok((Self { opened: Arc::new(handle) }, why))
    }

    /// An emulator for the processor that `settings` or the manifests name.
    ///
    /// # Errors
    /// No runtime of the installed command, or an unknown processor.
    pub fn emulator(settings: &Settings) -> Result<Self, DeviceError> {
        let settings = Settings { device: DeviceChoice::Emu, ..settings.clone() };
        Self::open(&settings).map(|(device, _)| device)
    }

    /// A name for people: `the emulator (gfx90a)`, `AMD GPU 0 (gfx90a:sramecc+:xnack-)`.
    pub fn name(&self) -> String {
        self.opened.told.name.clone()
    }

    /// Whether kernels run in the emulator.
    pub fn is_emulator(&self) -> bool {
        self.opened.told.is_emulator
    }

    /// A buffer with a copy of `values`.
    ///
    /// # Panics
    /// When the device has no room for it.
    #[track_caller]
    pub fn buffer<T: Element>(&self, values: &[T]) -> Buffer<T> {
        Buffer::from_slice(self, values)
    }

    /// A buffer of `len` values, all bytes zero.
    ///
    /// # Panics
    /// When the device has no room for it.
    #[track_caller]
    pub fn zeroed<T: Element>(&self, len: usize) -> Buffer<T> {
        Buffer::zeroed(self, len)
    }

    /// The settings that it was opened with.
    pub fn settings(&self) -> &Settings {
        &self.opened.settings
    }

    /// The processor whose code objects it runs.
    pub fn cpu(&self) -> &str {
        &self.opened.told.cpu
    }

    /// Unique in this process.
    pub(crate) fn id(&self) -> u64 {
        self.opened.id
    }

    /// Zeroed memory.
    pub(crate) fn allocate(&self, bytes: usize, label: &str) -> Result<Allocation, DeviceError> {
        let Handle { interface, handle, .. } = &*self.opened;
        let mut address = 0;
        // SAFETY: a device, text that lives through the call, and room for an address.
        let owned = unsafe { (interface.allocate)(*handle, bytes as u64, slice(label), &raw mut address) };
        Answer::new(interface, owned).empty_or_text().map_err(DeviceError::Refused)?;
        Ok(Allocation { device: self.clone(), address })
    }

    pub(crate) fn launch(&self, request: &LaunchRequest) -> Result<Launched<Report>, LaunchFailure> {
        let Handle { interface, handle, .. } = &*self.opened;
        let text = serde_json::to_string(request).map_err(|error| internal(error.to_string()))?;
        // SAFETY: a device, and text that lives through the call.
        let owned = unsafe { (interface.launch)(*handle, slice(&text)) };
        answered::<Result<Launched<Report>, LaunchFailure>>(interface, owned).map_err(internal)?
    }

    pub(crate) fn listing(&self, package: &str, kernel: &str) -> Result<String, LaunchFailure> {
        let Handle { interface, handle, .. } = &*self.opened;
        // SAFETY: a device, and text that lives through the call.
        let owned = unsafe { (interface.listing)(*handle, slice(package), slice(kernel)) };
        answered::<Result<String, LaunchFailure>>(interface, owned).map_err(internal)?
    }

    pub(crate) fn wave_size(&self, package: &str, kernel: &str) -> Result<u32, LaunchFailure> {
        let Handle { interface, handle, .. } = &*self.opened;
        // SAFETY: a device, and text that lives through the call.
        let owned = unsafe { (interface.wave_size)(*handle, slice(package), slice(kernel)) };
        answered::<Result<u32, LaunchFailure>>(interface, owned).map_err(internal)?
    }
}

fn internal(message: String) -> LaunchFailure {
    LaunchFailure::Internal { message }
}

/// What the runtime answers.
fn answered<T: DeserializeOwned>(
    interface: &'static Interface,
    owned: amdinst_format::interface::Owned,
) -> Result<T, String> {
    Answer::new(interface, owned).json().map_err(|error| format!("the runtime's answer: {error}"))
}

fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The embedded code objects, as C has them.
fn embedded(settings: &Settings) -> Vec<EmbeddedCode> {
    let none = Slice::new(&[]);
    let mut all = Vec::new();
    for package in &settings.embedded {
        let empty = EmbeddedCode {
            kind: EmbeddedKind::LeftOut,
            package: slice(package.package),
            cpu: none,
            profile: none,
            original: none,
            instrumented: none,
            probes: none,
        };
        if package.code_objects.is_empty() {
            all.push(empty);
        }
        for object in package.code_objects {
            let (kind, instrumented, probes) = match &object.instrumented {
                None => (EmbeddedKind::Original, none, none),
                Some(form) => {
                    let probes = Slice::new(form.probes);
                    form.code_object.map_or((EmbeddedKind::Planned, none, probes), |code| {
                        (EmbeddedKind::Instrumented, Slice::new(code), probes)
                    })
                }
            };
            let (cpu, profile) = (slice(object.cpu), slice(object.profile));
            let original = Slice::new(object.original);
            all.push(EmbeddedCode { kind, cpu, profile, original, instrumented, probes, ..empty });
        }
    }
    all
}

/// Device memory that is freed when dropped.
#[derive(Debug)]
pub(crate) struct Allocation {
    device: Device,
    address: u64,
}

impl Allocation {
    /// Address of the first byte.
    pub(crate) const fn address(&self) -> u64 {
        self.address
    }

    pub(crate) fn device_id(&self) -> u64 {
        self.device.id()
    }

    /// Copies its first bytes to the host.
    pub(crate) fn read(&self, into: &mut [u8]) -> Result<(), DeviceError> {
        if into.is_empty() {
            return Ok(());
        }
        let Handle { interface, handle, .. } = &*self.device.opened;
        // SAFETY: a device, and room for so many bytes.
        let owned = unsafe { (interface.read)(*handle, self.address, into.as_mut_ptr(), into.len()) };
        Answer::new(interface, owned).empty_or_text().map_err(DeviceError::Refused)
    }

    /// Where the byte at an offset has its value from, in words, as far as the device can tell.
    pub(crate) fn why(&self, offset: usize) -> Option<String> {
        let Handle { interface, handle, .. } = &*self.device.opened;
        // SAFETY: a device.
        let owned = unsafe { (interface.why)(*handle, self.address + offset as u64) };
        let answer: Result<Option<LaunchOrigin>, String> = answered(interface, owned).ok()?;
        match answer {
            Ok(found) => found.map(|LaunchOrigin { kernel, origin }| {
                format!("`{kernel}` made it{}", origin.way().trim_end())
            }),
            Err(lost) => Some(lost),
        }
    }

    /// Replaces its first bytes.
    pub(crate) fn write(&self, from: &[u8]) -> Result<(), DeviceError> {
        if from.is_empty() {
            return Ok(());
        }
        let Handle { interface, handle, .. } = &*self.device.opened;
        // SAFETY: a device, and bytes that live through the call.
        let owned = unsafe { (interface.write)(*handle, self.address, Slice::new(from)) };
        Answer::new(interface, owned).empty_or_text().map_err(DeviceError::Refused)
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let Handle { interface, handle, .. } = &*self.device.opened;
        // SAFETY: a device, and an address that `allocate` gave, freed once.
        unsafe { (interface.free)(*handle, self.address) };
    }
}
