//! Machine instructions as LLVM's disassembler holds them: opcode names and operands, from
//! `llvm-mc -show-inst`.

use std::collections::HashMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use amdgpu_isa::Target;
use anyhow::{Context as _, Result};

use crate::attributes_with_halves;

/// An instruction by LLVM's own names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct McInst {
    /// Name of its opcode: `V_ADD_U32_e32_gfx9`.
    pub(super) opcode: String,
    pub(super) operands: Vec<McOperand>,
}

/// An operand of an `MCInst`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum McOperand {
    /// A register by the name of its definition: `SGPR0_SGPR1`.
    Register(String),
    /// A number, as printed.
    Immediate(String),
}

/// Instructions given to one run of the disassembler.
const BATCH: usize = 5_000;

/// LLVM's view of instructions of one processor, in waves of one size, by their bytes. `None` where LLVM
/// takes them for none.
#[derive(Debug)]
pub(super) struct McInsts {
    target: Target,
    known: HashMap<Vec<u8>, Option<McInst>>,
}

impl McInsts {
    pub(super) fn new(target: Target) -> Self {
        Self { target, known: HashMap::new() }
    }

    /// Looks up what is not known yet.
    pub(super) fn learn<'a>(&mut self, instructions: impl Iterator<Item = &'a [u8]>) -> Result<()> {
        let mut wanted: Vec<Vec<u8>> = Vec::new();
        for bytes in instructions {
            if !self.known.contains_key(bytes) {
                self.known.insert(bytes.to_vec(), None);
                wanted.push(bytes.to_vec());
            }
        }
        for batch in wanted.chunks(BATCH) {
            self.learn_batch(batch)?;
        }
        Ok(())
    }

    pub(super) fn get(&self, bytes: &[u8]) -> Option<&McInst> {
        self.known.get(bytes)?.as_ref()
    }

    /// A batch in which LLVM refuses something does not tell what: it is halved until it does.
    fn learn_batch(&mut self, batch: &[Vec<u8>]) -> Result<()> {
        let found = self.disassemble(batch)?;
        if found.len() == batch.len() {
            for (bytes, inst) in batch.iter().zip(found) {
                self.known.insert(bytes.clone(), Some(inst));
            }
        } else if batch.len() > 1 {
            let (first, second) = batch.split_at(batch.len() / 2);
            self.learn_batch(first)?;
            self.learn_batch(second)?;
        }
        Ok(())
    }

    fn disassemble(&self, batch: &[Vec<u8>]) -> Result<Vec<McInst>> {
        let mut child = Command::new("llvm-mc-22")
            .args(["-disassemble", "-triple=amdgcn-amd-amdhsa", "-show-inst"])
            .arg(format!("-mcpu={}", self.target.arch))
            .arg(format!("-mattr={}", attributes_with_halves(self.target).join(",")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("running llvm-mc-22 (apt-get install llvm-22)")?;
        let input: String = batch
            .iter()
            .map(|bytes| bytes.iter().map(|byte| format!("{byte:#04x} ")).collect::<String>() + "\n")
            .collect();
        let mut stdin = child.stdin.take().context("llvm-mc-22 has no standard input")?;
        let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
        let output = child.wait_with_output()?;
        // It stops reading where it crashes; then there are fewer instructions than asked for.
        let _ = writer.join();
        Ok(parse(&String::from_utf8_lossy(&output.stdout)))
    }
}

/// Reads `<MCInst #1 NAME` … `<MCOperand Reg:X>`.
fn parse(text: &str) -> Vec<McInst> {
    let mut found: Vec<McInst> = Vec::new();
    for line in text.lines() {
        if let Some((_, head)) = line.split_once("<MCInst #") {
            let opcode = head.split(' ').nth(1).unwrap_or_default().trim_end_matches('>').to_owned();
            found.push(McInst { opcode, operands: Vec::new() });
        } else if let Some((_, operand)) = line.split_once("<MCOperand ")
            && let Some(inst) = found.last_mut()
        {
            let (kind, value) = operand.trim_end_matches('>').split_once(':').unwrap_or(("", operand));
            inst.operands.push(match kind {
                "Reg" => McOperand::Register(value.to_owned()),
                _ => McOperand::Immediate(number(value)),
            });
        }
    }
    found
}

/// Literals are printed as expressions: `(lit(0xffffffff))`.
fn number(text: &str) -> String {
    let digits = text.trim_matches(['(', ')']);
    let digits = digits.strip_prefix("lit64(").or(digits.strip_prefix("lit(")).unwrap_or(digits);
    match digits.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
        Some(value) => (value as i64).to_string(),
        None => digits.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_read() {
        let text = "\ts_and_saveexec_b64 s[0:1], vcc          ; <MCInst #33330 S_AND_SAVEEXEC_B64_vi
                                        ;  <MCOperand Reg:SGPR0_SGPR1>
                                        ;  <MCOperand Reg:VCC>>
\ts_endpgm                                ; <MCInst #1 S_ENDPGM_vi
                                        ;  <MCOperand Imm:0>>\n";
        let found = parse(text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].opcode, "S_AND_SAVEEXEC_B64_vi");
        assert_eq!(found[0].operands[1], McOperand::Register("VCC".to_owned()));
        assert_eq!(found[1].operands, [McOperand::Immediate("0".to_owned())]);
    }
}
