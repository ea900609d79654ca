//! Bindings to the HIP runtime, loaded at run time.
