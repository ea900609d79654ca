//! Where kernels are launched.

mod beside;
mod element;
mod emulator;
pub(crate) mod hip;
mod history;
pub(crate) mod memory;
mod variables;

use std::sync::Arc;
use std::time::Duration;

use amdinst_core::printed::Printed;
use amdinst_core::report::run::Sampled;
use amdinst_core::report::why::LaunchOrigin;
use amdinst_core::report::{MemoryUse, Report};
use amdinst_format::interface::{Checks, DeviceChoice, Doubt, LaunchFailure, Settings, SettingsError};
use thiserror::Error;

use crate::artifact_error::ArtifactError;
use crate::request::Request;
use crate::timing::ModelledLaunch;

pub(crate) use emulator::Emulator;
pub(crate) use hip::{Gpu, HipError};
use memory::DeviceMemory as _;

/// A device, opened for one test: its memory is empty, and buffers of one test are unknown to another.
#[derive(Debug)]
pub(crate) enum Device {
    /// The emulator.
    Emulator(Arc<Emulator>),
    /// A GPU, through the HIP runtime.
    Hip(Arc<Gpu>),
}

/// Why a device could not be opened, or its memory not be used.
#[derive(Debug, Error)]
pub(crate) enum DeviceError {
    /// The HIP runtime or the GPU.
    #[error(transparent)]
    Hip(#[from] HipError),
    /// The emulator's memory.
    #[error(transparent)]
    Memory(#[from] amdinst_emu::MemoryError),
    /// The processor asked for is unknown.
    #[error(transparent)]
    Arch(#[from] amdgpu_isa::UnknownArch),
    /// The kernels' manifest is missing or broken.
    #[error(transparent)]
    Artifacts(#[from] ArtifactError),
    /// A setting with a value that means nothing.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The code objects that launches are to be run beside cannot be read.
    #[error("the code objects of AMDINST_BESIDE: {0}")]
    Beside(String),
}

impl Device {
    /// Opens the device that `settings` ask for, and says in a sentence which was taken and why.
    ///
    /// `auto` takes a GPU if the HIP runtime has one that the kernels were built for, and the emulator
    /// otherwise.
    ///
    /// # Errors
    /// With [`DeviceChoice::Hip`]: no runtime, no GPU, or one of another target than the kernels'.
    pub(crate) fn open(settings: &Settings) -> Result<(Self, String), DeviceError> {
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
            DeviceChoice::Auto if settings.check.is_some_and(Checks::any) => {
                let device = Self::emulator(settings)?;
                let why = format!("{}, which looks for {}", device.name(), settings.checks().text());
                Ok((device, why))
            }
            DeviceChoice::Auto if settings.memory => {
                let device = Self::emulator(settings)?;
                let why = format!("{}, which measures memory accesses", device.name());
                Ok((device, why))
            }
            DeviceChoice::Auto if settings.why => {
                let device = Self::emulator(settings)?;
                let why = format!("{}, which follows faults back", device.name());
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
    pub(crate) fn emulator(settings: &Settings) -> Result<Self, DeviceError> {
        Ok(Self::Emulator(Arc::new(Emulator::new(settings)?)))
    }

    /// What it is: `the emulator (gfx90a)`, `AMD GPU 0 (gfx90a:sramecc+:xnack-)`.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Emulator(emulator) => format!("the emulator ({})", emulator.arch()),
            Self::Hip(gpu) => format!("AMD GPU {} ({})", gpu.ordinal(), gpu.target()),
        }
    }

    /// Whether kernels run in the emulator.
    pub(crate) const fn is_emulator(&self) -> bool {
        matches!(self, Self::Emulator(_))
    }

    /// Zeroed memory: its address.
    pub(crate) fn allocate(&self, bytes: usize, label: &str) -> Result<u64, DeviceError> {
        Ok(match self {
            Self::Emulator(emulator) => emulator.allocate(bytes, label)?,
            Self::Hip(gpu) => gpu.allocate(bytes)?,
        })
    }

    /// Gives an allocation back.
    pub(crate) fn free(&self, address: u64) {
        match self {
            Self::Emulator(emulator) => emulator.free(address),
            Self::Hip(gpu) => gpu.free(address),
        }
    }

    /// Copies to the host.
    pub(crate) fn read(&self, address: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        match self {
            Self::Emulator(emulator) => emulator.read(address, into),
            Self::Hip(gpu) => gpu.read(address, into),
        }
    }

    /// Copies to the device.
    pub(crate) fn write(&self, address: u64, from: &[u8]) -> Result<(), DeviceError> {
        match self {
            Self::Emulator(emulator) => emulator.write(address, from),
            Self::Hip(gpu) => gpu.write(address, from),
        }
    }

    /// The settings that it was opened with.
    pub(crate) fn settings(&self) -> &Settings {
        match self {
            Self::Emulator(emulator) => emulator.settings(),
            Self::Hip(gpu) => gpu.settings(),
        }
    }

    /// The processor whose code objects it runs.
    pub(crate) fn cpu(&self) -> &str {
        match self {
            Self::Emulator(emulator) => emulator.arch().name(),
            Self::Hip(gpu) => gpu.cpu(),
        }
    }

    /// Where the byte at an address has its value from; `None` if none of the last launches has written it,
    /// and on a GPU, which cannot tell.
    ///
    /// # Errors
    /// What led there cannot be followed, in words.
    pub(crate) fn why(&self, address: u64) -> Result<Option<LaunchOrigin>, String> {
        match self {
            Self::Emulator(emulator) => emulator.why(address),
            Self::Hip(_) => Ok(None),
        }
    }

    pub(crate) fn launch(&self, request: &Request<'_>) -> Result<Outcome, LaunchFailure> {
        match self {
            Self::Emulator(emulator) => emulator.launch(request),
            Self::Hip(gpu) => gpu.launch(request),
        }
    }
}

impl From<DeviceError> for LaunchFailure {
    fn from(error: DeviceError) -> Self {
        Self::Device { message: error.to_string() }
    }
}

impl From<HipError> for LaunchFailure {
    fn from(error: HipError) -> Self {
        Self::Device { message: error.to_string() }
    }
}

/// What a launch gives back.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) report: Report,
    /// Wave-instructions of the original; `None` on a GPU.
    pub(crate) wave_instructions: Option<u64>,
    /// How long the GPU took; `None` on the emulator.
    pub(crate) elapsed: Option<Duration>,
    /// How long it takes, modelled, if that was asked for.
    pub(crate) timing: Option<ModelledLaunch>,
    /// What the memory instructions of the original asked for, if that was measured.
    pub(crate) memory: Option<MemoryUse>,
    /// What may be mistakes, and what was looked for in some workgroups only.
    pub(crate) doubts: Vec<Doubt>,
    pub(crate) sampled: Vec<Sampled>,
    /// What the kernel printed.
    pub(crate) printed: Printed,
}
