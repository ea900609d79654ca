//! The functions that ours stand before.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// A function of the next library that has it, found when it is called first.
pub(super) struct Real {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Real {
    pub(super) const fn new(name: &'static CStr) -> Self {
        Self { name, address: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Its address; null if no library has it.
    pub(super) fn address(&self) -> *mut c_void {
        let known = self.address.load(Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: a name that ends with zero.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.address.store(found, Relaxed);
        found
    }
}

/// Exported functions of the C library, each with the function that it stands before at hand.
macro_rules! before {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty, or $none:expr;
        |$real:ident| $body:expr
    )*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// See the module.
            #[cfg_attr(feature = "preload", unsafe(no_mangle))]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
                static REAL: Real = Real::new(match CStr::from_bytes_with_nul(
                    concat!(stringify!($name), "\0").as_bytes(),
                ) {
                    Ok(name) => name,
                    Err(_) => c"",
                });
                let address = REAL.address();
                if address.is_null() {
                    fail(libc::ENOSYS);
                    return $none;
                }
                // SAFETY: the C library's function of that name has this type.
                let $real = unsafe {
                    std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($type),*) -> $result>(address)
                };
                // SAFETY: what the caller vouches for.
                unsafe { $body }
            }
        )*
    };
}

pub(super) use before;
