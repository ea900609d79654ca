//! Device memory: allocations with guard gaps, and named answers for stray addresses.

mod cell;
mod room;
mod sync;
mod touched;

pub(crate) use cell::SharedBytes;
pub use room::Room;
pub(crate) use sync::{GlobalSync, Ticket};

use std::any::Any;
use std::sync::Arc;

use sync::Counters;

use crate::check::{FaultKind, Inside, MemorySpace, NearestAllocation};

/// Where user allocations begin: like the addresses that ROCr hands out.
const USER_BASE: u64 = 0x7f00_0000_0000;
/// Where what the runtime itself needs (packets, kernarg segments) begins, apart, so that a launch moves no
/// user address.
const RUNTIME_BASE: u64 = 0x7e00_0000_0000;
/// Where code objects are mapped.
const IMAGE_BASE: u64 = 0x7c00_0000_0000;
/// Bytes between two allocations, at least.
const GUARD: u64 = 0x1_0000;
/// Addresses below are taken for null pointers plus an offset.
const NULL_PAGE: u64 = 0x1_0000;

/// Failure of a host-side memory call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// A range that is in no allocation.
    #[error("{size} bytes at {address:#x} are not within one allocation")]
    OutOfBounds {
        /// First byte.
        address: u64,
        /// Bytes asked for.
        size: u64,
    },
    /// The address is not the start of a live allocation.
    #[error("{address:#x} is not the start of an allocation{}", if *freed { ": it has been freed already" } else { "" })]
    NotAnAllocation {
        /// The address.
        address: u64,
        /// The address was that of an allocation which has been freed.
        freed: bool,
    },
    /// An alignment that is not a power of two.
    #[error("alignment {0} is not a power of two")]
    BadAlignment(u64),
    /// More than the emulator gives.
    #[error("cannot allocate {0} bytes: the emulator's limit is {limit} bytes in all", limit = Memory::LIMIT)]
    TooLarge(u64),
    /// More than this machine has.
    #[error("no room for {size} bytes{}: {available} bytes of memory are available", with(*before))]
    NoRoom {
        /// Bytes asked for.
        size: u64,
        /// Bytes of the allocations before.
        before: u64,
        /// Bytes that there are.
        available: u64,
    },
}

/// What stands besides an allocation.
fn with(before: u64) -> String {
    if before == 0 { String::new() } else { format!(" besides {before} bytes") }
}

/// What may be done with an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protection {
    ReadWrite,
    ReadOnly,
}

/// Who owns an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    User,
    Runtime,
}

#[derive(Clone, Debug)]
pub(crate) struct Allocation {
    pub(crate) address: u64,
    pub(crate) bytes: SharedBytes,
    pub(crate) protection: Protection,
    pub(crate) label: String,
    /// What a scalar load finds behind the end ([`Memory::pad`]).
    padding: Option<u32>,
    /// The caller chose the address ([`Memory::alloc_at`]).
    is_chosen: bool,
}

impl Allocation {
    /// First byte, size in bytes, label.
    pub(crate) fn extent(&self) -> (u64, u64, &str) {
        (self.address, self.bytes.len() as u64, &self.label)
    }

    /// The dword at an offset, which may run over the end where a scalar load may.
    pub(crate) fn scalar_dword(&self, at: usize) -> u32 {
        match at + 4 <= self.bytes.len() {
            true => self.bytes.load::<4>(at) as u32,
            false => self.bytes.load_padded_dword(at, self.padding.unwrap_or_default()),
        }
    }

    fn end(&self) -> u64 {
        self.address + self.bytes.len() as u64
    }

    /// The caller asked for it.
    fn is_users(&self) -> bool {
        self.is_chosen || self.address >= USER_BASE
    }
}

/// A copy of an allocation's bytes.
#[derive(Clone, Debug)]
struct Piece {
    address: u64,
    bytes: SharedBytes,
    is_users: bool,
}

#[derive(Clone, Debug)]
struct Freed {
    address: u64,
    size: u64,
    label: String,
}

/// What memory held, and where the next launch was to find what the runtime places for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copied {
    /// By the addresses of allocations.
    pieces: Vec<Piece>,
    /// [`Memory::runtime_mark`] of that time.
    mark: Option<u64>,
    sync: Option<Counters>,
}

impl Copied {
    /// Bytes of all pieces.
    pub(crate) fn bytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.bytes.len() as u64).sum()
    }

    /// What of it is the user's.
    fn users(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter().filter(|piece| piece.is_users)
    }

    /// The first byte of the user's allocations that is another one in `other`, by its address.
    pub(crate) fn difference(&self, other: &Self) -> Option<u64> {
        self.users().zip(other.users()).find_map(|(Piece { address, bytes: ours, .. }, theirs)| {
            let theirs = &theirs.bytes;
            let differs = (0..ours.len()).step_by(8).find(|at| ours.padded(*at) != theirs.padded(*at))?;
            let low = (ours.padded(differs) ^ theirs.padded(differs)).trailing_zeros() / 8;
            Some(address + differs as u64 + u64::from(low))
        })
    }
}

/// All allocations, sorted by address. Addresses only grow and are never used again.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    live: Vec<Allocation>,
    freed: Vec<Freed>,
    next_user: u64,
    next_runtime: u64,
    next_image: u64,
    total: u64,
    /// What there was to take when the first large allocation was made.
    room: Option<Room>,
    sync: GlobalSync,
}

impl Memory {
    /// Bytes that may be allocated at one time.
    const LIMIT: u64 = 64 << 30;

    pub(crate) fn new() -> Self {
        Self {
            live: Vec::new(),
            freed: Vec::new(),
            next_user: USER_BASE,
            next_runtime: RUNTIME_BASE,
            next_image: IMAGE_BASE,
            total: 0,
            room: None,
            sync: GlobalSync::new(),
        }
    }

    /// By what waves of different workgroups wait for each other.
    pub(crate) fn sync(&self) -> &GlobalSync {
        &self.sync
    }

    /// Bytes from which on it is asked whether the machine has them.
    const ASKED: u64 = 16 << 20;

    /// Looks whether there is room for `size` bytes more, before anything is allocated.
    fn check(&mut self, size: u64) -> Result<(), MemoryError> {
        let all = self.total.checked_add(size).filter(|all| *all <= Self::LIMIT);
        let all = all.ok_or(MemoryError::TooLarge(size))?;
        if size >= Self::ASKED {
            let available = self.room.get_or_insert_with(Room::here).bytes();
            if all > available {
                return Err(MemoryError::NoRoom { size, before: self.total, available });
            }
        }
        Ok(())
    }

    /// Zero bytes for an allocation.
    fn zeroed(&self, size: u64) -> Result<SharedBytes, MemoryError> {
        let gone = |_| MemoryError::NoRoom { size, before: self.total, available: Room::here().bytes() };
        SharedBytes::zeroed(size as usize).map_err(gone)
    }

    pub(crate) fn alloc(
        &mut self,
        size: u64,
        align: u64,
        label: &str,
        protection: Protection,
        owner: Owner,
    ) -> Result<u64, MemoryError> {
        if !align.is_power_of_two() {
            return Err(MemoryError::BadAlignment(align));
        }
        if align > Self::LIMIT {
            return Err(MemoryError::TooLarge(size));
        }
        self.check(size)?;
        let bytes = self.zeroed(size)?;
        // Never at a page's very start: an offset that loses its upper part must not hit another allocation.
        let align = align.max(256);
        let next = match owner {
            Owner::User => &mut self.next_user,
            Owner::Runtime => &mut self.next_runtime,
        };
        let mut address = next.next_multiple_of(align);
        // Nothing is there but what stands at an address that the caller chose.
        while let Some(end) = taken_until(&self.live, address, size) {
            address = end.saturating_add(GUARD).next_multiple_of(align);
        }
        *next = (address + size + GUARD).next_multiple_of(4096);
        self.total += size;
        let (label, is_chosen) = (label.to_owned(), false);
        let allocation = Allocation { address, bytes, protection, label, padding: None, is_chosen };
        let at = self.live.partition_point(|other| other.address < address);
        self.live.insert(at, allocation);
        Ok(address)
    }

    /// Let scalar loads that begin inside an allocation run over its end; there they find `dword`. They may
    /// do so up to the next multiple of 8 bytes, and where they are aligned to their size, which keeps them
    /// in a page.
    pub(crate) fn pad(&mut self, address: u64, dword: u32) {
        if let Ok(index) = self.live.binary_search_by_key(&address, |allocation| allocation.address) {
            self.live[index].padding = Some(dword);
        }
    }

    /// A span of addresses for an image, without memory behind it.
    pub(crate) fn reserve(&mut self, size: u64, align: u64) -> Result<u64, MemoryError> {
        if size > Self::LIMIT {
            return Err(MemoryError::TooLarge(size));
        }
        let mut address = self.next_image.next_multiple_of(align);
        while let Some(end) = taken_until(&self.live, address, size) {
            address = end.saturating_add(GUARD).next_multiple_of(align);
        }
        self.next_image = (address + size + GUARD).next_multiple_of(4096);
        Ok(address)
    }

    /// Zeroed memory for the caller at an address of its choice. What was freed there before is forgotten.
    pub(crate) fn alloc_at(&mut self, address: u64, size: u64, label: &str) -> Result<(), MemoryError> {
        let end = address.checked_add(size).filter(|&end| end <= SHARED_APERTURE);
        let end = end.ok_or(MemoryError::OutOfBounds { address, size })?;
        let is_reserved = |start: u64| (address >> 40..=end >> 40).contains(&(start >> 40));
        if address < NULL_PAGE || is_reserved(SCRATCH_BASE) {
            return Err(MemoryError::OutOfBounds { address, size });
        }
        self.put(address, size, label, true)?;
        self.freed.retain(|freed| freed.address >= end || freed.address + freed.size <= address);
        Ok(())
    }

    /// Memory at a given address of a reserved span. An overlap with an earlier piece is refused.
    pub(crate) fn place(&mut self, address: u64, size: u64, label: &str) -> Result<(), MemoryError> {
        self.put(address, size, label, false)
    }

    fn put(&mut self, address: u64, size: u64, label: &str, is_chosen: bool) -> Result<(), MemoryError> {
        self.check(size)?;
        let at = self.live.partition_point(|other| other.address <= address);
        let below = at.checked_sub(1).map(|index| &self.live[index]);
        let above = self.live.get(at);
        let overlaps = below.is_some_and(|other| other.address == address || other.end() > address)
            || above.is_some_and(|other| other.address < address + size);
        if overlaps {
            return Err(MemoryError::OutOfBounds { address, size });
        }
        let bytes = self.zeroed(size)?;
        self.total += size;
        let (protection, label) = (Protection::ReadWrite, label.to_owned());
        self.live.insert(at, Allocation { address, bytes, protection, label, padding: None, is_chosen });
        Ok(())
    }

    /// Make host memory device memory. What was freed there before is forgotten.
    ///
    /// # Safety
    /// As [`SharedBytes::host`] asks of `size` bytes at `host`.
    pub(crate) unsafe fn map_host(
        &mut self,
        address: u64,
        host: *const u8,
        size: u64,
        label: &str,
        keep: Arc<dyn Any + Send + Sync>,
    ) -> Result<(), MemoryError> {
        if let Some(odd) = [address, host.addr() as u64].into_iter().find(|place| !place.is_multiple_of(8)) {
            return Err(MemoryError::BadAlignment(odd));
        }
        let overlap = MemoryError::OutOfBounds { address, size };
        let end = address.checked_add(size).ok_or(overlap.clone())?;
        let at = self.live.partition_point(|other| other.address < end);
        if at.checked_sub(1).is_some_and(|below| self.live[below].end() > address) {
            return Err(overlap);
        }
        self.freed.retain(|freed| freed.address >= end || freed.address + freed.size <= address);
        // SAFETY: the caller vouches for the range.
        let bytes = unsafe { SharedBytes::host(host, size as usize, keep) };
        let (protection, label) = (Protection::ReadWrite, label.to_owned());
        let is_chosen = false;
        self.live.insert(at, Allocation { address, bytes, protection, label, padding: None, is_chosen });
        self.total += size;
        Ok(())
    }

    pub(crate) fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        let Ok(index) = self.live.binary_search_by_key(&address, |allocation| allocation.address) else {
            let freed = self.freed.binary_search_by_key(&address, |freed| freed.address).is_ok();
            return Err(MemoryError::NotAnAllocation { address, freed });
        };
        let Allocation { address, bytes, label, .. } = self.live.remove(index);
        self.total -= bytes.len() as u64;
        let at = self.freed.partition_point(|other| other.address < address);
        self.freed.insert(at, Freed { address, size: bytes.len() as u64, label });
        Ok(())
    }

    /// First byte and size in bytes of each allocation, in the order of their numbers.
    pub(crate) fn extents(&self) -> impl Iterator<Item = (u64, u64)> {
        self.live.iter().map(|allocation| (allocation.address, allocation.bytes.len() as u64))
    }

    /// The number of an allocation that [`Memory::find`] has given, in the order of addresses.
    #[inline(always)]
    pub(crate) fn number_of(&self, allocation: &Allocation) -> usize {
        ((&raw const *allocation).addr() - self.live.as_ptr().addr()) / size_of::<Allocation>()
    }

    /// Bytes that [`Memory::copy`] copies.
    pub(crate) fn bytes_to_copy(&self) -> u64 {
        let copied = self.live.iter().filter(|allocation| {
            allocation.protection == Protection::ReadWrite && !allocation.bytes.is_host()
        });
        copied.map(|allocation| allocation.bytes.len() as u64).sum()
    }

    /// A copy of all that a launch may write, but for memory of the host.
    pub(crate) fn copy(&self) -> Copied {
        let mut copied = Copied::default();
        self.copy_into(&mut copied);
        copied
    }

    /// Copies what a launch may write over an older copy, whose memory is used again.
    pub(crate) fn copy_into(&self, copied: &mut Copied) {
        let mut old = std::mem::take(&mut copied.pieces).into_iter().peekable();
        copied.mark = Some(self.next_runtime);
        copied.sync = Some(self.sync.counters());
        for allocation in &self.live {
            let (address, bytes) = (allocation.address, &allocation.bytes);
            if allocation.protection != Protection::ReadWrite || bytes.is_host() {
                continue;
            }
            while old.next_if(|piece| piece.address < address).is_some() {}
            let same = |piece: &Piece| piece.address == address && piece.bytes.len() == bytes.len();
            let copy = match old.next_if(same) {
                Some(piece) => {
                    piece.bytes.copy_from(bytes);
                    piece.bytes
                }
                None => bytes.clone(),
            };
            copied.pieces.push(Piece { address, bytes: copy, is_users: allocation.is_users() });
        }
    }

    /// Allocates again, at their addresses, what has been freed since memory was copied.
    pub(crate) fn revive(&mut self, copied: &Copied) {
        for Piece { address, bytes, .. } in copied.users() {
            let Ok(at) = self.freed.binary_search_by_key(address, |freed| freed.address) else { continue };
            let Freed { address, size, label } = self.freed.remove(at);
            self.total += size;
            let (bytes, protection, is_chosen) = (bytes.clone(), Protection::ReadWrite, address < USER_BASE);
            let allocation = Allocation { address, bytes, protection, label, padding: None, is_chosen };
            let at = self.live.partition_point(|other| other.address < address);
            self.live.insert(at, allocation);
        }
    }

    /// Makes memory what it was when it was copied, for a launch to find all as it was then, addresses
    /// included. Allocations of that time must be there still.
    pub(crate) fn restore(&mut self, copied: &Copied) {
        self.write_back(copied.pieces.iter());
        self.rewind_to(copied);
    }

    /// As [`Memory::restore`], but of the user's allocations alone: those of programs differ between
    /// machines.
    pub(crate) fn restore_user(&mut self, copied: &Copied) {
        self.write_back(copied.users());
        self.rewind_to(copied);
    }

    fn write_back<'a>(&self, pieces: impl Iterator<Item = &'a Piece>) {
        for Piece { address, bytes, .. } in pieces {
            if let Some((allocation, 0)) = self.find(*address, bytes.len() as u64) {
                allocation.bytes.copy_from(bytes);
            }
        }
    }

    fn rewind_to(&mut self, copied: &Copied) {
        if let Some(mark) = copied.mark {
            self.rewind_runtime(mark);
        }
        if let Some(counters) = copied.sync {
            self.sync.restore(counters);
        }
    }

    /// The first byte of each live allocation.
    pub(crate) fn allocation_starts(&self) -> impl Iterator<Item = u64> {
        self.live.iter().map(|allocation| allocation.address)
    }

    /// The caller's allocations.
    pub(crate) fn user_allocations(&self) -> impl Iterator<Item = (u64, u64, &str)> {
        let user = self.live.iter().filter(|allocation| allocation.is_users());
        user.map(|allocation| (allocation.address, allocation.bytes.len() as u64, allocation.label.as_str()))
    }

    /// Forget a runtime allocation entirely: nothing keeps a pointer to it.
    pub(crate) fn release(&mut self, address: u64) {
        if let Ok(index) = self.live.binary_search_by_key(&address, |allocation| allocation.address) {
            self.total -= self.live.remove(index).bytes.len() as u64;
        }
    }

    /// Where the next runtime allocation will be, at least.
    pub(crate) fn runtime_mark(&self) -> u64 {
        self.next_runtime
    }

    /// Forgets that there was anything behind a mark. All of it must have been released.
    pub(crate) fn rewind_runtime(&mut self, mark: u64) {
        debug_assert!(
            self.live.iter().all(|live| live.is_users() || !(mark..USER_BASE).contains(&live.address)),
            "what a launch placed is still there"
        );
        self.next_runtime = mark;
    }

    pub(crate) fn protect(&mut self, address: u64, protection: Protection) {
        if let Ok(index) = self.live.binary_search_by_key(&address, |allocation| allocation.address) {
            self.live[index].protection = protection;
        }
    }

    pub(crate) fn write(&self, address: u64, from: &[u8]) -> Result<(), MemoryError> {
        let (allocation, offset) = self.range(address, from.len() as u64)?;
        allocation.bytes.write(offset, from);
        Ok(())
    }

    pub(crate) fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryError> {
        let (allocation, offset) = self.range(address, into.len() as u64)?;
        allocation.bytes.read(offset, into);
        Ok(())
    }

    /// Whether the bytes at an address are these.
    pub(crate) fn equals(&self, address: u64, bytes: &[u8]) -> bool {
        let Some((allocation, at)) = self.find(address, bytes.len() as u64) else { return false };
        let (words, rest) = bytes.as_chunks::<8>();
        let same = |(index, word): (usize, &[u8; 8])| {
            allocation.bytes.load::<8>(at + 8 * index) == u64::from_le_bytes(*word)
        };
        let tail = at + 8 * words.len();
        words.iter().enumerate().all(same)
            && rest
                .iter()
                .enumerate()
                .all(|(i, byte)| allocation.bytes.load::<1>(tail + i) == u64::from(*byte))
    }

    fn range(&self, address: u64, size: u64) -> Result<(&Allocation, usize), MemoryError> {
        self.find(address, size).ok_or(MemoryError::OutOfBounds { address, size })
    }

    /// The allocation that holds all of a range, and the range's offset in it.
    #[inline]
    pub(crate) fn find(&self, address: u64, size: u64) -> Option<(&Allocation, usize)> {
        let after = self.live.partition_point(|allocation| allocation.address <= address);
        let allocation = self.live.get(after.checked_sub(1)?)?;
        let offset = address - allocation.address;
        let len = allocation.bytes.len() as u64;
        (offset <= len && size <= len - offset).then_some((allocation, offset as usize))
    }

    /// As [`Memory::find`], for a scalar load that may run over the end of an allocation ([`Memory::pad`]).
    pub(crate) fn find_padded(&self, address: u64, size: u64) -> Option<(&Allocation, usize)> {
        let (allocation, offset) = self.find(address, 1)?;
        let end = (allocation.bytes.len() as u64).next_multiple_of(8);
        let stays_near = size <= end - offset as u64 || address.is_multiple_of(size.next_power_of_two());
        (allocation.padding.is_some() && stays_near).then_some((allocation, offset))
    }

    /// Whether the host may write to some of it while a kernel runs.
    pub(crate) fn is_shared(&self) -> bool {
        self.live.iter().any(|allocation| allocation.bytes.is_host())
    }

    /// Which allocation an address is in, and where.
    pub(crate) fn inside(&self, address: u64) -> Option<Box<Inside>> {
        let (allocation, offset) = self.find(address, 1)?;
        Some(Box::new(Inside { label: allocation.label.clone(), offset: offset as u64 }))
    }

    /// The name of what is wrong with an access that [`Memory::find`] refused.
    pub(crate) fn diagnose(&self, space: MemorySpace, address: u64, size: u32, write: bool) -> FaultKind {
        if address < NULL_PAGE {
            return FaultKind::NullPointer { address, size, write };
        }
        let after = self.freed.partition_point(|freed| freed.address <= address);
        if let Some(freed) = after.checked_sub(1).and_then(|index| self.freed.get(index))
            && address - freed.address < freed.size
        {
            return FaultKind::UseAfterFree { address, size, write, label: freed.label.clone() };
        }
        let after = self.live.partition_point(|allocation| allocation.address <= address);
        let below = after.checked_sub(1).map(|index| &self.live[index]);
        let above = self.live.get(after);
        let past = below.map(|allocation| address.saturating_sub(allocation.end()));
        let before = above.map(|allocation| allocation.address - address);
        let nearest = match (past, before) {
            (Some(past), Some(before)) if before < past => above.zip(Some(-(before as i64))),
            (Some(past), _) => below.zip(Some(past as i64)),
            (None, Some(before)) => above.zip(Some(-(before as i64))),
            (None, None) => None,
        };
        let nearest = nearest.map(|(allocation, distance)| {
            Box::new(NearestAllocation {
                label: allocation.label.clone(),
                address: allocation.address,
                size: allocation.bytes.len() as u64,
                distance,
            })
        });
        FaultKind::OutOfBounds { space, address, size, write, nearest }
    }
}

/// Where the last of the allocations ends that a range would meet.
fn taken_until(live: &[Allocation], address: u64, size: u64) -> Option<u64> {
    let after = live.partition_point(|other| other.address < address.saturating_add(size));
    let below = after.checked_sub(1).map(|index| live[index].end());
    below.filter(|&end| end > address)
}

/// Flat addresses from here (4 GiB) reach the workgroup's LDS, as `src_shared_base` tells.
pub const SHARED_APERTURE: u64 = 0x0001_0000_0000_0000;
/// Flat addresses from here (4 GiB) reach the work-item's scratch, as `src_private_base` tells.
pub const PRIVATE_APERTURE: u64 = 0x0002_0000_0000_0000;
/// Device address of a workgroup's scratch: each wave's part follows the one before.
pub(crate) const SCRATCH_BASE: u64 = 0x7d00_0000_0000;

/// Whether a device address is where workgroups' scratch is.
pub(crate) fn is_scratch(address: u64) -> bool {
    address >> 40 == SCRATCH_BASE >> 40
}
