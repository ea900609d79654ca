//! Code objects inside this program, put there by its build script (`amdinst-build`).

/// The code objects of a kernel package that the build script of this package has embedded, as an
/// [`Embedded`](crate::Embedded): `static KERNELS: harness::Embedded = harness::embedded!("my-kernels");`
#[macro_export]
macro_rules! embedded {
    ($package:literal) => {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/amdinst/", $package, ".rs"))
    };
}
