//! Where kernels are launched.

mod emulator;
pub(crate) mod hip;
pub(crate) mod memory;

use std::sync::Arc;

use amdinst_core::report::Report;
use thiserror::Error;

use crate::artifacts;
use crate::error::LaunchError;
use crate::launch::Request;
use crate::settings::{DeviceChoice, Settings};
use crate::timing::ModelledLaunch;
use crate::{Buffer, Element};

pub use emulator::Emulator;
pub use hip::{DriverFile, Gpu, HipError, Library};
use memory::Allocation;

/// A device, opened for one test: its memory is empty, and buffers of one test are unknown to another.
#[derive(Debug)]
pub enum Device {
    /// The emulator.
    Emulator(Arc<Emulator>),
    /// A GPU, through the HIP runtime.
    Hip(Arc<Gpu>),
}

/// Why a device could not be opened, or its memory not be used.
#[derive(Debug, Error)]
pub enum DeviceError {
    /// The HIP runtime or the GPU.
    #[error(transparent)]
    Hip(#[from] HipError),
    /// The emulator's memory.
    #[error(transparent)]
    Memory(#[from] amdinst_emu::MemoryError),
    /// The processor asked for is unknown.
    #[error(transparent)]
    Arch(#[from] amdinst_core::arch::UnknownArch),
    /// The kernels' manifest is missing or broken.
    #[error(transparent)]
    Artifacts(#[from] artifacts::ArtifactError),
}

impl Device {
    /// Opens the device that `settings` ask for, and says in a sentence which was taken and why.
    ///
    /// `auto` takes a GPU if the HIP runtime has one that the kernels were built for, and the emulator otherwise.
    ///
    /// # Errors
    /// With [`DeviceChoice::Hip`]: no runtime, no GPU, or one of another target than the kernels'.
    pub fn open(settings: &Settings) -> Result<(Self, String), DeviceError> {
        let gpu = |settings| Gpu::open(settings).map(|gpu| Self::Hip(Arc::new(gpu)));
        match settings.device {
            DeviceChoice::Hip => {
                let device = gpu(settings)?;
                let why = format!("{}, as asked for", device.name());
                Ok((device, why))
            }
            DeviceChoice::Emu => {
                let device = Self::emulator(settings)?;
                let why = format!("{}, as asked for", device.name());
                Ok((device, why))
            }
            // What only the emulator can look for.
            DeviceChoice::Auto if settings.strict_barriers || settings.check_races => {
                let device = Self::emulator(settings)?;
                let checks = match (settings.strict_barriers, settings.check_races) {
                    (true, true) => "barriers and races",
                    (true, false) => "barriers",
                    _ => "races",
                };
                let why = format!("{}, which checks {checks}", device.name());
                Ok((device, why))
            }
            DeviceChoice::Auto => match gpu(settings) {
                Ok(device) => {
                    let why = format!("{}, which the kernels were built for", device.name());
                    Ok((device, why))
                }
                Err(error) => {
                    let device = Self::emulator(settings)?;
                    let why = format!("{}: {}", device.name(), hip::short_reason(&error));
                    Ok((device, why))
                }
            },
        }
    }

    /// An emulator for the processor that `settings` or the manifests name.
    ///
    /// # Errors
    /// An unknown processor.
    pub fn emulator(settings: &Settings) -> Result<Self, DeviceError> {
        Ok(Self::Emulator(Arc::new(Emulator::new(settings)?)))
    }

    /// What it is: `the emulator (gfx90a)`, `AMD GPU 0 (gfx90a:sramecc+:xnack-)`.
    pub fn name(&self) -> String {
        match self {
            Self::Emulator(emulator) => format!("the emulator ({})", emulator.arch()),
            Self::Hip(gpu) => format!("AMD GPU {} ({})", gpu.ordinal(), gpu.target()),
        }
    }

    /// Whether kernels run in the emulator.
    pub const fn is_emulator(&self) -> bool {
        matches!(self, Self::Emulator(_))
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

    /// Zeroed memory.
    pub(crate) fn allocate(&self, bytes: usize, label: &str) -> Result<Allocation, DeviceError> {
        Ok(match self {
            Self::Emulator(emulator) => Allocation::new(emulator.clone(), emulator.allocate(bytes, label)?),
            Self::Hip(gpu) => Allocation::new(gpu.clone(), gpu.allocate(bytes)?),
        })
    }

    /// The settings that it was opened with.
    pub fn settings(&self) -> &Settings {
        match self {
            Self::Emulator(emulator) => emulator.settings(),
            Self::Hip(gpu) => gpu.settings(),
        }
    }

    /// The processor whose code objects it runs.
    pub fn cpu(&self) -> &str {
        match self {
            Self::Emulator(emulator) => emulator.arch().name(),
            Self::Hip(gpu) => gpu.cpu(),
        }
    }

    pub(crate) fn id(&self) -> u64 {
        use memory::DeviceMemory as _;
        match self {
            Self::Emulator(emulator) => emulator.device_id(),
            Self::Hip(gpu) => gpu.device_id(),
        }
    }

    pub(crate) fn launch(&self, request: &Request<'_>) -> Result<Outcome, LaunchError> {
        match self {
            Self::Emulator(emulator) => emulator.launch(request),
            Self::Hip(gpu) => gpu.launch(request),
        }
    }
}

/// What a launch gives back.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) report: Report,
    /// Wave-instructions of the original; `None` on a GPU.
    pub(crate) wave_instructions: Option<u64>,
    /// How long it takes, modelled, if that was asked for.
    pub(crate) timing: Option<ModelledLaunch>,
}
