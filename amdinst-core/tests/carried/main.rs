//! Of a code object, what is no instruction goes along when it is instrumented: debug information, and the
//! form of an older version. LLVM 22's tools are the referee.

mod debug_info;
#[path = "../../../amdgpu-object/tests/support/once.rs"]
mod once;
#[path = "../../../amdgpu-object/tests/support/symbolized.rs"]
mod symbolized;
#[path = "../../../amdgpu-object/tests/support/tools.rs"]
mod tools;
#[path = "../../../amdgpu-object/tests/support/version2.rs"]
mod version2;
mod version_2;
