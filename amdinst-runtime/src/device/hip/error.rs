//! What can go wrong with the HIP runtime and its GPUs, and what to do about it.

use std::fmt;
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use hip_sys::LoadError;
use hip_sys::version::Version;
use thiserror::Error;

use crate::device::DeviceError;

/// A runtime's library, with its version if it tells one: `libamdhip64.so.5, HIP 5.2.21153`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Library {
    /// The name that it was found by.
    pub(crate) name: &'static str,
    /// Its version.
    pub(crate) version: Option<Version>,
}

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        self.version.map_or(Ok(()), |version| write!(f, ", {version}"))
    }
}

/// The driver's device file, through which a runtime reaches GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DriverFile {
    /// The driver's file is not there.
    Missing,
    /// The driver's file may not be opened.
    Denied,
    /// The driver's file can be opened.
    Open,
}

impl DriverFile {
    const PATH: &str = "/dev/kfd";

    /// What it is here.
    pub(super) fn look() -> Self {
        Self::look_at(Path::new(Self::PATH))
    }

    pub(super) fn look_at(path: &Path) -> Self {
        match File::options().read(true).write(true).open(path) {
            Ok(_) => Self::Open,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Self::Denied,
            Err(_) => Self::Missing,
        }
    }
}

impl fmt::Display for DriverFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => {
                "there is no /dev/kfd: no AMD GPU is in this machine, or its driver, amdgpu, is not loaded"
            }
            Self::Denied => {
                "/dev/kfd is there and may not be opened: become a member of the group that owns it (mostly `render`)"
            }
            Self::Open => {
                "/dev/kfd can be opened: are the GPUs hidden (HIP_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES), or unknown to this \
                 runtime?"
            }
        })
    }
}

/// What can go wrong with the HIP runtime and its devices.
#[derive(Clone, Debug, Error)]
pub(crate) enum HipError {
    /// The runtime is not installed.
    #[error(
        "there is no HIP runtime here: {0}\n  install ROCm (Debian: `apt-get install libamdhip64-5`) or add its directory to \
         LD_LIBRARY_PATH, or run on the emulator (`--device emu`)"
    )]
    NoLibrary(Arc<LoadError>),
    /// The runtime is there, and finds no GPU.
    #[error(
        "the HIP runtime ({library}) is here and finds no GPU: {call} says {code} {name}\n  {driver}\n  \
         run on the emulator (`--device emu`), or give HIP an emulated GPU (`cargo amdinst exec -- COMMAND`)"
    )]
    NoDevice {
        /// The library.
        library: Library,
        /// The driver's file.
        driver: DriverFile,
        /// The call that said so.
        call: &'static str,
        /// Its error code.
        code: u32,
        /// The code's name.
        name: String,
    },
    /// The GPUs are of other targets than the kernels were built for.
    #[error(
        "no GPU here runs these kernels: there is {}, and they are built for {}\n  \
         run `cargo amdinst test --target-cpu {}`, or on the emulator (`--device emu`)",
        devices.join(", "),
        built.join(", "),
        devices.first().map_or("…", |device| device.split(':').next().unwrap_or(device))
    )]
    OtherTarget {
        /// The GPUs' targets.
        devices: Vec<String>,
        /// What the kernels were built for.
        built: Vec<String>,
    },
    /// There is no GPU of the number that was asked for.
    #[error(
        "AMDINST_GPU={number}: the HIP runtime finds {}",
        match devices.len() { 1 => format!("one GPU, number 0 ({})", devices[0]), n => format!("{n} GPUs, numbers 0 to {}", n - 1) }
    )]
    NoSuchGpu {
        /// The number.
        number: u32,
        /// The GPUs' targets.
        devices: Vec<String>,
    },
    /// The runtime has no such function.
    #[error("the HIP runtime ({library}) has no function {function}; a version from 5 to 7 is needed")]
    MissingFunction {
        /// The library.
        library: Library,
        /// The function.
        function: &'static str,
    },
    /// The properties of a device are laid out in a way that we do not know.
    #[error(
        "the HIP runtime ({library}) describes its GPUs in a way that this program does not know: HIP 5 does so by \
         hipGetDeviceProperties alone, HIP 6 and later by hipGetDevicePropertiesR0600"
    )]
    UnknownLayout {
        /// The library.
        library: Library,
    },
    /// The runtime would crash.
    #[error(
        "{library} crashes when a kernel is launched that calls through pointers, as the formatting of numbers does: it takes the hidden \
         argument `hidden_completion_action` for a sign that the kernel enqueues others\n  \
         use HIP 5.7 or later, or run on the emulator (`--device emu`)"
    )]
    CompletionAction {
        /// The library.
        library: Library,
    },
    /// A call failed.
    #[error("{call} failed: {code} {name}")]
    Call {
        /// The function.
        call: &'static str,
        /// Its error code.
        code: u32,
        /// The code's name and meaning.
        name: String,
    },
}

/// Why `auto` took the emulator, in a few words.
pub(in crate::device) fn short_reason(error: &DeviceError) -> String {
    match error {
        DeviceError::Hip(HipError::NoLibrary(_)) => "there is no HIP runtime".to_owned(),
        DeviceError::Hip(HipError::NoDevice { library, .. }) => format!("{} finds no GPU", library.name),
        DeviceError::Hip(HipError::OtherTarget { devices, built }) => {
            format!("the GPU is {}, the kernels are built for {}", devices.join(", "), built.join(", "))
        }
        other => other.to_string(),
    }
}
