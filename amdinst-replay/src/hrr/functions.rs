//! The functions that events are of, by number.

use std::sync::OnceLock;

/// Their names, in the order of their numbers.
const NAMES: &str = include_str!("functions.txt");

/// The name for a number that no function has.
pub const NO_FUNCTION: &str = "an unknown function";

/// The name of a function.
pub fn name(number: u16) -> &'static str {
    all().get(usize::from(number)).copied().unwrap_or(NO_FUNCTION)
}

/// The number of a function.
pub fn number(name: &str) -> Option<u16> {
    let at = all().iter().position(|known| *known == name)?;
    at.try_into().ok()
}

/// All names.
pub fn all() -> &'static [&'static str] {
    static ALL: OnceLock<Vec<&str>> = OnceLock::new();
    ALL.get_or_init(|| NAMES.split_whitespace().collect())
}

/// What those do that change no memory of the GPU, and whose results kernels do not see: parts of names.
/// Events are replayed one after another in the order of their calls, which keeps what these ask for.
const ORDER: [&str; 27] = [
    "Get",
    "PopCallConfiguration",
    "PushCallConfiguration",
    "RegisterFunction",
    "UnregisterFatBinary",
    "hipCtx",
    "hipDevice",
    "hipEvent",
    "hipInit",
    "hipSetDevice",
    "hipSetValidDevices",
    "hipStreamCreate",
    "hipStreamDestroy",
    "hipStreamQuery",
    "hipStreamSynchronize",
    "hipStreamWaitEvent",
    "hipStreamIsCapturing",
    "hipStreamSetAttribute",
    "hipStreamCopyAttributes",
    "hipExtStreamCreateWithCUMask",
    "hipFuncSet",
    "hipKernelSetAttribute",
    "hipMemAdvise",
    "hipMemPrefetch",
    "hipProfiler",
    "hipApiName",
    "hipChooseDevice",
];

/// More of them, by their whole names.
const ORDER_WHOLE: [&str; 18] = [
    "hipConfigureCall",
    "hipSetupArgument",
    "hipDriverGetVersion",
    "hipExtDisableLogging",
    "hipExtEnableLogging",
    "hipExtSetLoggingParams",
    "hipMemPoolCreate",
    "hipMemPoolDestroy",
    "hipMemPoolSetAccess",
    "hipMemPoolSetAttribute",
    "hipMemPoolTrimTo",
    "hipMemSetAccess",
    "hipMemSetMemPool",
    "hipOccupancyMaxActiveBlocksPerMultiprocessor",
    "hipPeekAtLastError",
    "hipThreadExchangeStreamCaptureMode",
    "hipKernelNameRef",
    "hipKernelNameRefByPtr",
];

/// Whether a function only orders others, or asks for something.
pub fn is_order(name: &str) -> bool {
    // One of these hands out memory.
    let hands_out =
        ["hipGraph", "hipDrvGraph", "hipExternalMemoryGet", "hipDeviceReset", "hipDevicePrimaryCtxReset"];
    if hands_out.iter().any(|part| name.starts_with(part)) {
        return false;
    }
    let is_part = |part: &&str| match part.starts_with("hip") {
        true => name.starts_with(*part),
        false => name.contains(*part),
    };
    ORDER.iter().any(is_part)
        || ORDER_WHOLE.contains(&name)
        || name.contains("Occupancy")
        || name == "hipModuleGetFunction"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of HIP's table of 529 functions, by hand.
    #[test]
    fn numbers_are_those_of_the_format() {
        assert_eq!(all().len(), 529);
        for (number_of, name_of) in
            [(2, "__hipRegisterFatBinary"), (99, "hipFree"), (175, "hipGraphLaunch"), (224, "hipMalloc")]
        {
            assert_eq!((name(number_of), number(name_of)), (name_of, Some(number_of)));
        }
        assert_eq!(name(321), "hipModuleLaunchKernel");
        assert_eq!(name(529), NO_FUNCTION);
        let mut names = all().to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().len(), "each once");
    }

    #[test]
    fn what_changes_memory_is_no_order() {
        for name in [
            "hipMemcpy",
            "hipMalloc",
            "hipGraphLaunch",
            "hipLaunchKernel",
            "hipStreamWriteValue32",
            "hipMemMap",
            "hipDeviceReset",
        ] {
            assert!(!is_order(name), "{name}");
        }
        for name in [
            "hipStreamSynchronize",
            "hipGetDevice",
            "hipEventRecord_spt",
            "hipModuleGetFunction",
            "hipPointerGetAttributes",
        ] {
            assert!(is_order(name), "{name}");
        }
    }
}
