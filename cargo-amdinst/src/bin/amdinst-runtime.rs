//! The runtime, a shared library that is installed beside the command (see `build.rs`): all that is in it is
//! [`amdinst_runtime`]'s.

#![no_main]

use amdinst_runtime as _;

// Whoever starts it as a program gets a line instead of a crash. There is no dynamic loader then, so nothing
// may be called but the system itself: write(2, text, its length), exit_group(2).
std::arch::global_asm!(
    ".globl amdinst_runtime_started",
    ".hidden amdinst_runtime_started",
    "amdinst_runtime_started:",
    "mov eax, 1",
    "mov edi, 2",
    "lea rsi, [rip + 2f]",
    "lea rdx, [rip + 3f]",
    "sub rdx, rsi",
    "syscall",
    "mov eax, 231",
    "mov edi, 2",
    "syscall",
    ".section .rodata.amdinst_runtime_started, \"a\"",
    "2: .ascii \"amdinst-runtime is a library that cargo-amdinst and tests load: run `cargo amdinst --help`\\n\"",
    "3:",
    ".text",
);
