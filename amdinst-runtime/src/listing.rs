//! The machine code of a kernel, for tests that pin what the compiler made of it.

use amdgpu_isa::Target;
use amdinst_format::interface::LaunchFailure;

use crate::artifact_error::broken;
use crate::built::Built;

/// The instructions of a kernel as it was built, before any probe, one a line and as LLVM writes them.
/// Without addresses, so that a snapshot of it changes only when the code does.
///
/// # Errors
/// There is no such kernel, or a word of it is no instruction.
pub(crate) fn listing(built: &Built, kernel: &str) -> Result<String, LaunchFailure> {
    let object = &built.original;
    let target = Target { arch: object.target.arch, wave: built.wave_size(kernel)? };
    let kernel = built.kernel(kernel)?;
    let code = object.text_bytes();
    let (mut pc, mut text) = (kernel.code.start, String::new());
    while pc < kernel.code.end {
        let bytes = usize::try_from(pc - object.text.address).ok().and_then(|offset| code.get(offset..));
        let inst = amdgpu_isa::decode(target, bytes.unwrap_or_default())
            .map_err(|error| broken(&built.original_path, format!("at {pc:#x}: {error}")))?;
        text.push_str(&inst.text(target).to_string());
        text.push('\n');
        pc += u64::from(inst.size);
    }
    Ok(text)
}
