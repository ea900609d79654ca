//! The counter buffer: one record a wavefront, with five 32-bit counters a site, two a block, or two times.
//!
//! The launcher allocates [`Layout::buffer_size`] bytes, uploads [`Layout::initial_buffer`] and passes its address in
//! the appended kernel argument. The instrumented kernel reads the header, finds its own record by its wave index, and
//! writes it. [`decode`] reads the buffer back.
//!
//! Everything is little-endian 32-bit words. The format is the contract "Counter buffer" of `DESIGN.md`.

mod bound;
mod forms;
mod layout;
mod record;
mod slots;

pub use bound::seconds_to_overflow;
pub use forms::{Packing, SiteForm, SiteForms, SiteWords};
pub use layout::{
    ARGUMENT_BYTES, ArgumentError, HEADER_BYTES, LAYOUT_VERSION, Layout, MAGIC, Probe, RECORD_HEADER_WORDS,
    TIME_WORDS, WAVEFRONT_SIZE, WORDS_PER_SITE, WaveIds, record_stride,
};
pub use record::{BlockCounts, DecodeError, SiteCounts, WaveRecord, WaveTime, decode, decode_part};
pub use slots::Slots;
