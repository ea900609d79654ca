//! Symbols that the expansions share with the link step.

use std::sync::atomic::{AtomicU32, Ordering};

use syn::Ident;

use crate::location::Location;

/// Tells uses apart that share a source location because a macro wrote them. Expansion order is
/// deterministic.
static USES: AtomicU32 = AtomicU32::new(0);

/// A symbol that nothing else has: what it is for, the item's name, a hash of package and place, a running
/// number.
pub(crate) fn unique_symbol(purpose: &str, name: &Ident) -> String {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let Location { file, line, column, .. } = Location::of(name);
    let (package, version) = (variable("CARGO_PKG_NAME"), variable("CARGO_PKG_VERSION"));
    let hash = fnv1a(format!("{package}\0{version}\0{file}\0{line}\0{column}").as_bytes());
    format!("__amdinst_{purpose}_{name}_{hash:016x}_{}", USES.fetch_add(1, Ordering::Relaxed))
}

/// FNV-1a, 64 bits: the same on every host and in every run, which `std`'s hashers do not promise.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
