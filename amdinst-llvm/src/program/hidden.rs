//! Hidden arguments that no Rust kernel has a use for.
//!
//! In OpenCL a kernel starts kernels, with a queue and an action that its launcher passes. LLVM takes a
//! kernel that calls through pointers for one that may, and HIP 5.2 crashes when it launches such a kernel.
//! Rust has nothing that starts kernels.

/// LLVM's attributes of a function that starts none.
const NONE_STARTED: &str = "\"amdgpu-no-completion-action\" \"amdgpu-no-default-queue\"";

/// A program whose functions all have these attributes.
pub(crate) fn without_queues(ir: &str) -> String {
    let mut out = String::with_capacity(ir.len());
    for line in ir.split_inclusive('\n') {
        match line.trim_end().strip_suffix('}') {
            Some(group) if line.starts_with("attributes #") => {
                out.extend([group, NONE_STARTED, " }\n"]);
            }
            _ => out.push_str(line),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_says_so() {
        let ir =
            "define void @f() #0 {\n}\nattributes #0 = { nounwind \"target-cpu\"=\"gfx90a\" }\n!0 = !{}\n";
        assert_eq!(
            without_queues(ir),
            "define void @f() #0 {\n}\nattributes #0 = { nounwind \"target-cpu\"=\"gfx90a\" \
             \"amdgpu-no-completion-action\" \"amdgpu-no-default-queue\" }\n!0 = !{}\n"
        );
    }
}
