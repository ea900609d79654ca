//! The metadata note (`NT_AMD_HSA_METADATA`, YAML; user guide, "Code Object V2 Metadata"), as what version 3
//! has instead.

use super::yaml::{self, Node, Scalar};
use crate::KernelArg;
use crate::messagepack::write;
use crate::metadata::MetadataEdit;

/// The note's YAML, and the same as metadata of version 3.
#[derive(Clone, Debug)]
pub(crate) struct Metadata {
    tree: Node,
    /// What `NT_AMDGPU_METADATA` would say, in MessagePack.
    pub(crate) version_3: Vec<u8>,
}

impl Metadata {
    /// Reads the description of a note.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        // Some writers end the text with a zero.
        let bytes = bytes.strip_suffix(b"\0").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
        let tree = yaml::parse(text)?;
        let version_3 = version_3(&tree)?;
        Ok(Self { tree, version_3 })
    }

    /// The description of the note with kernels edited: `edits` by name. `None` if it has none of them.
    ///
    /// # Errors
    /// What cannot be said in this form, for people.
    pub(crate) fn edited<'e>(
        mut self,
        edits: impl Fn(&str) -> Option<&'e MetadataEdit>,
    ) -> Result<Option<Vec<u8>>, String> {
        let mut changed = false;
        if let Some(Node::Sequence(kernels)) = self.tree.entry("Kernels", Node::Sequence(Vec::new())) {
            for kernel in kernels {
                let Some(name) = kernel.get("Name").and_then(text).map(str::to_owned) else { continue };
                if let Some(edit) =
                    edits(&amdinst_text::name_of(&name)).filter(|edit| **edit != MetadataEdit::default())
                {
                    apply(edit, kernel)
                        .ok_or_else(|| format!("the metadata of `{name}` is not in the usual form"))?;
                    let end = end_of_arguments(kernel)?;
                    let last = edit.append_args.last().map(|arg| u64::from(arg.offset) + u64::from(arg.size));
                    if last.is_some_and(|last| last != end) {
                        return Err(format!(
                            "the arguments of `{name}` end elsewhere than its kernarg segment, and in code object \
                             version 2 a new one can only stand right behind them"
                        ));
                    }
                    changed = true;
                }
            }
        }
        Ok(changed.then(|| self.tree.document().into_bytes()))
    }
}

/// Keys of a kernel's code properties, and what version 3 calls them.
const CODE_PROPERTIES: [(&str, &str); 11] = [
    ("KernargSegmentSize", ".kernarg_segment_size"),
    ("GroupSegmentFixedSize", ".group_segment_fixed_size"),
    ("PrivateSegmentFixedSize", ".private_segment_fixed_size"),
    ("KernargSegmentAlign", ".kernarg_segment_align"),
    ("WavefrontSize", ".wavefront_size"),
    ("NumSGPRs", ".sgpr_count"),
    ("NumVGPRs", ".vgpr_count"),
    ("MaxFlatWorkGroupSize", ".max_flat_workgroup_size"),
    ("NumSpilledSGPRs", ".sgpr_spill_count"),
    ("NumSpilledVGPRs", ".vgpr_spill_count"),
    ("IsDynamicCallStack", ".uses_dynamic_stack"),
];

/// Those that compilers leave out where they are zero, and version 3 does not: there, one that is missing is
/// not known.
const ZERO_IF_MISSING: [&str; 2] = [".sgpr_spill_count", ".vgpr_spill_count"];

fn text(node: &Node) -> Option<&str> {
    match node {
        Node::Scalar(scalar) => Some(&scalar.text),
        _ => None,
    }
}

fn items(node: Option<&Node>) -> &[Node] {
    match node {
        Some(Node::Sequence(items)) => items,
        _ => &[],
    }
}

/// A map that is being written.
#[derive(Default)]
struct Map {
    length: u32,
    entries: Vec<u8>,
}

impl Map {
    /// Where the value of another key goes.
    fn key(&mut self, key: &str) -> &mut Vec<u8> {
        self.length += 1;
        write::string(&mut self.entries, key);
        &mut self.entries
    }

    fn add(&mut self, key: &str, node: Option<&Node>) {
        if let Some(node) = node {
            value(self.key(key), node);
        }
    }

    fn add_text(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            write::string(self.key(key), text);
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        write::map(out, self.length);
        out.extend(&self.entries);
    }
}

fn version_3(tree: &Node) -> Result<Vec<u8>, String> {
    if !matches!(tree, Node::Mapping(_)) {
        return Err("its top level is not a mapping".to_owned());
    }
    let kernels = match tree.get("Kernels") {
        None => &[],
        Some(Node::Sequence(kernels)) => &kernels[..],
        Some(_) => return Err("Kernels is not a sequence".to_owned()),
    };
    let mut top = Map::default();
    let entries = top.key("amdhsa.kernels");
    write::array(entries, kernels.len() as u32);
    for kernel in kernels {
        self::kernel(kernel)?.write(entries);
    }
    let mut out = Vec::new();
    top.write(&mut out);
    Ok(out)
}

fn kernel(node: &Node) -> Result<Map, String> {
    let mut map = Map::default();
    map.add_text(".name", node.get("Name").and_then(text));
    // The symbol of the kernel itself; that of the metadata is what launchers ask for.
    let symbol = node.get("SymbolName").and_then(text);
    map.add_text(".symbol", symbol.map(|symbol| symbol.strip_suffix("@kd").unwrap_or(symbol)));
    map.add_text(".language", node.get("Language").and_then(text));
    let attributes = node.get("Attrs");
    map.add(".reqd_workgroup_size", attributes.and_then(|all| all.get("ReqdWorkGroupSize")));
    let properties = node.get("CodeProps");
    for (key, new) in CODE_PROPERTIES {
        match properties.map(|all| all.get(key)) {
            Some(None) if ZERO_IF_MISSING.contains(&new) => write::number(map.key(new), 0),
            found => map.add(new, found.flatten()),
        }
    }
    let args = arguments(node)?;
    let entries = map.key(".args");
    write::array(entries, args.len() as u32);
    for (arg, offset) in args {
        argument(arg, offset).write(entries);
    }
    Ok(map)
}

/// Numbers and truth values as such, everything else as text.
fn value(out: &mut Vec<u8>, node: &Node) {
    match node {
        Node::Scalar(Scalar { text, plain: true }) => match (text.parse::<u64>(), text.as_str()) {
            (Ok(number), _) => write::number(out, number),
            (_, "true") => write::boolean(out, true),
            (_, "false") => write::boolean(out, false),
            _ => write::string(out, text),
        },
        Node::Scalar(scalar) => write::string(out, &scalar.text),
        Node::Sequence(items) => {
            write::array(out, items.len() as u32);
            items.iter().for_each(|item| value(out, item));
        }
        Node::Mapping(_) => write::nil(out),
    }
}

/// The arguments of a kernel, each with its offset: behind the one before it, as aligned as it says.
fn arguments(kernel: &Node) -> Result<Vec<(&Node, u64)>, String> {
    let name = kernel.get("Name").and_then(text).unwrap_or_default();
    let mut next = 0u64;
    let mut placed = Vec::new();
    for (index, arg) in items(kernel.get("Args")).iter().enumerate() {
        let number = |key: &str| arg.get(key).and_then(text).and_then(|text| text.parse::<u32>().ok());
        let (size, align) = (number("Size"), number("Align").filter(|align| align.is_power_of_two()));
        let (Some(size), Some(align)) = (size, align) else {
            return Err(format!(
                "argument {} of `{name}` has no size, or an alignment that is no power of two",
                index + 1
            ));
        };
        // At most 2^32 for each of fewer than 2^32 arguments.
        let offset = next.next_multiple_of(align.into());
        next = offset + u64::from(size);
        placed.push((arg, offset));
    }
    Ok(placed)
}

fn end_of_arguments(kernel: &Node) -> Result<u64, String> {
    let placed = arguments(kernel)?;
    let size = |arg: &Node| arg.get("Size").and_then(text).and_then(|text| text.parse::<u64>().ok());
    Ok(placed.last().map_or(0, |(arg, offset)| offset + size(arg).unwrap_or(0)))
}

fn argument(arg: &Node, offset: u64) -> Map {
    let mut map = Map::default();
    write::number(map.key(".offset"), offset);
    map.add_text(".name", arg.get("Name").and_then(text));
    map.add(".size", arg.get("Size"));
    map.add_text(".value_kind", arg.get("ValueKind").and_then(text).map(snake_case).as_deref());
    let space = arg.get("AddrSpaceQual").and_then(text);
    map.add_text(".address_space", space.map(str::to_ascii_lowercase).as_deref());
    map
}

/// `HiddenGlobalOffsetX` to `hidden_global_offset_x`.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for (index, c) in name.chars().enumerate() {
        if c.is_ascii_uppercase() && index > 0 {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// `global_buffer` to `GlobalBuffer`.
fn camel_case(name: &str) -> String {
    let words = name.split('_').map(|word| {
        let (first, rest) = word.split_at_checked(1).unwrap_or((word, ""));
        first.to_ascii_uppercase() + rest
    });
    words.collect()
}

/// `None` if the metadata does not have the form for it.
fn apply(edit: &MetadataEdit, kernel: &mut Node) -> Option<()> {
    let numbers = [
        ("KernargSegmentSize", edit.kernarg_segment_size),
        ("GroupSegmentFixedSize", edit.group_segment_fixed_size),
        ("PrivateSegmentFixedSize", edit.private_segment_fixed_size),
        ("NumSGPRs", edit.sgpr_count),
        ("NumVGPRs", edit.vgpr_count),
    ];
    let properties = kernel.entry("CodeProps", Node::Mapping(Vec::new()))?;
    for (key, number) in numbers {
        if let Some(number) = number {
            let new = || Node::Scalar(Scalar::plain(number.to_string()));
            *properties.entry(key, new())? = new();
        }
    }
    if !edit.append_args.is_empty() {
        let Node::Sequence(args) = kernel.entry("Args", Node::Sequence(Vec::new()))? else { return None };
        args.extend(edit.append_args.iter().map(appended));
    }
    Some(())
}

fn appended(arg: &KernelArg) -> Node {
    let mut entries = Vec::new();
    let mut add = |key: &str, value: Option<String>| {
        entries.extend(value.map(|value| (Scalar::plain(key), Node::Scalar(Scalar::plain(value)))));
    };
    add("Name", arg.name.clone());
    add("Size", Some(arg.size.to_string()));
    // What is appended is a number or a pointer, which is as aligned as it is large, or several numbers.
    add("Align", Some(arg.size.next_power_of_two().min(8).to_string()));
    add("ValueKind", Some(camel_case(&arg.value_kind)));
    add("AddrSpaceQual", arg.address_space.as_deref().map(camel_case));
    Node::Mapping(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_kinds_are_those_of_version_3_and_back() {
        for (camel, snake) in [
            ("ByValue", "by_value"),
            ("GlobalBuffer", "global_buffer"),
            ("HiddenGlobalOffsetX", "hidden_global_offset_x"),
            ("HiddenMultiGridSyncArg", "hidden_multi_grid_sync_arg"),
            ("Global", "global"),
        ] {
            assert_eq!((snake_case(camel).as_str(), camel_case(snake).as_str()), (snake, camel));
        }
    }

    #[test]
    fn arguments_count_from_1() {
        let text = "---\nKernels:\n  - Name: k\n    Args:\n      - Size: 8\n        Align: 8\n      - Size: 4\n...\n";
        let error = Metadata::read(text.as_bytes()).err();
        let told = "argument 2 of `k` has no size, or an alignment that is no power of two";
        assert_eq!(error.as_deref(), Some(told));
    }
}
