//! Bindings to the HIP runtime, loaded at run time, so that building needs no ROCm.
//!
//! [`Hip::load`] looks for the runtime's shared library and gives a table of the functions that it found;
//! each entry is a `Result`, for older and newer runtimes lack some. The table and its types are generated
//! from HIP 5.2's headers (`cargo xtask bindgen`); which runtime it is, [`version`] tells, and what a later
//! one changed is in [`properties`].

use std::ffi::c_void;

#[rustfmt::skip]
#[expect(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    clippy::all,
    reason = "generated"
)]
mod bindings;
pub mod properties;
pub mod version;

pub use bindings::*;

/// The names under which the runtime's library is looked for, the newest first. The bare name is that of the
/// development package's link; the numbered ones are those of ROCm 7, 6 and 5.
pub const LIBRARY_NAMES: [&str; 4] =
    ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"];

/// Marks the kernarg buffer's address in the `extra` argument of `hipModuleLaunchKernel`.
pub const HIP_LAUNCH_PARAM_BUFFER_POINTER: *mut c_void = std::ptr::without_provenance_mut(1);
/// Marks the address of the kernarg buffer's size in `extra`.
pub const HIP_LAUNCH_PARAM_BUFFER_SIZE: *mut c_void = std::ptr::without_provenance_mut(2);
/// Ends `extra`.
pub const HIP_LAUNCH_PARAM_END: *mut c_void = std::ptr::without_provenance_mut(3);

/// Why the runtime could not be loaded: the names tried, and the loader's answer for each.
#[derive(Debug)]
pub struct LoadError {
    /// Each name tried with the loader's message.
    pub tried: Vec<(String, String)>,
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the HIP runtime's library could not be loaded; tried")?;
        for (name, message) in &self.tried {
            write!(f, "\n  {name}: {message}")?;
        }
        Ok(())
    }
}

impl std::error::Error for LoadError {}

impl Hip {
    /// Loads the runtime by the first of [`LIBRARY_NAMES`] that the dynamic loader finds, and says which.
    ///
    /// # Errors
    /// The loader's answer for every name.
    pub fn load() -> Result<(Self, &'static str), LoadError> {
        let mut tried = Vec::new();
        for name in LIBRARY_NAMES {
            // SAFETY: loading runs the library's initialisers; under these names only a HIP runtime is
            // installed.
            match unsafe { Self::new(name) } {
                Ok(hip) => return Ok((hip, name)),
                Err(error) => {
                    // The loader's own words stand behind "dlopen failed".
                    let source = std::error::Error::source(&error).map(ToString::to_string);
                    tried.push((name.to_owned(), source.unwrap_or_else(|| error.to_string())));
                }
            }
        }
        Err(LoadError { tried })
    }
}
