//! Mutators that know what a code object is made of: of random bytes, nearly none would get beyond its head.

use amdgpu_isa::{Opcode, opcodes};
use amdgpu_object::CodeObject;

use crate::dice::Dice;

/// Bytes of the kernel descriptor.
const DESCRIPTOR: usize = 64;

/// Changes a file in a few places.
pub fn mutate(bytes: &mut Vec<u8>, dice: &mut Dice) {
    for _ in 0..1 + dice.roll(3) {
        once(bytes, dice);
    }
}

fn once(bytes: &mut Vec<u8>, dice: &mut Dice) {
    if bytes.is_empty() {
        bytes.push(dice.word() as u8);
        return;
    }
    // What was damaged before may be no code object any more.
    let object = CodeObject::parse(bytes.clone()).ok().filter(|object| object.text.range.len() >= 8);
    match (object, dice.roll(16)) {
        (Some(object), 0..9) => code(bytes, &object, dice),
        (Some(object), 9..11) => descriptor(bytes, &object, dice),
        (_, 11) => header(bytes, dice),
        (_, 12) => metadata(bytes, dice),
        (_, 13) => {
            let at = dice.roll(bytes.len());
            number(bytes, at / 8 * 8, dice);
        }
        (_, 14) => bytes.truncate(dice.roll(bytes.len() + 1)),
        _ => {
            let at = dice.roll(bytes.len());
            bytes[at] ^= 1 << dice.roll(8);
        }
    }
}

/// Instructions: another one, of the same operands, in another place, with a bit that is not its own.
fn code(bytes: &mut [u8], object: &CodeObject, dice: &mut Dice) {
    let text = object.text.range.clone();
    // Where kernels begin, for most of the text may be padding.
    let kernel = (!object.kernels.is_empty()).then(|| dice.pick(&object.kernels).code.clone());
    let area = kernel.and_then(|code| {
        let start = text.start + code.start.checked_sub(object.text.address)? as usize;
        let end = start + (code.end - code.start) as usize;
        (start < end && end <= text.end && end <= bytes.len()).then_some(start..end)
    });
    let area = area.unwrap_or(text);
    let dwords = area.len() / 4;
    if dwords < 2 || area.end > bytes.len() {
        return;
    }
    let [at, other] = [0; 2].map(|_| area.start + 4 * dice.roll(dwords));
    match dice.roll(8) {
        0..2 => bytes[at + dice.roll(4)] ^= 1 << dice.roll(8),
        2 => bytes.copy_within(other..other + 4, at),
        3 => (0..4).for_each(|byte| bytes.swap(at + byte, other + byte)),
        // An operand.
        4 => bytes[at] = dice.word() as u8,
        // A branch, an offset, a constant.
        5 => {
            let value = *dice.pick(&[0u16, 1, 2, 7, 0x7fff, 0x8000, 0xfff0, 0xffff]);
            bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
        }
        _ => {
            let all: Vec<Opcode> = opcodes(object.target.arch).collect();
            let Ok(inst) = dice.pick(&all).plain() else { return };
            let Ok(words) = inst.encode(object.target.arch) else { return };
            for (word, place) in words.iter().zip((at..area.end.saturating_sub(3)).step_by(4)) {
                bytes[place..place + 4].copy_from_slice(&word.to_le_bytes());
            }
        }
    }
}

/// What a kernel's descriptor says of it.
fn descriptor(bytes: &mut [u8], object: &CodeObject, dice: &mut Dice) {
    if object.kernels.is_empty() {
        return;
    }
    let address = dice.pick(&object.kernels).descriptor_address;
    let holds = |segment: &&amdgpu_object::Segment| {
        (segment.address..segment.address + segment.range.len() as u64).contains(&address)
    };
    let Some(segment) = object.segments.iter().find(holds) else { return };
    let at = segment.range.start + (address - segment.address) as usize;
    if at + DESCRIPTOR > bytes.len() {
        return;
    }
    match dice.roll(2) {
        0 => bytes[at + dice.roll(DESCRIPTOR)] ^= 1 << dice.roll(8),
        _ => number(bytes, at + 4 * dice.roll(DESCRIPTOR / 4), dice),
    }
}

/// The ELF header, the tables it names (segments, sections), and what sections hold.
fn header(bytes: &mut [u8], dice: &mut Dice) {
    const ELF: usize = 64;
    let word = |at: usize| {
        let bytes = bytes.get(at..at + 8)?.try_into().ok()?;
        usize::try_from(u64::from_le_bytes(bytes)).ok()
    };
    let table = match dice.roll(4) {
        0 => Some((0, ELF)),
        1 => word(32).map(|start| (start, 56 * 8)),
        2 => word(40).map(|start| (start, 64 * 24)),
        // What a section holds: symbols, their names and hashes, the dynamic table, relocations.
        _ => word(40).and_then(|start| {
            let section = start.checked_add(64 * dice.roll(24))?;
            Some((word(section.checked_add(24)?)?, word(section.checked_add(32)?)?.clamp(1, bytes.len())))
        }),
    };
    let Some((start, length)) = table else { return };
    let at = start.saturating_add(dice.roll(length) / 4 * 4);
    number(bytes, at, dice);
}

/// The note with the kernels' metadata: numbers and text.
fn metadata(bytes: &mut [u8], dice: &mut Dice) {
    let find = |what: &[u8]| bytes.windows(what.len()).position(|part| part == what);
    let Some(start) = find(b"amdhsa.kernels").or_else(|| find(b"amdhsa.version")) else { return };
    let at = start + dice.roll(1024);
    if let Some(byte) = bytes.get_mut(at) {
        *byte =
            *dice.pick(&[0, 1, 7, 0x7f, 0x80, 0x90, 0xa0, 0xc0, 0xcc, 0xcd, 0xce, 0xcf, 0xd9, 0xdc, 0xff]);
    }
}

/// Puts a number there that overflows something, or is next to one that is there.
fn number(bytes: &mut [u8], at: usize, dice: &mut Dice) {
    let length = bytes.len() as u64;
    let width = *dice.pick(&[1, 2, 4, 8]);
    let Some(place) = bytes.get_mut(at..at.saturating_add(width)) else { return };
    let mut now = [0; 8];
    now[..width].copy_from_slice(place);
    let now = u64::from_le_bytes(now);
    let others = [
        0,
        1,
        now.wrapping_add(1),
        now.wrapping_sub(1),
        now.wrapping_mul(2),
        !now,
        length,
        length.wrapping_add(1),
        1 << 31,
        1 << 32,
        (1 << 32) - 1,
        1 << 63,
        u64::MAX,
        dice.word(),
    ];
    place.copy_from_slice(&dice.pick(&others).to_le_bytes()[..width]);
}
