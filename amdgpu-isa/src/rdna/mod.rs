//! What the generations of RDNA have in common: formats, modifiers and rules that their models are made of.

pub(crate) mod formats;
pub(crate) mod modifiers;
pub(crate) mod rules;
