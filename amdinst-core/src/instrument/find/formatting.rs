//! Code that formats text: `core::fmt`, the digits of floats, how types of the user's are shown, and what
//! writes a line that is printed.

use amdinst_format::printed::WRITER;

/// Whether a symbol is that of such a function: of `core`'s formatting, of a type's own
/// (`<T as core::fmt::Debug>::fmt`), or the writer of lines.
pub fn formats_text(symbol: &str) -> bool {
    if symbol == WRITER {
        return true;
    }
    let Ok(name) = rustc_demangle::try_demangle(symbol) else { return false };
    let name = format!("{name:#}");
    let of_numbers = || {
        ["flt2dec", "bignum", "diy_float", "fmt"].iter().any(|module| name.contains(&format!("::{module}::")))
    };
    name.contains("core::fmt::") || name.contains("core::num::") && of_numbers()
}

#[cfg(test)]
mod tests {
    use super::formats_text;

    #[test]
    fn what_formats() {
        for (symbol, formats) in [
            ("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", true),
            ("_ZN4core3num6bignum8Big32x403add17h0123456789abcdefE", true),
            ("_ZN4core3num7flt2dec8strategy5grisu12format_exact17h0123456789abcdefE", true),
            ("_ZN44_$LT$k..Pair$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE", true),
            ("_ZN4core3num8int_sqrt3u3217h0123456789abcdefE", false),
            ("_ZN1k6shapes6format17h0123456789abcdefE", false),
            ("core::fmt::write", false),
            ("__amdinst_write", true),
            ("saxpy", false),
        ] {
            assert_eq!(formats_text(symbol), formats, "{symbol}");
        }
    }
}
