//! Definitions of what the program only names.

pub(crate) mod declared_lds;
pub mod device_libraries;
pub(crate) mod library_calls;
pub(crate) mod support;
