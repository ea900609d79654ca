//! Names of kernels for people: C++ and Rust compilers mangle them.

/// The name as the source has it, template arguments included, without parameters and return type. `None` if
/// it is not mangled.
pub fn demangled(name: &str) -> Option<String> {
    if name.starts_with("_Z") {
        let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
        let symbol = cpp_demangle::Symbol::new(name).ok();
        // Rust's older names are C++ names that end in a hash.
        if let Ok(rust) = rustc_demangle::try_demangle(name) {
            return Some(format!("{rust:#}"));
        }
        return symbol?.demangle(&options).ok();
    }
    rustc_demangle::try_demangle(name).ok().map(|name| format!("{name:#}"))
}

/// The name for a heading: demangled, without namespaces, template arguments as far as there is room. A name
/// that is not mangled stays as it is.
///
/// ```
/// use amdinst_core::names::short;
/// assert_eq!(short("_Z8branchesPj"), "branches");
/// assert_eq!(short("_ZN3one3two4fillINS_4vecIIfEELi64EEEvPT_"), "fill<vecI<float>, 64>");
/// assert_eq!(short("vector_add"), "vector_add");
/// ```
pub fn short(name: &str) -> String {
    demangled(name).map_or_else(|| name.to_owned(), |full| amdinst_format::names::shorten(&full))
}

/// The suffix that the crate `gpu-kernel` gives a kernel's symbol.
pub const GPU_KERNEL: &str = "_gpu_kernel";

/// A kernel's name in the source, by its symbol.
pub fn in_source(symbol: &str) -> &str {
    symbol.strip_suffix(GPU_KERNEL).filter(|name| !name.is_empty()).unwrap_or(symbol)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_names_keep_what_tells_instances_apart() {
        assert_eq!(demangled("_Z8branchesPj").as_deref(), Some("branches"));
        assert_eq!(demangled("vector_add"), None);
        assert_eq!(demangled("_not_mangled"), None);
        assert_eq!(
            demangled("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE").as_deref(),
            Some("core::fmt::Write::write_fmt")
        );
        assert_eq!(demangled("_RNvCs1234_7mycrate3foo").as_deref(), Some("mycrate::foo"));
    }
}
