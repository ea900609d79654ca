//! Both licences ask for their text beside the code, so each package that is published has it: links that
//! cargo follows when it packs.

use std::path::Path;

#[test]
fn each_published_package_has_both_texts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let text = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    let workspace = text(&root.join("Cargo.toml"));
    let members = workspace.split("members = [").nth(1).and_then(|rest| rest.split(']').next()).unwrap();
    let members = members.split('"').skip(1).step_by(2);
    let published: Vec<_> = members
        .filter(|member| !text(&root.join(member).join("Cargo.toml")).contains("publish = false"))
        .collect();
    assert!(published.contains(&"cargo-amdinst") && !published.contains(&"xtask"), "{published:?}");
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let whole = text(&root.join(licence));
        assert!(!whole.is_empty());
        for member in &published {
            assert!(text(&root.join(member).join(licence)) == whole, "{member} has no {licence}");
        }
    }
}
