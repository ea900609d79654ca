//! Every mnemonic.

/// A mnemonic, without the suffix of its encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(non_camel_case_types, reason = "the manual's own names")]
#[repr(u16)]
pub enum Op {
    s_endpgm,
}
