//! Code object version 2, instrumented: it is changed as what it is, and damage is survived.

use amdgpu_object::{CodeObject, Kernel};
use amdinst_core::instrument::{Abi, Counters, Options, apply, plan};
use proptest::prelude::*;

use crate::require_tools;
use crate::tools::{opencl, shown};
use crate::version2::{Processor, from_version_4};

#[test]
fn it_is_changed_as_what_it_is() {
    require_tools!("clang-22", "ld.lld-22", "llvm-readelf-22", "llvm-objdump-22");
    let object = CodeObject::parse(from_version_4(&opencl("gfx906"), Processor::Flags)).expect("version 2");
    let homes = [Counters::Register, Counters::Lds, Counters::Global];
    let mut counted = 0;
    for (counters, abi) in
        homes.into_iter().map(|home| (home, Abi::Argument)).chain([(Counters::Auto, Abi::Global)])
    {
        let plan = plan(&object, &Options { counters, abi, ..Options::default() }).expect("a plan");
        let instrumented = apply(&object, plan).expect("it can be instrumented");
        let made = CodeObject::parse(instrumented.bytes.clone()).expect("version 2 again");
        assert_eq!((made.version, made.target, made.kernels.len()), (2, object.target, 2));
        let notes = shown(&instrumented.bytes, "llvm-readelf-22", &["--all", "-W", "FILE"]);
        assert!(shown(&instrumented.bytes, "llvm-objdump-22", &["-d", "FILE"]).contains("s_endpgm"));
        for (old, new) in object.kernels.iter().zip(&made.kernels) {
            let probes = instrumented.map.kernel(&old.name).expect("the kernel in the map");
            counted += usize::from(probes.is_instrumented());
            let size = if abi == Abi::Argument && probes.is_instrumented() {
                let added = &new.metadata.args[old.metadata.args.len()..];
                assert_eq!(added[0].name.as_deref(), Some("amdinst_buffer"));
                assert_eq!((Some(added[0].offset), added[0].size), (probes.buffer_argument, 8));
                assert_eq!(added.len(), 1 + usize::from(probes.wave_ids.is_some()));
                added.iter().map(|argument| argument.offset + argument.size).max().expect("one")
            } else {
                old.metadata.kernarg_segment_size
            };
            // The header, the note, and the note as LLVM shows it.
            assert_eq!((new.descriptor.kernarg_size(), new.metadata.kernarg_segment_size), (size, size));
            assert!(notes.contains(&format!("KernargSegmentSize: {size}\n")), "{notes}");
            let lds = new.metadata.group_segment_fixed_size;
            assert_eq!(lds, new.descriptor.group_segment_fixed_size());
            if probes.is_instrumented() {
                assert_eq!((new.metadata.vgpr_count, lds), (probes.cost.vgprs[1], probes.cost.lds[1]));
            }
            // The header stands in the new code, right in front of the kernel's where it did before.
            let header = header_of(&made, new);
            let field = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]).into();
            assert_eq!((field(84), field(86)), (new.metadata.sgpr_count, new.metadata.vgpr_count));
            assert_eq!(
                u64::from_le_bytes(header[16..24].try_into().expect("8 bytes")),
                new.code.start - new.descriptor_address
            );
            // What it says besides is as it was.
            let before = header_of(&object, old);
            assert_eq!((&header[..16], &header[100..]), (&before[..16], &before[100..]));
        }
    }
    // All but the one whose launcher places its LDS.
    assert_eq!(counted, 7);
}

fn header_of<'a>(object: &'a CodeObject, kernel: &Kernel) -> &'a [u8] {
    let at = (kernel.descriptor_address - object.text.address) as usize;
    &object.text_bytes()[at..at + 256]
}

#[test]
fn damage_is_survived() {
    require_tools!("clang-22", "ld.lld-22");
    let good = from_version_4(&opencl("gfx900"), Processor::Note);
    let edits = prop::collection::vec((any::<prop::sample::Index>(), any::<u64>(), 0usize..9), 1..8);
    proptest!(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) }, |(edits in edits)| {
        let mut bytes = good.clone();
        for (place, value, width) in edits {
            let at = place.index(bytes.len());
            let end = (at + width).min(bytes.len());
            bytes[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
        }
        if let Ok(object) = CodeObject::parse(bytes) {
            let made = plan(&object, &Options::default()).and_then(|plan| apply(&object, plan));
            if let Ok(instrumented) = made {
                prop_assert!(CodeObject::parse(instrumented.bytes).is_ok());
            }
        }
    });
}
