//! Opcodes that may be slow, and why.

use amdgpu_isa::Opcode;

/// Why an opcode takes more time than its work explains; `None`: it should not.
pub(crate) fn reason(_opcode: Opcode) -> Option<&'static str> {
    None
}
