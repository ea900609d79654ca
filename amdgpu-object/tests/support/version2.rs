//! Code objects of version 2, which no compiler of today writes, made byte by byte of those of version 4.
//!
//! Version 2 says of a kernel what version 4 does, otherwise: the code and the data stay where they are, and
//! in front of the code comes an `amd_kernel_code_t` for each kernel (offsets: the user guide's and
//! `AMDKernelCodeT.h`'s). Nothing here uses what reads or writes version 2.

#![allow(dead_code, reason = "each test binary uses a part")]

use amdgpu_object::{CodeObject, Kernel, UserSgpr};

/// Where a processor is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Processor {
    /// In `e_flags`, as LLVM 14 does it.
    Flags,
    /// In the note alone, as LLVM did before.
    Note,
}

const HEADER: u64 = 256;
const PAGE: u64 = 4096;
const KERNEL_SYMBOL: u8 = 10;
const FUNCTION_SYMBOL: u8 = 2;

/// `amd_kernel_code_t` of a kernel that stands at `address`.
pub(crate) fn header(kernel: &Kernel, address: u64) -> Vec<u8> {
    let descriptor = &kernel.descriptor;
    let mut bytes = vec![0; HEADER as usize];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(0, &1u32.to_le_bytes());
    put(4, &2u32.to_le_bytes());
    // Machine kind AMDGPU, 9.0.6.
    put(8, &[1, 0, 9, 0, 0, 0, 6, 0]);
    put(16, &(kernel.code.start - address).to_le_bytes());
    put(48, &descriptor.compute_pgm_rsrc1().to_le_bytes());
    put(52, &descriptor.compute_pgm_rsrc2().to_le_bytes());
    let user = (0..).zip(UserSgpr::ALL).filter(|&(_, value)| descriptor.has_user_sgpr(value));
    let user = user.fold(0, |all, (bit, _)| all | 1u32 << bit);
    // Elements of four bytes, pointers of 64 bits.
    let stack = u32::from(descriptor.uses_dynamic_stack()) << 20;
    put(56, &(user | 1 << 17 | 1 << 19 | stack).to_le_bytes());
    put(60, &descriptor.private_segment_fixed_size().to_le_bytes());
    put(64, &descriptor.group_segment_fixed_size().to_le_bytes());
    put(72, &u64::from(kernel.metadata.kernarg_segment_size).to_le_bytes());
    put(84, &(kernel.metadata.sgpr_count as u16).to_le_bytes());
    put(86, &(kernel.metadata.vgpr_count as u16).to_le_bytes());
    // Logarithms: alignments of 16, 16 and 16 bytes, 64 lanes.
    put(100, &[4, 4, 4, 6]);
    put(104, &(-1i32).to_le_bytes());
    bytes
}

/// The metadata as LLVM 14 lays it out.
pub(crate) fn yaml(kernels: &[Kernel]) -> String {
    let camel = |name: &str| -> String {
        name.split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
    };
    let mut text = "---\nVersion:         [ 1, 0 ]\nKernels:\n".to_owned();
    for kernel in kernels {
        let (name, metadata) = (&kernel.name, &kernel.metadata);
        text += &format!("  - Name:            {name}\n    SymbolName:      '{name}@kd'\n");
        text += "    Language:        OpenCL C\n    LanguageVersion: [ 2, 0 ]\n";
        if let Some([x, y, z]) = metadata.reqd_workgroup_size {
            text += &format!("    Attrs:\n      ReqdWorkGroupSize: [ {x}, {y}, {z} ]\n");
        }
        let mut end = 0u32;
        if !metadata.args.is_empty() {
            text += "    Args:\n";
        }
        for arg in metadata.args.iter() {
            // The largest alignment that goes with the offset and the size.
            let align = (1u32 << arg.offset.trailing_zeros().min(4)).min(arg.size.next_power_of_two());
            assert_eq!(end.next_multiple_of(align), arg.offset, "version 2 has no gaps: {arg:?}");
            end = arg.offset + arg.size;
            let name = arg.name.as_ref().map(|name| format!("Name:            {name}\n        "));
            text += &format!("      - {}TypeName:        'uint*'\n", name.unwrap_or_default());
            text += &format!("        Size:            {}\n        Align:           {align}\n", arg.size);
            text += &format!("        ValueKind:       {}\n", camel(&arg.value_kind));
            if let Some(space) = &arg.address_space {
                text += &format!("        AddrSpaceQual:   {}\n", camel(space));
            }
        }
        text += "    CodeProps:\n";
        for (key, value) in [
            ("KernargSegmentSize:", metadata.kernarg_segment_size),
            ("GroupSegmentFixedSize:", metadata.group_segment_fixed_size),
            ("PrivateSegmentFixedSize:", metadata.private_segment_fixed_size),
            ("KernargSegmentAlign:", metadata.kernarg_segment_align),
            ("WavefrontSize:", metadata.wavefront_size),
            ("NumSGPRs:", metadata.sgpr_count),
            ("NumVGPRs:", metadata.vgpr_count),
            ("MaxFlatWorkGroupSize:", metadata.max_flat_workgroup_size),
        ] {
            text += &format!("      {key} {value}\n");
        }
        if metadata.uses_dynamic_stack {
            text += "      IsDynamicCallStack: true\n";
        }
    }
    text + "...\n"
}

fn note(kind: u32, description: &[u8]) -> Vec<u8> {
    let mut bytes = [4, description.len() as u32, kind].map(u32::to_le_bytes).concat();
    bytes.extend(b"AMD\0");
    bytes.extend(description);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn notes(stepping: u32, metadata: &str) -> Vec<u8> {
    let version = [2u32, 1].map(u32::to_le_bytes).concat();
    let mut isa = [4u16, 7].map(u16::to_le_bytes).concat();
    isa.extend([9, 0, stepping].map(u32::to_le_bytes).concat());
    isa.extend(b"AMD\0AMDGPU\0");
    let name = format!("amdgcn-amd-amdhsa--gfx90{stepping}");
    let all = [(1, &version[..]), (3, &isa), (11, name.as_bytes()), (10, metadata.as_bytes())];
    all.iter().flat_map(|(kind, description)| note(*kind, description)).collect()
}

struct Section {
    name: &'static str,
    kind: u32,
    flags: u64,
    address: u64,
    contents: Vec<u8>,
    link: u32,
    info: u32,
    entry: u64,
}

/// The code object of version 2 that does what `object`, of version 4 for a processor from gfx900 to gfx906,
/// does. It must not need relocations.
pub(crate) fn from_version_4(object: &CodeObject, processor: Processor) -> Vec<u8> {
    with_metadata(object, processor, &yaml(&object.kernels))
}

/// [`from_version_4`] with other metadata.
pub(crate) fn with_metadata(object: &CodeObject, processor: Processor, metadata: &str) -> Vec<u8> {
    assert!(object.relocations.is_empty(), "code of version 2 without relocations");
    let kernels = &object.kernels;
    let headers = object.text.address - HEADER * kernels.len() as u64;
    let before = object.segments.iter().filter(|segment| segment.address < object.text.address);
    assert!(
        before.map(|segment| segment.address + segment.size).all(|end| end <= headers),
        "room for headers"
    );

    // Symbols: kernels from their headers to the end of their code, then functions.
    let mut strings = vec![0];
    let mut symbols = vec![0; 24];
    let mut names = Vec::new();
    let all = (0..).zip(kernels).map(|(index, kernel)| {
        let header = headers + HEADER * index;
        (&kernel.name, KERNEL_SYMBOL, header, kernel.code.end - header)
    });
    let functions = object.functions.iter().map(|function| {
        (&function.name, FUNCTION_SYMBOL, function.code.start, function.code.end - function.code.start)
    });
    let data = object.segments.iter().filter(|segment| !segment.executable && !segment.range.is_empty());
    let text_section = 1 + data.clone().count() as u16;
    for (name, kind, value, size) in all.chain(functions) {
        symbols.extend((strings.len() as u32).to_le_bytes());
        // Global, protected.
        symbols.extend([1 << 4 | kind, 3]);
        symbols.extend(text_section.to_le_bytes());
        symbols.extend([value, size].map(u64::to_le_bytes).concat());
        strings.extend(name.as_bytes());
        strings.push(0);
        names.push(name.as_str());
    }
    let mut hash = [1, 1 + names.len() as u32, u32::from(!names.is_empty())].to_vec();
    // One bucket, in which each symbol leads to the next.
    hash.push(0);
    hash.extend(
        (1..=names.len() as u32).map(|index| if index == names.len() as u32 { 0 } else { index + 1 }),
    );
    let hash: Vec<u8> = hash.into_iter().flat_map(u32::to_le_bytes).collect();

    let mut text: Vec<u8> =
        (0..).zip(kernels).flat_map(|(index, kernel)| header(kernel, headers + HEADER * index)).collect();
    text.extend(object.text_bytes());

    let stepping = object.target.arch.name().bytes().last().map_or(0, |digit| u32::from(digit - b'0'));
    let mut sections: Vec<Section> = Vec::new();
    let mut add = |name, kind, flags, address, contents, link, info, entry| {
        sections.push(Section { name, kind, flags, address, contents, link, info, entry });
    };
    add("", 0, 0, 0, Vec::new(), 0, 0, 0);
    for segment in data {
        let flags = 2 | u64::from(segment.writable);
        add(".data", 1, flags, segment.address, object.bytes[segment.range.clone()].to_vec(), 0, 0, 0);
    }
    add(".text", 1, 6, headers, text, 0, 0, 0);
    let end = object.segments.last().map_or(0, |segment| segment.address + segment.size);
    let mut address = end.next_multiple_of(PAGE);
    let table = u32::from(text_section) + 2;
    let notes = notes(stepping, metadata);
    for (name, kind, contents, link, info, entry) in [
        (".note", 7, notes, 0, 0, 0),
        (".dynsym", 11, symbols.clone(), table + 2, 1, 24),
        (".hash", 5, hash, table, 0, 4),
        (".dynstr", 3, strings.clone(), 0, 0, 0),
    ] {
        let size = contents.len() as u64;
        add(name, kind, 2, address, contents, link, info, entry);
        address = (address + size).next_multiple_of(8);
    }
    let address_of = |name: &str| {
        sections.iter().find(|section| section.name == name).map_or(0, |section| section.address)
    };
    let dynamic = [
        [4, address_of(".hash")],
        [5, address_of(".dynstr")],
        [6, address_of(".dynsym")],
        [10, strings.len() as u64],
        [11, 24],
        [0, 0],
    ];
    let dynamic: Vec<u8> = dynamic.as_flattened().iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut add = |name, kind, flags, address, contents, link, info, entry| {
        sections.push(Section { name, kind, flags, address, contents, link, info, entry });
    };
    add(".dynamic", 6, 3, address, dynamic, table + 2, 0, 16);
    add(".symtab", 2, 0, 0, symbols, table + 5, 1, 24);
    add(".strtab", 3, 0, 0, strings, 0, 0, 0);
    add(".shstrtab", 3, 0, 0, Vec::new(), 0, 0, 0);
    write(sections, object, processor)
}

/// Lays out the file: headers, then each section at an offset that goes with its address.
fn write(mut sections: Vec<Section>, object: &CodeObject, processor: Processor) -> Vec<u8> {
    let mut names = Vec::new();
    let offsets: Vec<u32> = sections
        .iter()
        .map(|section| {
            let at = names.len() as u32;
            names.extend(section.name.bytes().chain([0]));
            at
        })
        .collect();
    sections.last_mut().expect("the names' own section").contents = names;
    let loaded: Vec<&Section> = sections.iter().filter(|section| section.flags != 0).collect();
    // The small sections behind the code share a segment.
    let apart = loaded.iter().position(|section| section.name == ".note").expect("a note");
    let mut segments: Vec<&[&Section]> = loaded[..apart].chunks(1).collect();
    segments.push(&loaded[apart..]);
    let headers = segments.len() + 2;

    let mut file = vec![0; 64 + 56 * headers];
    let mut table = Vec::new();
    let mut programs = Vec::new();
    let program = |kind: u32, flags: u32, offset: u64, address: u64, size: u64, memory: u64, align: u64| {
        let words = [offset, address, address, size, memory, align].map(u64::to_le_bytes).concat();
        [kind.to_le_bytes().to_vec(), flags.to_le_bytes().to_vec(), words].concat()
    };
    let mut place = std::collections::BTreeMap::new();
    for segment in &segments {
        let (first, last) = (segment[0], segment[segment.len() - 1]);
        let at = file.len() as u64;
        let offset = at + (first.address.wrapping_sub(at) & (PAGE - 1));
        file.resize(offset as usize, 0);
        for section in *segment {
            let at = offset + (section.address - first.address);
            file.resize(at as usize, 0);
            file.extend(&section.contents);
            place.insert(section.address, at);
            let alone = match section.name {
                ".note" => Some((4, 4)),
                ".dynamic" => Some((2, 6)),
                _ => None,
            };
            if let Some((kind, flags)) = alone {
                let size = section.contents.len() as u64;
                programs.push(program(kind, flags, at, section.address, size, size, 4));
            }
        }
        let size = last.address + last.contents.len() as u64 - first.address;
        let code = u32::from(first.flags & 4 != 0);
        let data = u32::from(segment.iter().any(|section| section.flags & 1 != 0)) << 1;
        // Memory that the file does not fill.
        let old = object.segments.iter().find(|segment| segment.address == first.address && code == 0);
        let memory = old.map_or(size, |old| old.size);
        programs.push(program(1, 4 | code | data, offset, first.address, size, memory, PAGE));
    }
    for (section, name) in sections.iter().zip(offsets) {
        let offset =
            place.get(&section.address).copied().filter(|_| section.flags != 0).unwrap_or_else(|| {
                file.resize(file.len().next_multiple_of(8), 0);
                let at = file.len() as u64;
                file.extend(&section.contents);
                at
            });
        table.extend([name, section.kind].map(u32::to_le_bytes).concat());
        let size = section.contents.len() as u64;
        table.extend([section.flags, section.address, offset, size].map(u64::to_le_bytes).concat());
        table.extend([section.link, section.info].map(u32::to_le_bytes).concat());
        let align: u64 = match section.name {
            ".text" => 256,
            ".note" => 4,
            _ => 8,
        };
        table.extend([align * u64::from(section.kind != 0), section.entry].map(u64::to_le_bytes).concat());
    }
    file.resize(file.len().next_multiple_of(8), 0);
    let flags = match processor {
        Processor::Flags => u32::from(object.target.arch.mach()),
        Processor::Note => 0,
    };
    // ELF64, little-endian, the HSA ABI, version 0 of it; a shared object for AMDGPU.
    let mut ident = b"\x7fELF\x02\x01\x01\x40\0\0\0\0\0\0\0\0".to_vec();
    ident.extend([3u16, 224].map(u16::to_le_bytes).concat());
    ident.extend(1u32.to_le_bytes());
    ident.extend([0, 64, file.len() as u64].map(u64::to_le_bytes).concat());
    ident.extend(flags.to_le_bytes());
    let count = sections.len() as u16;
    ident.extend([64, 56, headers as u16, 64, count, count - 1].map(u16::to_le_bytes).concat());
    file[..64].copy_from_slice(&ident);
    // Loads in order of address, as ELF wants them.
    programs
        .sort_by_key(|program| (program[0] != 1, program[16..24].iter().rev().copied().collect::<Vec<u8>>()));
    file[64..64 + 56 * headers].copy_from_slice(&programs.concat());
    file.extend(table);
    file
}
