//! What the compiler says of arguments that do not fit: one program a file in `tests/ui`, its errors beside it.
//! `TRYBUILD=overwrite cargo test -p amdinst-harness --test ui` writes them anew.

#[test]
fn errors() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
