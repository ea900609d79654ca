//! Addresses of MUBUF and MTBUF (Vega ISA manual, "Buffer Addressing" and "Buffer Resource"; RDNA3 ISA,
//! sections 9.4 and 9.6).

use amdgpu_isa::Op;

use super::{LaneAddress, Span, bytes_of, device, note};
use crate::check::{Outcome, Trap};
use crate::exec::lane_data::{get_small, put_small};
use crate::memory::{Memory, is_scratch};
use crate::program::{Action, MemoryAccess};
use crate::rules::Buffers;
use crate::wave::{LANES, Wave};

/// How a resource says what is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bounds {
    /// Records are counted where an index selects them, else bytes.
    ByIndex,
    /// OOB_SELECT 0: the record, and within it.
    Structure,
    /// OOB_SELECT 1: the record.
    Record,
    /// OOB_SELECT 2: an empty buffer.
    Empty,
    /// OOB_SELECT 3: bytes, or where records are swizzled, as a structure.
    Raw,
}

/// What a buffer resource says, for one instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resource {
    /// Base address with the instruction's scalar offset, unless that is swizzled.
    base: u64,
    /// The scalar offset by itself, for the range.
    scalar_offset: u64,
    /// The scalar offset, where it is swizzled with the others and so no part of `base`.
    swizzled_offset: u64,
    stride: u64,
    /// NUM_RECORDS: bytes, or records where an index selects them.
    records: u64,
    swizzle: bool,
    /// Bytes of a record that swizzling keeps together.
    element: u64,
    bounds: Bounds,
    index_stride: u64,
    /// The lane's number is added to the index.
    add_lane: bool,
    /// The instruction gives an index.
    indexed: bool,
    /// Lanes of the wave.
    wave_lanes: u64,
    /// Data format, and number format above its four bits, as MTBUF has them.
    pub(super) format: u8,
    /// DST_SEL of x, y, z, w.
    pub(super) select: [u8; 4],
}

impl Resource {
    pub(super) fn read(w: &Wave, access: &MemoryAccess) -> Self {
        let low = w.s64(access.resource);
        let high = w.s64(access.resource + 2);
        let word3 = (high >> 32) as u32;
        let add_lane = word3 & 1 << 23 != 0;
        let data_format = (word3 >> 15 & 15) as u8;
        // The data format's bits are the upper ones of the stride where lanes are added and nothing is
        // converted.
        let more = if add_lane && access.typed.is_none() { u64::from(data_format) << 14 } else { 0 };
        let scalar_offset = u64::from(w.scalar32(access.scalar));
        let bounds = [Bounds::Structure, Bounds::Record, Bounds::Empty, Bounds::Raw];
        let bounds = bounds[(word3 >> 28 & 3) as usize];
        let format = |bits: u32| (word3 >> 12 & ((1 << bits) - 1)) as u8;
        let mut scale = 1;
        let ((swizzle, bounds, format), more) = match w.rules.buffers {
            Buffers::TwoFormats => {
                ((low >> 63 << 1, Bounds::ByIndex, data_format | ((word3 >> 12 & 7) as u8) << 4), more)
            }
            Buffers::OneFormat => ((low >> 63 << 1, bounds, format(7)), 0),
            Buffers::SizedElements => ((low >> 62, bounds, format(6)), 0),
            Buffers::ScaledStride => {
                scale = [1, 4, 8, 32][(word3 >> 18 & 3) as usize];
                ((low >> 62, bounds, format(6)), 0)
            }
        };
        let is_swizzled = swizzle != 0 && w.rules.buffers == Buffers::ScaledStride;
        let swizzled_offset = if is_swizzled { scalar_offset } else { 0 };
        Self {
            base: (low & 0xffff_ffff_ffff).wrapping_add(scalar_offset - swizzled_offset),
            scalar_offset,
            swizzled_offset,
            stride: (low >> 48 & 0x3fff | more) * scale,
            records: high & 0xffff_ffff,
            swizzle: swizzle != 0,
            element: if swizzle == 3 { 16 } else { 4 },
            bounds,
            index_stride: 8 << (word3 >> 21 & 3),
            add_lane,
            indexed: access.idxen,
            wave_lanes: w.lanes() as u64,
            format,
            select: [0, 3, 6, 9].map(|shift| (word3 >> shift & 7) as u8),
        }
    }

    /// A resource without a data format stands for no buffer: reads give zero, writes are dropped.
    pub(super) fn is_unbound(&self, access: &MemoryAccess) -> bool {
        let format_is_stride = self.add_lane && access.typed.is_none();
        let no_format = match self.bounds {
            Bounds::ByIndex => self.format & 15 == 0,
            _ => self.format == 0,
        };
        no_format && !format_is_stride
    }

    /// Private memory: each lane's dwords interleaved with the other lanes'.
    fn is_private(&self) -> bool {
        let is_unchecked = matches!(self.bounds, Bounds::ByIndex | Bounds::Empty);
        let by_lane = self.swizzle && self.add_lane && !self.indexed;
        by_lane && is_unchecked && self.index_stride == self.wave_lanes && is_scratch(self.base)
    }

    /// Whether a datum of so many bytes that begins at `offset` of record `index` (lane not added) is in
    /// range.
    ///
    /// The manuals compare where it begins, without the scalar offset. Hardware compares where it ends, and
    /// with the scalar offset: so AMD's simulator has it for CDNA after gfx950 (ROCm/rocm-systems#10928), and
    /// LLVM for all but the oldest processors (llvm/llvm-project#207796).
    pub(super) fn holds(&self, index: u64, offset: u64, bytes: u8) -> bool {
        let end = offset + u64::from(bytes);
        let in_structure = index < self.records && end <= self.stride;
        match self.bounds {
            Bounds::ByIndex if self.indexed && self.stride != 0 => index < self.records,
            Bounds::ByIndex => {
                let is_private = self.add_lane && !self.indexed;
                is_private || self.scalar_offset + end <= self.records
            }
            Bounds::Structure => in_structure,
            Bounds::Record => index < self.records,
            Bounds::Empty => self.records != 0,
            Bounds::Raw if self.swizzle && self.stride != 0 => in_structure,
            Bounds::Raw => self.scalar_offset + end <= self.records,
        }
    }

    /// The address of a byte.
    pub(super) fn address(&self, index: u64, offset: u64, lane: usize) -> u64 {
        let index = index + if self.add_lane { lane as u64 } else { 0 };
        let linear = if self.swizzle {
            let offset = offset.wrapping_add(self.swizzled_offset) & 0xffff_ffff;
            let (index_high, index_low) = (index / self.index_stride, index % self.index_stride);
            let (offset_high, offset_low) = (offset / self.element, offset % self.element);
            let block = index_high.wrapping_mul(self.stride) + offset_high * self.element;
            block.wrapping_mul(self.index_stride) + index_low * self.element + offset_low
        } else {
            index.wrapping_mul(self.stride) + offset
        };
        self.base.wrapping_add(linear)
    }

    /// Whether `bytes` from `offset` on have consecutive addresses.
    fn is_contiguous(&self, offset: u64, bytes: u8) -> bool {
        let offset = offset + self.swizzled_offset;
        !self.swizzle || offset % self.element + u64::from(bytes) <= self.element
    }
}

/// A buffer of plain bytes, as far as an access without an index finds it so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes {
    /// The device address that offsets are counted from.
    pub(crate) base: u64,
    /// What begins at an offset and ends behind this one is not in range.
    pub(crate) end: u64,
}

/// The buffer of an access, if it is one of plain bytes.
pub(crate) fn plain(w: &Wave, access: &MemoryAccess) -> Option<Bytes> {
    let resource = Resource::read(w, access);
    if resource.indexed || resource.swizzle || resource.add_lane || resource.is_unbound(access) {
        return None;
    }
    let end = match resource.bounds {
        Bounds::ByIndex | Bounds::Raw => resource.records.saturating_sub(resource.scalar_offset),
        Bounds::Structure if resource.records != 0 => resource.stride,
        Bounds::Record | Bounds::Empty if resource.records != 0 => u64::MAX,
        Bounds::Structure | Bounds::Record | Bounds::Empty => 0,
    };
    Some(Bytes { base: resource.base, end })
}

/// A lane's index and offset, without what the resource adds.
pub(super) fn index_and_offset(w: &Wave, access: &MemoryAccess, lane: usize) -> (u64, u64) {
    let mut row = access.vaddr;
    let mut next = |wanted: bool| match row {
        Some(at) if wanted => {
            row = Some(at + 1);
            u64::from(w.lane::<u32>(at, lane))
        }
        _ => 0,
    };
    let index = next(access.idxen);
    let offset = next(access.offen).wrapping_add_signed(access.offset);
    (index, offset)
}

/// Where each lane's access goes.
pub(super) fn places(
    w: &Wave,
    access: &MemoryAccess,
    op: Op,
    places: &mut [LaneAddress; LANES],
) -> Outcome<Span> {
    let resource = Resource::read(w, access);
    if resource.is_unbound(access) {
        return Ok(None);
    }
    let bytes = bytes_of(access.action);
    let atomic = matches!(access.action, Action::Atomic { .. });
    let mut span = None;
    let mut only_global = true;
    for lane in (0..LANES).filter(|lane| w.active(*lane)) {
        let (index, offset) = index_and_offset(w, access, lane);
        places[lane] = if resource.is_private() {
            // Not range-checked, so a negative VGPR may be brought back by the constant (LLVM folds those
            // from GFX9 on).
            let base = w.scratch.row_of(resource.base, w.lanes());
            let reason = "of private memory that begins between the lanes";
            let base = base.ok_or_else(|| Trap::unimplemented(op, reason))?;
            LaneAddress::Swizzled {
                base,
                offset: offset.wrapping_add(resource.swizzled_offset) & 0xffff_ffff,
            }
        } else {
            // Each dword by itself, but an atomic as a whole.
            let piece = if atomic { bytes } else { bytes.min(4) };
            let last = offset + u64::from(bytes - piece);
            match (resource.holds(index, offset, piece), resource.holds(index, last, piece)) {
                (true, true) if resource.is_contiguous(offset, bytes) => {
                    let address = resource.address(index, offset, lane);
                    note(&mut span, address);
                    LaneAddress::Global(address)
                }
                (false, false) => LaneAddress::Nowhere,
                _ if atomic => return Err(Trap::unimplemented(op, "across elements of a swizzled buffer")),
                _ => LaneAddress::Pieces { index, offset },
            }
        };
        only_global &= matches!(places[lane], LaneAddress::Global(_));
    }
    Ok(span.filter(|_| only_global))
}

/// One lane's load or store, each dword checked and addressed by itself.
pub(super) fn pieces(
    w: &mut Wave,
    memory: &Memory,
    access: &MemoryAccess,
    lane: usize,
    index: u64,
    offset: u64,
) -> Outcome {
    let resource = Resource::read(w, access);
    match access.action {
        Action::Load { bytes, signed, part } if bytes < 4 => {
            let value = load(w, memory, &resource, lane, (index, offset), bytes)?;
            put_small(w, access.dst, lane, u64::from(value), bytes, signed, part);
        }
        Action::Load { bytes, .. } => {
            for dword in 0..bytes / 4 {
                let offset = offset + 4 * u64::from(dword);
                let value = if resource.holds(index, offset, 4) {
                    load(w, memory, &resource, lane, (index, offset), 4)?
                } else {
                    0
                };
                w.rows[usize::from(access.dst) + usize::from(dword)][lane] = value;
            }
        }
        Action::Store { bytes, part } if bytes < 4 => {
            let value = get_small(w, access.data[0], lane, part) as u32;
            store(w, memory, &resource, lane, (index, offset), bytes, value)?;
        }
        Action::Store { bytes, .. } => {
            for dword in 0..bytes / 4 {
                let offset = offset + 4 * u64::from(dword);
                if resource.holds(index, offset, 4) {
                    let value = w.rows[usize::from(access.data[0]) + usize::from(dword)][lane];
                    store(w, memory, &resource, lane, (index, offset), 4, value)?;
                }
            }
        }
        Action::Atomic { .. } => {}
    }
    Ok(())
}

/// Up to four bytes, whatever the range.
pub(super) fn load(
    w: &Wave,
    memory: &Memory,
    resource: &Resource,
    lane: usize,
    (index, offset): (u64, u64),
    bytes: u8,
) -> Outcome<u32> {
    if resource.is_contiguous(offset, bytes) {
        return device::load(w, memory, resource.address(index, offset, lane), bytes, lane);
    }
    (0..bytes).try_fold(0, |value, byte| {
        let address = resource.address(index, offset + u64::from(byte), lane);
        Ok(value | device::load(w, memory, address, 1, lane)? << (8 * byte))
    })
}

/// Up to four bytes, whatever the range.
pub(super) fn store(
    w: &mut Wave,
    memory: &Memory,
    resource: &Resource,
    lane: usize,
    (index, offset): (u64, u64),
    bytes: u8,
    value: u32,
) -> Outcome {
    if resource.is_contiguous(offset, bytes) {
        return device::store(w, memory, resource.address(index, offset, lane), bytes, value, lane);
    }
    (0..bytes).try_for_each(|byte| {
        let address = resource.address(index, offset + u64::from(byte), lane);
        device::store(w, memory, address, 1, value >> (8 * byte) & 0xff, lane)
    })
}
