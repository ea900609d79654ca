//! What the attributes say to code that they cannot take: one program a file in `tests/ui`, its errors beside it.
//! `TRYBUILD=overwrite cargo test -p amdinst-macros` writes them anew.

#[test]
fn errors() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/fail/*.rs");
    cases.pass("tests/ui/pass/*.rs");
}
