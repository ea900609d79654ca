//! What an instruction is stands in its signature, not in the way its mnemonic is spelled: no code that
//! decodes, executes or instruments asks for a mnemonic's text, but where a person is to read it.

#[path = "support/files.rs"]
mod files;

use std::path::Path;

use files::sources;

/// Where mnemonics are read or written as text.
const TEXT: [&str; 8] = [
    "amdgpu-isa/src/op.rs",
    "amdgpu-isa/src/opcodes.rs",
    "amdgpu-isa/src/parse/",
    "amdgpu-isa/src/text/",
    // Names of a generation for opcodes that others call otherwise.
    "amdgpu-isa/src/encoding/table.rs",
    // Messages.
    "amdgpu-isa/src/error.rs",
    "amdinst-core/src/instrument/emit/stub.rs",
    "amdinst-emu/src/check/mod.rs",
];

/// Ways to the text of an opcode.
const WAYS: [&str; 6] =
    ["op.name()", "op().name()", "op.to_string()", "op().to_string()", "mnemonic()", "entry.name"];

/// Lines of product code that take one of these ways: what stands before a file's tests, comments aside.
fn taken(source: &str) -> impl Iterator<Item = &str> {
    let product = source.split("#[cfg(test)]\nmod ").next().unwrap_or(source);
    let code = product.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.filter(|line| WAYS.iter().any(|way| line.contains(way)))
}

#[test]
fn no_code_asks_how_a_mnemonic_is_spelled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    let mut wrong = Vec::new();
    let (mut files, mut exceptions) = (0, 0);
    let rooms = ["amdgpu-isa", "amdinst-core", "amdinst-emu"];
    for (path, source) in rooms.iter().flat_map(|room| sources(&root.join(room).join("src"))) {
        let name = path.strip_prefix(root).expect("in the workspace").to_string_lossy();
        files += 1;
        for line in taken(&source) {
            if TEXT.iter().any(|text| name.starts_with(text)) {
                exceptions += 1;
            } else {
                wrong.push(format!("{name}: {}", line.trim()));
            }
        }
    }
    assert!(files > 300 && exceptions > 5, "{files} files, {exceptions} places");
    assert!(
        wrong.is_empty(),
        "an action, a family or a list of opcodes says it better:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn the_text_of_an_opcode_is_noticed() {
    let source = "fn f(op: Op) -> bool {\n    // op.name()\n    op.name().starts_with(\"v_\")\n}\n";
    assert_eq!(taken(source).count(), 1);
    let tested = format!("\n#[cfg(test)]\nmod tests {{\n    {source}}}\n");
    assert_eq!(taken(&tested).count(), 0);
}
