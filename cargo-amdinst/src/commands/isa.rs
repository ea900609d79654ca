//! `cargo amdinst isa`: a processor's opcodes, and how faithfully the emulator executes each.

use std::fmt::Write as _;

use amdgpu_isa::{Arch, UnknownArch, opcodes};
use amdinst_emu::fidelity;
use serde::Serialize;

use crate::cli::{Format, IsaArgs};
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};
use crate::output;

/// Version of the JSON form.
pub const SCHEMA: u32 = 1;

/// A processor's opcodes: the JSON form.
#[derive(Debug, Serialize)]
pub struct IsaView {
    /// [`SCHEMA`].
    pub schema: u32,
    /// LLVM's name of the processor.
    pub target_cpu: &'static str,
    /// Opcodes executed to the bit.
    pub exact: usize,
    /// Opcodes whose results may differ from a device's.
    pub approximate: usize,
    /// Opcodes that are not executed.
    pub unsupported: usize,
    /// Every opcode that was asked for, by encoding and number.
    pub opcodes: Vec<OpcodeView>,
}

/// One opcode.
#[derive(Debug, Serialize)]
pub struct OpcodeView {
    /// The manual's name of the encoding, in lower case.
    pub encoding: &'static str,
    /// The opcode field's value.
    pub opcode: u16,
    /// The mnemonic as LLVM prints it.
    pub mnemonic: String,
    /// `exact`, `approximate` or `unsupported`.
    pub fidelity: &'static str,
    /// By how much a result may differ, or why there is none.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub remark: &'static str,
}

impl IsaView {
    /// The opcodes of a processor whose mnemonics contain `name`.
    pub fn new(arch: Arch, name: &str) -> Self {
        let wanted = opcodes(arch).filter(|opcode| opcode.mnemonic().contains(name));
        let opcodes: Vec<OpcodeView> = wanted
            .map(|opcode| {
                let fidelity = fidelity::of(opcode);
                OpcodeView {
                    encoding: opcode.encoding().name(),
                    opcode: opcode.number(),
                    mnemonic: opcode.mnemonic(),
                    fidelity: fidelity.name(),
                    remark: fidelity.remark(),
                }
            })
            .collect();
        let count = |fidelity| opcodes.iter().filter(|opcode| opcode.fidelity == fidelity).count();
        Self {
            schema: SCHEMA,
            target_cpu: arch.name(),
            exact: count("exact"),
            approximate: count("approximate"),
            unsupported: count("unsupported"),
            opcodes,
        }
    }

    /// The text for people: a line an opcode, then the sums.
    pub fn human(&self) -> String {
        let mut text = String::new();
        for OpcodeView { encoding, opcode, mnemonic, fidelity, remark } in &self.opcodes {
            let line = format!("{encoding:<10} {opcode:>4}  {mnemonic:<34} {fidelity:<11}  {remark}");
            let _ = writeln!(text, "{}", line.trim_end());
        }
        let Self { target_cpu, exact, approximate, unsupported, .. } = self;
        let _ = writeln!(
            text,
            "{target_cpu}: {}, {exact} exact, {approximate} approximate, {unsupported} unsupported",
            amdinst_text::count(self.opcodes.len(), "opcode")
        );
        text
    }
}

/// Runs the command.
///
/// # Errors
/// When there is no such processor.
pub fn run(args: &IsaArgs) -> CommandResult {
    let known = Arch::from_name(&args.target_cpu);
    let arch = known.ok_or(UnknownArch::Unknown(args.target_cpu.clone())).or_exit(Exit::Usage)?;
    let name = args.name.as_deref().unwrap_or_default();
    let view = IsaView::new(arch, name);
    if view.opcodes.is_empty() {
        let message = format!("{} has no opcode whose mnemonic contains `{name}`", arch.name());
        return Err(Failure::msg(Exit::Usage, message));
    }
    match args.format {
        Format::Json => output::print_json(&view)?,
        Format::Human => output::print(&view.human())?,
    }
    Ok(Exit::Success)
}
