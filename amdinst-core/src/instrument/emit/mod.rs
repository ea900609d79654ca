//! The code that is inserted.
//!
//! * [`assembler`] and [`sequence`]: instructions, written down in order.
//! * [`site`] and [`block`]: what counts; [`borrowed`]: registers in use, saved and restored around it.
//! * [`entry`] and [`exit`]: prologue and epilogue of a kernel; [`workgroup`], [`wave_index`] and
//!   [`deferred`]: where a wave's record is.
//! * [`stub`]: what a kernel with preloaded arguments starts with.

pub(crate) mod assembler;
pub(crate) mod block;
pub(crate) mod borrowed;
pub(crate) mod deferred;
pub(crate) mod entry;
pub(crate) mod exit;
pub(crate) mod sequence;
pub(crate) mod site;
pub(crate) mod stub;
mod wave_index;
pub(crate) mod workgroup;
