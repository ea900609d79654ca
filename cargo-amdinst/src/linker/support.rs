//! Definitions that Rust cannot express, as textual IR.

use std::fmt::Write as _;

use super::records::Records;

/// The workgroup barrier of `amdinst_device::barrier`. Rust's fences are of system scope, which on gfx90a and later
/// writes back and invalidates caches that no wave of the workgroup needs; these wait for LDS and memory only.
const BARRIER: &str = r#"
define hidden void @__amdinst_workgroup_barrier() alwaysinline convergent nounwind {
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  ret void
}
declare void @llvm.amdgcn.s.barrier()
"#;

/// The module to link with a program that has `records`.
pub(super) fn module(records: &Records) -> String {
    let mut ir = String::from("target triple = \"amdgcn-amd-amdhsa\"\n");
    if !records.probes.is_empty() {
        // A section that is not loaded: probes must not move a single address of the kernel.
        ir.push_str("module asm \".section .amdinst.probes,\\22\\22,@progbits\"\n");
        for line in &records.probes {
            let _ = writeln!(
                ir,
                "module asm \"{}\"",
                escaped(&format!(".ascii \"{}\\n\"", assembler_text(line)))
            );
        }
    }
    for (index, variable) in records.shared.iter().enumerate() {
        let (symbol, size, align) = (escaped(&variable.symbol), variable.size, variable.align);
        let (linkage, initialiser) = match size {
            // LDS of no size is LLVM's way to say that the launcher decides.
            0 => ("external", ""),
            _ => ("internal", " poison"),
        };
        let _ = write!(
            ir,
            "\n@__amdinst_lds.{index} = {linkage} addrspace(3) global [{size} x i8]{initialiser}, align {align}\n\
             define hidden ptr @\"{symbol}\"() alwaysinline nounwind {{\n  \
             ret ptr addrspacecast (ptr addrspace(3) @__amdinst_lds.{index} to ptr)\n}}\n"
        );
    }
    ir.push_str(BARRIER);
    ir
}

/// A string of textual IR.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b' '..=b'~' if byte != b'"' && byte != b'\\' => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\{byte:02X}");
            }
        }
    }
    out
}

/// A string of GNU assembler.
fn assembler_text(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b' '..=b'~' if byte != b'"' && byte != b'\\' => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\{byte:03o}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linker::records::SharedVariable;

    #[test]
    fn lds_and_probes() {
        let records = Records {
            probes: ["1\t\"x\"".to_owned()].into(),
            shared: vec![
                SharedVariable { symbol: "s".to_owned(), size: 64, align: 16 },
                SharedVariable { symbol: "d".to_owned(), size: 0, align: 4 },
            ],
            ..Records::default()
        };
        let ir = module(&records);
        assert!(ir.contains("internal addrspace(3) global [64 x i8] poison, align 16"), "{ir}");
        assert!(ir.contains("external addrspace(3) global [0 x i8], align 4"), "{ir}");
        assert!(ir.contains(r#"module asm ".ascii \221\5C011\5C042x\5C042\5Cn\22""#), "{ir}");
    }
}
