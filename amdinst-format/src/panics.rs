//! What the panics of kernels say that were built to say it (`panic-messages`).
//!
//! Each wave adds a line to a buffer like that of [`printed`](crate::printed), for the first lane that
//! panics: the place as `file:line:column`, a line break, and the message. Then it traps; or it ends, if the
//! launcher has asked for that because a trap would take the whole program with it.

use crate::printed::{Printed, PrintedLine};
use crate::report::{Location, WaveId};

/// The buffer's symbol.
pub const SYMBOL: &str = "__amdinst_panicked";
/// The symbol of what a wave does behind its message, a word of eight bytes: 0 for a trap.
pub const ENDS: &str = "__amdinst_panic_ends";

/// How the words of a function begin that the compiler has no code for; the reason follows.
pub const NOT_COMPILED: &str = "not compiled: ";

/// What a wave's panic said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic {
    /// The wave.
    pub wave: WaveId,
    /// The lane.
    pub lane: u8,
    /// Where in the source.
    pub location: Location,
    /// The message, in one line.
    pub message: String,
}

impl Panic {
    /// Those of a buffer, by workgroup. `block` is the workgroup's shape in the launch, `lanes` those of a
    /// wave.
    pub fn all(lines: &Printed, block: [u32; 3], lanes: u32) -> Vec<Self> {
        lines.lines.iter().map(|line| Self::of(line, block, lanes)).collect()
    }

    /// The one of a wave.
    pub fn of_wave(all: &[Self], wave: WaveId) -> Option<&Self> {
        all.iter().find(|panic| panic.wave == wave)
    }

    fn of(line: &PrintedLine, block: [u32; 3], lanes: u32) -> Self {
        let [width, height, _] = block.map(u64::from);
        let [x, y, z] = line.item.map(u64::from);
        let item = x + width * (y + height * z);
        let lanes = u64::from(lanes.max(1));
        // A place that was cut leaves nothing of the message.
        let (place, message) = line.text.split_once('\n').unwrap_or((&line.text, ""));
        let lines: Vec<_> = message.lines().map(str::trim).collect();
        Self {
            wave: WaveId { workgroup: line.workgroup, wave: (item / lanes) as u32 },
            lane: (item % lanes) as u8,
            location: location(place).unwrap_or_default(),
            message: lines.join(", "),
        }
    }
}

/// The place that `file:line:column` names.
fn location(text: &str) -> Option<Location> {
    let (rest, column) = text.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    let (line, column) = (line.parse().ok()?, column.parse().ok()?);
    Some(Location { file: Some(file.into()), line: Some(line), column: Some(column) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_place_and_a_message() {
        let line = |item, text: &str| PrintedLine { workgroup: [1, 2, 3], item, text: text.to_owned() };
        let lines = vec![
            line([5, 3, 1], "src/a:b.rs:7:9\nassertion `left == right` failed\n  left: 1\n right: 2"),
            line([0, 0, 0], "src/a"),
        ];
        let read = |lanes| Panic::all(&Printed { lines: lines.clone(), lost: 0 }, [16, 4, 2], lanes);
        // 5 + 16 * (3 + 4 * 1) = 117
        let place = |panics: &[Panic]| (panics[0].wave.wave, panics[0].lane);
        assert_eq!((place(&read(32)), place(&read(64))), ((3, 21), (1, 53)));
        let [first, second] = &read(64)[..] else { panic!() };
        assert_eq!(first.message, "assertion `left == right` failed, left: 1, right: 2");
        let Location { file, line, column } = &first.location;
        assert_eq!((file.as_deref(), *line, *column), (Some("src/a:b.rs"), Some(7), Some(9)));
        assert_eq!((second.location.clone(), second.message.as_str()), (Location::default(), ""));
    }
}
