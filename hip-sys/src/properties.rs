//! The name of a device's target, from any runtime.
//!
//! `hipDeviceProp_t` changed its layout in ROCm 6; the new one is filled by `hipGetDevicePropertiesR0600`, and the old
//! symbol was kept for programs built before. So the old layout is the fallback, not the first choice.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use crate::{Hip, hipDeviceProp_t, hipError_t};

/// Byte offset of `gcnArchName` in `hipDeviceProp_tR0600` (x86-64): 1,160, counted from ROCm 6's field list.
const R0600_ARCH_NAME: usize = 1160;
/// Bytes handed to the runtime: the structure had 1,472 when this was written, and may grow.
const R0600_BYTES: usize = 8192;
/// Bytes of the name's field, in both layouts.
const ARCH_NAME_BYTES: usize = 256;

#[repr(C, align(16))]
struct R0600([u8; R0600_BYTES]);

/// Why a device's target is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertiesError {
    /// The runtime has neither function.
    Missing,
    /// The runtime refused.
    Hip(hipError_t),
    /// What stands where the name should be is no target's name: a layout that this crate does not know.
    Layout,
}

/// The target of device `device`, as the runtime spells it (`gfx90a:sramecc+:xnack-`).
///
/// # Errors
/// See [`PropertiesError`].
pub fn target_name(hip: &Hip, device: c_int) -> Result<String, PropertiesError> {
    if let Ok(get) = &hip.hipGetDevicePropertiesR0600 {
        let mut properties = Box::new(R0600([0; R0600_BYTES]));
        // SAFETY: the pointer is valid for writes of a buffer larger than the structure that the runtime fills.
        let error = unsafe { get((&raw mut *properties).cast(), device) };
        if error != hipError_t::hipSuccess {
            return Err(PropertiesError::Hip(error));
        }
        return name_in(&properties.0[R0600_ARCH_NAME..R0600_ARCH_NAME + ARCH_NAME_BYTES]);
    }
    let get = hip.hipGetDeviceProperties.as_ref().map_err(|_| PropertiesError::Missing)?;
    // Room behind the structure, should an intermediate runtime's be longer.
    let mut properties = MaybeUninit::<[hipDeviceProp_t; 4]>::zeroed();
    // SAFETY: the pointer is valid for writes of the structure.
    let error = unsafe { get(properties.as_mut_ptr().cast(), device) };
    if error != hipError_t::hipSuccess {
        return Err(PropertiesError::Hip(error));
    }
    // SAFETY: all-zero bytes are a valid value of the structure (integers and nullable pointers).
    let properties = unsafe { properties.assume_init() };
    name_in(&properties[0].gcnArchName.map(|byte| byte as u8))
}

/// The NUL-terminated name in `field`, if it is a target's.
fn name_in(field: &[u8]) -> Result<String, PropertiesError> {
    let name = field.split(|&byte| byte == 0).next().unwrap_or(field);
    match std::str::from_utf8(name) {
        Ok(name) if name.starts_with("gfx") => Ok(name.to_owned()),
        _ => Err(PropertiesError::Layout),
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
        assert_eq!(name_in(b"Radeon\0"), Err(PropertiesError::Layout));
        assert_eq!(name_in(&[0xff; 4]), Err(PropertiesError::Layout));
    }
}
