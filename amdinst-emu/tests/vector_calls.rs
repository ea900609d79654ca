//! The functions of the host's vector extensions are instructions of those that use them.
//!
//! A program of its own: crates that the loading of code needs have vector functions, too, which development
//! builds do not optimise.

#[path = "../benches/opcodes/trial.rs"]
#[expect(dead_code, reason = "a bench uses the rest")]
mod trial;

use amdgpu_isa::{Arch, Target, WaveSize, parse};
use amdinst_emu::{Vectors, WaveState};
use trial::Trial;

/// One that stands by itself is called, each time with its vectors through memory, from where its extensions
/// are not at hand: in a closure, most often.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "ELF files are read")]
fn vector_instructions_are_no_calls() {
    // The handlers of all instructions are in the program.
    let target = Target { arch: Arch::Gfx90a, wave: WaveSize::Wave64 };
    let inst = parse(target, "v_add_f32 v0, v1, v2").expect("an instruction");
    for level in Vectors::ALL.into_iter().filter(|level| level.is_available()) {
        let mut trial = Trial::new(target, &inst, level, WaveState::KERNEL_MODE).expect("a loop of it");
        trial.run(1).expect("it runs");
    }
    let bytes = std::fs::read(std::env::current_exe().expect("this test")).expect("its file");
    let elf = goblin::elf::Elf::parse(&bytes).expect("an ELF file");
    let names = elf.syms.iter().filter_map(|symbol| elf.strtab.get_at(symbol.st_name));
    let calls: Vec<&str> =
        names.filter(|name| name.contains("core_arch") && !name.contains("_xgetbv")).collect();
    assert!(calls.is_empty(), "stand by themselves: {calls:#?}");
}
