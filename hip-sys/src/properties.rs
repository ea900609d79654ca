//! The name of a device's target, from any runtime.
//!
//! `hipDeviceProp_t` changed its layout in HIP 6. There, `hipGetDevicePropertiesR0600` fills the new one, and
//! `hipGetDeviceProperties` is kept, with the old one, for programs built before; HIP 5 has that alone. Which
//! layout a function fills is told by its name and by the runtime's version, and a structure is read only
//! where the two agree.
//!
//! Of what a launch through HIP uses, only this differs between HIP 5, 6 and 7. Tests build runtimes in C
//! that differ as those do (`tests/stub`).

use std::ffi::c_int;
use std::mem::MaybeUninit;

use crate::version::Version;
use crate::{Hip, hipDeviceProp_t, hipError_t};

/// Byte offset of `gcnArchName` in `hipDeviceProp_tR0600` (x86-64).
const R0600_ARCH_NAME: usize = 1160;
/// Bytes handed to the runtime: the structure has 1,472, with reserved ones in it, and a later one may have
/// more.
const R0600_BYTES: usize = 8192;
/// Bytes of the name's field, in both layouts.
const ARCH_NAME_BYTES: usize = 256;
/// The first runtime with the new layout.
const FIRST_R0600: u32 = 6;

#[repr(C, align(16))]
struct R0600([u8; R0600_BYTES]);

/// How a runtime describes its devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The layout of HIP 5, by `hipGetDeviceProperties`.
    R0000,
    /// The layout of HIP 6 and later, by `hipGetDevicePropertiesR0600`.
    R0600,
}

/// Why a device's target is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertiesError {
    /// The runtime has neither function.
    Missing,
    /// The runtime refused.
    Hip(hipError_t),
    /// The runtime's functions are not those of its version, so the layout that they fill is unknown.
    Layout(Option<Version>),
    /// The text at the place of the name is no target's name.
    Name,
}

impl Layout {
    /// The layout that a runtime's devices are described in.
    ///
    /// # Errors
    /// It has no such function, or not the one that its version must have.
    pub fn of(hip: &Hip) -> Result<Self, PropertiesError> {
        let version = Version::of(hip);
        let (new, old) = (hip.hipGetDevicePropertiesR0600.is_ok(), hip.hipGetDeviceProperties.is_ok());
        match version.map(|version| version.major) {
            _ if !new && !old => Err(PropertiesError::Missing),
            // The layout is in the function's name, whatever comes after the versions that are known.
            None | Some(FIRST_R0600..) if new => Ok(Self::R0600),
            Some(1..FIRST_R0600) if old && !new => Ok(Self::R0000),
            _ => Err(PropertiesError::Layout(version)),
        }
    }
}

/// The target of device `device`, as the runtime spells it (`gfx90a:sramecc+:xnack-`).
///
/// # Errors
/// See [`PropertiesError`].
pub fn target_name(hip: &Hip, device: c_int) -> Result<String, PropertiesError> {
    match Layout::of(hip)? {
        Layout::R0600 => {
            let get = hip.hipGetDevicePropertiesR0600.as_ref().map_err(|_| PropertiesError::Missing)?;
            let mut properties = Box::new(R0600([0; R0600_BYTES]));
            // SAFETY: the pointer is valid for writes of a buffer larger than the structure that the runtime
            // fills.
            check(unsafe { get((&raw mut *properties).cast(), device) })?;
            name_in(&properties.0[R0600_ARCH_NAME..R0600_ARCH_NAME + ARCH_NAME_BYTES])
        }
        Layout::R0000 => {
            let get = hip.hipGetDeviceProperties.as_ref().map_err(|_| PropertiesError::Missing)?;
            let mut properties = MaybeUninit::<hipDeviceProp_t>::zeroed();
            // SAFETY: the pointer is valid for writes of the structure.
            check(unsafe { get(properties.as_mut_ptr(), device) })?;
            // SAFETY: all-zero bytes are a valid value of the structure (integers and nullable pointers).
            let properties = unsafe { properties.assume_init() };
            name_in(&properties.gcnArchName.map(|byte| byte as u8))
        }
    }
}

fn check(error: hipError_t) -> Result<(), PropertiesError> {
    if error == hipError_t::hipSuccess { Ok(()) } else { Err(PropertiesError::Hip(error)) }
}

/// The NUL-terminated name in `field`, if it is a target's.
fn name_in(field: &[u8]) -> Result<String, PropertiesError> {
    let name = field.split(|&byte| byte == 0).next().unwrap_or(field);
    match std::str::from_utf8(name) {
        Ok(name) if name.starts_with("gfx") => Ok(name.to_owned()),
        _ => Err(PropertiesError::Name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_to_the_first_nul_and_only_if_they_are_targets() {
        let mut field = [0_u8; ARCH_NAME_BYTES];
        field[..22].copy_from_slice(b"gfx90a:sramecc+:xnack-");
        assert_eq!(name_in(&field).as_deref(), Ok("gfx90a:sramecc+:xnack-"));
        assert_eq!(name_in(b"Radeon\0"), Err(PropertiesError::Name));
        assert_eq!(name_in(&[0xff; 4]), Err(PropertiesError::Name));
    }

    /// The old layout, counted in the headers of HIP 4.5 to 5.7: 792 bytes, the name at 396.
    #[test]
    fn the_old_layout_is_that_of_the_headers() {
        assert_eq!(size_of::<hipDeviceProp_t>(), 792);
        assert_eq!(std::mem::offset_of!(hipDeviceProp_t, gcnArchName), 396);
    }
}
