//! What must hold for any input of a reader. The fuzz targets in `tools/fuzz/` call the same functions.

use amdgpu_isa::{Arch, decode, decode_for_listing, parse};
use amdgpu_object::lines::SourceMap;
use amdgpu_object::verify::verify;
use amdgpu_object::{CodeObject, container};
use amdgpu_object::{Resources, occupancy};
use amdinst_core::counters;
use amdinst_core::instrument::{self, Options, ProbeMap, probe_specs};
use amdinst_core::listing::Listing;
use amdinst_core::manifest::Manifest;

/// Code that is analysed has at most this many bytes, which keeps each input quick.
const MAX_ANALYSED: usize = 1 << 13;

/// Containers, code objects, descriptors, notes, source lines, listings, and the instrumenter on what could
/// be read.
pub(crate) fn code_object(bytes: &[u8]) {
    let Ok(found) = container::open(bytes) else { return };
    for embedded in found.into_iter().take(4) {
        assert!(embedded.range.end <= bytes.len() && !embedded.target_id().is_empty());
        let Ok(object) = CodeObject::parse(embedded.bytes.to_vec()) else { continue };
        let arch = object.target.arch;
        for kernel in &object.kernels {
            let descriptor = &kernel.descriptor;
            let _ = (descriptor.vgpr_count(arch), descriptor.sgpr_count(arch), descriptor.kernarg_preload());
            let _ = (descriptor.vector_registers(arch), descriptor.user_sgpr_count());
            let _ = occupancy(arch, &Resources::of(arch, &kernel.metadata));
            assert!(object.kernel(&kernel.name).is_some());
        }
        let _ = verify(&object.bytes);
        if let Ok(lines) = SourceMap::new(&object) {
            let (start, length) = (object.text.address, object.text.range.len());
            for offset in (0..length).step_by(length / 64 + 1) {
                let _ = lines.frames(start.wrapping_add(offset as u64));
            }
        }
        if object.text.range.len() > MAX_ANALYSED {
            continue;
        }
        let mut listing = Vec::new();
        Listing::new(&object).write(&mut listing).expect("a Vec takes everything");
        assert!(std::str::from_utf8(&listing).is_ok());
        let options = Options { probes: probe_specs(&object).unwrap_or_default(), ..Options::default() };
        if let Ok(plan) = instrument::plan(&object, &options)
            && let Ok(instrumented) = instrument::apply(&object, plan)
        {
            CodeObject::parse(instrumented.bytes).expect("what was instrumented can be read");
        }
    }
}

/// The decoder. The first byte chooses the processor.
pub(crate) fn instruction(input: &[u8]) {
    let Some((&first, bytes)) = input.split_first() else { return };
    let arch = Arch::ALL[usize::from(first) % Arch::ALL.len()];
    if let Ok(shown) = decode_for_listing(arch, bytes) {
        assert!(!shown.text(arch).contains("reserved"));
    }
    let Ok(inst) = decode(arch, bytes) else { return };
    let again: Vec<u8> = inst
        .encode(arch)
        .expect("what decodes can be encoded")
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    assert_eq!(again, &bytes[..usize::from(inst.size)], "{}", inst.text(arch));
    let effects = inst.effects(arch);
    assert!(!effects.writes.intersects(&effects.partial));
    let _ = inst.flow();
    let _ = parse(arch, &inst.text(arch));
}

/// The reader of instructions' text. The first character chooses the processor.
pub(crate) fn assembly(text: &str) {
    let mut characters = text.chars();
    let Some(first) = characters.next() else { return };
    let arch = Arch::ALL[first as usize % Arch::ALL.len()];
    let Ok(inst) = parse(arch, characters.as_str()) else { return };
    let bytes: Vec<u8> = inst
        .encode(arch)
        .expect("what parses can be encoded")
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let again = decode(arch, &bytes).expect("what was encoded decodes");
    assert_eq!(again.text(arch), inst.text(arch));
}

/// Counter buffers, probe maps and manifests.
pub(crate) fn records(bytes: &[u8]) {
    if let Ok(records) = counters::decode(bytes) {
        for site in records.iter().flat_map(|record| &record.sites) {
            let _ = (site.diverged(), site.may_have_overflowed());
        }
    }
    if let Ok(map) = ProbeMap::from_json(bytes) {
        for kernel in &map.kernels {
            let _ = (map.kernel(&kernel.name), kernel.is_instrumented(), kernel.explained_pcs().count());
        }
        let _ = map.original_pc(u64::MAX);
    }
    let _ = serde_json::from_slice::<Manifest>(bytes);
}
