//! The HIP runtime, loaded once for the process.

use std::ffi::{CStr, c_int};
use std::sync::{Arc, OnceLock};

use hip_sys::properties::PropertiesError;
use hip_sys::version::Version;
use hip_sys::{Hip, LoadError, hipError_t};

use super::error::{DriverFile, HipError, Library};

/// The runtime, loaded once for the process.
pub(super) struct Runtime {
    pub(super) hip: Hip,
    pub(super) library: Library,
}

/// Calls a function of the runtime's table; a missing function and a code other than success are errors.
///
/// The caller's `unsafe` block vouches for the arguments, as HIP's documentation asks of them.
macro_rules! call {
    ($runtime:expr, $function:ident($($argument:expr),* $(,)?)) => {
        match &$runtime.hip.$function {
            Ok(function) => $runtime.check(stringify!($function), function($($argument),*)),
            Err(_) => Err(HipError::MissingFunction { library: $runtime.library, function: stringify!($function) }),
        }
    };
}

pub(super) use call;

impl Runtime {
    /// The runtime of this process.
    pub(super) fn get() -> Result<&'static Self, HipError> {
        static RUNTIME: OnceLock<Result<Runtime, Arc<LoadError>>> = OnceLock::new();
        let load = || match Hip::load() {
            Ok((hip, name)) => {
                let library = Library { name, version: Version::of(&hip) };
                Ok(Self { hip, library })
            }
            Err(error) => Err(Arc::new(error)),
        };
        RUNTIME.get_or_init(load).as_ref().map_err(|error| HipError::NoLibrary(error.clone()))
    }

    pub(super) fn check(&self, call: &'static str, error: hipError_t) -> Result<(), HipError> {
        if error == hipError_t::hipSuccess {
            return Ok(());
        }
        Err(HipError::Call { call, code: error.0, name: self.describe(error) })
    }

    /// `hipErrorNoDevice (no ROCm-capable device is detected)`.
    fn describe(&self, error: hipError_t) -> String {
        // SAFETY: both functions give static strings for any code.
        let (name, meaning) = unsafe {
            (
                self.hip.hipGetErrorName.as_ref().ok().map(|name| name(error)),
                self.hip.hipGetErrorString.as_ref().ok().map(|meaning| meaning(error)),
            )
        };
        let text = |pointer: Option<*const std::ffi::c_char>| {
            // SAFETY: as above; static and NUL-terminated unless null.
            pointer.filter(|pointer| !pointer.is_null()).map(|pointer| unsafe { CStr::from_ptr(pointer) })
        };
        match (text(name), text(meaning)) {
            (Some(name), Some(meaning)) if name != meaning => {
                format!("{} ({})", name.to_string_lossy(), meaning.to_string_lossy())
            }
            (Some(name), _) => name.to_string_lossy().into_owned(),
            (None, _) => "unknown error".to_owned(),
        }
    }

    /// The targets of its GPUs, in the runtime's order.
    pub(super) fn targets(&self) -> Result<Vec<String>, HipError> {
        let no_device = |error| match error {
            HipError::Call { call, code, name } => {
                HipError::NoDevice { library: self.library, driver: DriverFile::look(), call, code, name }
            }
            other => other,
        };
        let mut count = 0;
        // SAFETY: flags are zero, as they must be; the pointer is valid for a write.
        unsafe {
            call!(self, hipInit(0)).map_err(no_device)?;
            call!(self, hipGetDeviceCount(&raw mut count)).map_err(no_device)?;
        }
        if count == 0 {
            let (call, name) = ("hipGetDeviceCount", "success, with a count of 0".to_owned());
            let (library, driver) = (self.library, DriverFile::look());
            return Err(HipError::NoDevice { library, driver, call, code: 0, name });
        }
        (0..count).map(|ordinal| self.target(ordinal)).collect()
    }

    fn target(&self, ordinal: c_int) -> Result<String, HipError> {
        let function = "hipGetDeviceProperties";
        hip_sys::properties::target_name(&self.hip, ordinal).map_err(|error| match error {
            PropertiesError::Missing => HipError::MissingFunction { library: self.library, function },
            PropertiesError::Hip(error) => {
                HipError::Call { call: function, code: error.0, name: self.describe(error) }
            }
            PropertiesError::Layout(_) | PropertiesError::Name => {
                HipError::UnknownLayout { library: self.library }
            }
        })
    }
}
