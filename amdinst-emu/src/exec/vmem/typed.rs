//! Loads and stores that convert: `buffer_*_format_*` and `tbuffer_*`.
//!
//! MTBUF has the format in the instruction and components stay where they are. MUBUF takes it from the
//! resource, with DST_SEL: on a load, each channel of the instruction gets the component that its selector
//! names; on a store, each component comes from the first channel whose selector names it. A store changes
//! the components that the instruction has channels for, no other (CDNA3 ISA manual,
//! `TBUFFER_STORE_FORMAT_X`).

use super::buffer::{self, Resource};
use super::formats::Format;
use amdgpu_isa::Packing;

use crate::check::{Outcome, Trap};
use crate::memory::Memory;
use crate::program::{Action, Context, MemoryAccess, Step, Typed};
use crate::wave::{LANES, Wave};

/// What a channel of a load gets.
#[derive(Clone, Copy)]
enum Source {
    Zero,
    One,
    Component(usize),
}

/// One conversion, the same for all lanes.
struct Conversion<'a> {
    access: &'a MemoryAccess,
    typed: &'a Typed,
    resource: Resource,
    format: Format,
    channels: [Source; 4],
}

/// A load or store.
pub(super) fn access(
    context: &mut Context<'_>,
    step: &Step,
    access: &MemoryAccess,
    typed: &Typed,
) -> Outcome {
    let Context { wave: w, memory, .. } = context;
    let resource = Resource::read(w, access);
    let exec = w.exec;
    let lanes = (0..LANES).filter(|lane| exec >> lane & 1 != 0);
    let is_load = matches!(access.action, Action::Load { .. });
    if resource.is_unbound(access) {
        if is_load {
            lanes.for_each(|lane| put(w, access, typed, lane, [0; 4]));
        }
        return Ok(());
    }
    let Some(format) = Format::new(typed.format.unwrap_or(resource.format)) else {
        return Err(Trap::unimplemented(step.op, "with a data and number format that do not go together"));
    };
    let mut channels = [Source::Zero; 4];
    for (index, channel) in channels.iter_mut().enumerate() {
        let component = match typed.format {
            Some(_) => index,
            None => match resource.select[index] {
                0 => continue,
                1 => {
                    *channel = Source::One;
                    continue;
                }
                selector @ 4..=7 => usize::from(selector - 4),
                _ => return Err(Trap::unimplemented(step.op, "with a reserved destination select")),
            },
        };
        if component < format.components() {
            *channel = Source::Component(component);
        }
    }
    let conversion = Conversion { access, typed, resource, format, channels };
    for lane in lanes {
        let place = buffer::index_and_offset(w, access, lane);
        if is_load {
            conversion.load(w, memory, lane, place)?
        } else {
            conversion.store(w, memory, lane, place)?
        }
    }
    Ok(())
}

impl Conversion<'_> {
    fn load(&self, w: &mut Wave, memory: &Memory, lane: usize, place: (u64, u64)) -> Outcome {
        let in_range = self.resource.holds(place.0, place.1, self.format.bytes());
        let element = if in_range { self.element(w, memory, lane, place)? } else { 0 };
        let values = self.channels.map(|source| match source {
            Source::One => self.format.one(),
            Source::Component(component) if in_range => self.format.component(element, component),
            _ => 0,
        });
        let values = match self.typed.packing {
            Packing::Dwords => values,
            Packing::Halves | Packing::LowHalves | Packing::HighHalf => {
                values.map(|value| u32::from(self.format.narrow(value)))
            }
        };
        put(w, self.access, self.typed, lane, values);
        Ok(())
    }

    fn store(&self, w: &mut Wave, memory: &Memory, lane: usize, place: (u64, u64)) -> Outcome {
        if !self.resource.holds(place.0, place.1, self.format.bytes()) {
            return Ok(());
        }
        let old = self.element(w, memory, lane, place)?;
        let mut element = old;
        let named = self.channels.iter().take(usize::from(self.typed.channels)).enumerate().rev();
        for (channel, source) in named {
            if let Source::Component(component) = source {
                let value = self.channel(w, lane, channel);
                element = self.format.with_component(element, *component, value);
            }
        }
        let (index, offset) = place;
        for at in (0..self.format.bytes()).step_by(4) {
            let size = (self.format.bytes() - at).min(4);
            let value = (element >> (8 * at)) as u32;
            let place = (index, offset + u64::from(at));
            buffer::store(w, memory, &self.resource, lane, place, size, value)?;
        }
        Ok(())
    }

    /// The bytes of one element, which is in range or not as a whole.
    fn element(&self, w: &Wave, memory: &Memory, lane: usize, (index, offset): (u64, u64)) -> Outcome<u128> {
        (0..self.format.bytes()).step_by(4).try_fold(0, |element, at| {
            let size = (self.format.bytes() - at).min(4);
            let place = (index, offset + u64::from(at));
            let piece = buffer::load(w, memory, &self.resource, lane, place, size)?;
            Ok(element | u128::from(piece) << (8 * at))
        })
    }

    /// A channel's value for a store.
    fn channel(&self, w: &Wave, lane: usize, channel: usize) -> u32 {
        let row = usize::from(self.access.data[0]);
        match self.typed.packing {
            Packing::Dwords => w.rows[row + channel][lane],
            Packing::Halves => {
                let pair = w.rows[row + channel / 2][lane];
                self.format.widen((pair >> (16 * (channel % 2))) as u16)
            }
            Packing::LowHalves => self.format.widen(w.rows[row + channel][lane] as u16),
            Packing::HighHalf => self.format.widen((w.rows[row][lane] >> 16) as u16),
        }
    }
}

/// Write a lane's channels to its registers. Halves that the instruction has no channel for stay, or become
/// zero.
fn put(w: &mut Wave, access: &MemoryAccess, typed: &Typed, lane: usize, values: [u32; 4]) {
    let row = usize::from(access.dst);
    for (channel, value) in values.into_iter().take(usize::from(typed.channels)).enumerate() {
        match typed.packing {
            Packing::Dwords | Packing::LowHalves => w.rows[row + channel][lane] = value,
            Packing::Halves => {
                let old = &mut w.rows[row + channel / 2][lane];
                let shift = 16 * (channel % 2);
                // The low half comes first: what was there before may go with it.
                let kept = if typed.clears && shift == 0 { 0 } else { *old & !(0xffff << shift) };
                *old = kept | (value & 0xffff) << shift;
            }
            Packing::HighHalf => {
                let old = &mut w.rows[row][lane];
                let kept = if typed.clears { 0 } else { *old & 0xffff };
                *old = kept | value << 16;
            }
        }
    }
}
