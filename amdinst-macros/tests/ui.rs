//! What the attributes say to code that they cannot take, and the compiler to arguments that do not fit the
//! kernels: one program a file in `tests/ui`, its errors beside it.
//! `TRYBUILD=overwrite cargo test -p amdinst-macros` writes them anew.
//!
//! Launches are the harness's, but tried here: there, the emulator in the workspace's programs would be
//! compiled once more. What compiles is in a test of its own: with one such program here, all crates that
//! these use would be compiled, not only checked.

#[test]
fn errors() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/fail/*.rs");
    cases.compile_fail("tests/ui/launch/*.rs");
}
