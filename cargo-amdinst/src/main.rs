//! `cargo amdinst`: see [`cargo_amdinst`].

use std::process::ExitCode;

mod allocator;

use allocator::Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// The option `purge_delay` of `mi_option_t` (mimalloc.h of version 2), for which the bindings have no name.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

fn main() -> ExitCode {
    // Memory that is freed is soon wanted again. Pages that had gone back to the system would have to be
    // cleared first, which takes a tenth of the time of instrumenting a library. SAFETY: the option exists,
    // and no other thread sets options.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, -1) };
    cargo_amdinst::main(std::env::args_os())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number stands for the option that it should: none beside it has this default.
    #[test]
    fn memory_is_given_back_after_ten_milliseconds_by_default() {
        let options = [PURGE_DELAY - 1, PURGE_DELAY, PURGE_DELAY + 1];
        // SAFETY: the options exist.
        let defaults = options.map(|option| unsafe { libmimalloc_sys::mi_option_get(option) });
        assert_eq!(defaults.map(|default| default == 10), [false, true, false]);
    }
}
