//! The counter buffer: one record per wave, with five 32-bit counters a site, two a block, or two times.
//!
//! The launcher allocates [`Layout::buffer_size`] bytes, uploads [`Layout::initial_buffer`] and passes the
//! address to the kernel. The instrumented kernel finds the record of each wave and writes it. [`decode`]
//! reads the buffer back.
//!
//! # Counters of a site
//! A *site* is an instruction that narrows EXEC by a condition, known by its address. OLD is EXEC before the
//! narrowing, NEW is EXEC after it. OLD is the mask at the site, not all lanes: a partial wave is not a
//! divergence. Each wave has five counters a site, in this order:
//!
//! | counter | counts |
//! |---|---|
//! | `executions` | executions of the site |
//! | `all` | executions with NEW == OLD ≠ 0 |
//! | `none` | executions with NEW == 0 |
//! | `lanes_in` | Σ popcount OLD |
//! | `lanes_taken` | Σ popcount NEW |
//!
//! An execution with OLD == 0 counts as `none` only. So `executions - all - none` is the number of executions
//! that diverged.
//!
//! # The buffer
//! All words are little-endian and have 32 bits. A header of [`HEADER_BYTES`] comes first, then one record
//! per wave.
//!
//! | header word | meaning |
//! |---|---|
//! | 0 | [`MAGIC`], "AMIT" |
//! | 1 | [`LAYOUT_VERSION`] |
//! | 2, 3 | workgroups in x, in y |
//! | 4, 5 | work-items of a workgroup in x, in x times y |
//! | 6 | waves of a workgroup |
//! | 7 | record stride in bytes |
//! | 8 | in bits 7:0 what records hold: 0 branches, 1 blocks, 2 times ([`Probe`]); in the others the lanes of a wave, 32, or 0 for 64 |
//! | 9, 10 | multiplier and shift of the hash by which a wave finds its record ([`Slots`]); both zero if there is none |
//! | 11, 12 | the form of each site, two bits each ([`SiteForm`]) |
//! | 13 | work-items of a workgroup |
//! | 14 | whether lanes are summed (level `lanes`) |
//! | 15 | sites of a packed record, or zero |
//!
//! Version 1 had no word 8 and held branches. Version 2 had no words 9 to 14, version 3 no word 15. Before
//! version 5 all waves had 64 lanes.
//!
//! The wave index is `((wg_z · wgs_y + wg_y) · wgs_x + wg_x) · waves + flat / lanes`. `flat` is the flat
//! work-item id of the wave's first work-item. Records stand in the order of the wave index, unless the
//! header has a hash.
//!
//! # A record
//! Word 0 is 1 once the wave has written its record: a wave that never ended differs from one that counted
//! nothing. Word 1 is zero. Then follows what the probe map says is measured: five words a site in the order
//! of the map, two words a block (executions, lanes), or four words with the times of entry and end, 64 bits
//! each. The launcher zeroes the records.
//!
//! A packed record ([`Packing`]) has no gaps. The masks of sites come first: NEW, then OLD where it is kept.
//! Counts follow: three a site, five if lanes are summed. Both are in the order of the map. The last word is
//! the sign that the wave wrote its record: it is the record's own offset in the buffer, in bytes. A stride
//! of up to 64 bytes is a power of two, so that a record stands in one sector. (In version 3 such records had
//! five words a site, and their offset in word 1, or in word 4 if the first site had masks.)
//!
//! # How a kernel finds its record
//! The address of the buffer is one more kernel argument, or a variable of the code object (`Abi` of the
//! instrumenter). A kernel with `wave_ids` in its probe map gets six words more behind the address
//! ([`Layout::argument`]), so that it need not read the header:
//!
//! * bytes between the records of workgroups that are neighbours in x, in y and in z;
//! * multiplier and shift of the hash ([`WaveIds::Together`]), or work-items of a workgroup in x and in x
//!   times y ([`WaveIds::Apart`], before gfx90a);
//! * bytes a record.
//!
//! Such a kernel reaches a record by an offset of 32 bits. A launch that needs more than 4 GiB is refused
//! ([`ArgumentError`]).

mod bound;
mod forms;
mod header;
mod lanes;
mod layout;
mod record;
mod slots;

pub use bound::seconds_to_overflow;
pub use forms::{Packing, SiteForm, SiteForms, SiteWords};
pub use header::DecodeError;
pub use lanes::Lanes;
pub use layout::{
    ARGUMENT_BYTES, ArgumentError, HEADER_BYTES, LAYOUT_VERSION, Layout, MAGIC, Probe, RECORD_HEADER_WORDS,
    TIME_WORDS, WORDS_PER_SITE, WaveIds, record_stride,
};
pub use record::{BlockCounts, SiteCounts, WaveRecord, WaveTime, decode, decode_part};
pub use slots::Slots;
