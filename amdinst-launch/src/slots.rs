//! A kernel's arguments as its note lists them, and what each of them is given as.

use amdgpu_object::{Kernel, KernelArg};
use amdinst_text::count;

use crate::language::{ArgSpec, Argument, Scalar};
use crate::refused::{Refused, RefusedKind};

/// The kernel's explicit arguments, and what each of them is given as. No slots for a note that lists none.
pub(crate) fn slots(
    kernel: &Kernel,
    given: &[Argument],
) -> Result<(Option<Vec<KernelArg>>, Vec<ArgSpec>), Refused> {
    let metadata = &kernel.metadata;
    let explicit: Vec<_> = metadata.args.iter().filter(|arg| !arg.is_hidden()).cloned().collect();
    let listed = |mut failure: Refused| {
        for (index, arg) in explicit.iter().enumerate() {
            failure = failure.note(format!("{}: {}", describe(index, arg), wanted(arg)));
        }
        failure
    };
    let usage =
        |message: String| Refused::new(RefusedKind::Usage, format!("kernel `{}` {message}", kernel.name));
    if explicit.is_empty() && metadata.args.is_empty() && metadata.kernarg_segment_size > 0 {
        if let Some(name) = given.iter().find_map(|argument| argument.name.as_ref()) {
            let message = format!("has no argument `{name}`: its note lists no arguments");
            return Err(usage(message).help("give the arguments in their order, without names"));
        }
        return Ok((None, given.iter().map(|argument| argument.spec.clone()).collect()));
    }
    let mut specs: Vec<Option<ArgSpec>> = vec![None; explicit.len()];
    for Argument { name, spec } in given {
        let Some(name) = name else { continue };
        let Some(index) = explicit.iter().position(|arg| is_called(arg, name)) else {
            let failure = usage(format!("has no argument `{name}`"));
            return Err(if explicit.iter().all(|arg| arg.name.is_none()) {
                listed(failure).help("its note has no names: give the arguments in their order")
            } else {
                listed(failure)
            });
        };
        if specs[index].replace(spec.clone()).is_some() {
            return Err(usage(format!("is given its argument `{name}` twice")));
        }
    }
    let mut free = specs.iter_mut().filter(|spec| spec.is_none());
    let mut too_many = false;
    for Argument { spec, .. } in given.iter().filter(|argument| argument.name.is_none()) {
        match free.next() {
            Some(place) => *place = Some(spec.clone()),
            None => too_many = true,
        }
    }
    match specs.into_iter().collect::<Option<Vec<_>>>() {
        Some(specs) if !too_many => Ok((Some(explicit), specs)),
        _ => {
            let takes = count(explicit.len(), "argument");
            Err(listed(usage(format!("takes {takes}, {} given", given.len()))))
        }
    }
}

/// What clang puts behind the name of an argument that it passes as another type.
const COERCED: &str = ".coerce";

/// An argument's name in the source.
pub(crate) fn arg_name(arg: &KernelArg) -> Option<&str> {
    arg.name.as_deref().map(|name| name.strip_suffix(COERCED).unwrap_or(name))
}

/// Whether a user means this argument.
fn is_called(arg: &KernelArg, name: &str) -> bool {
    arg.name.as_deref() == Some(name) || arg_name(arg) == Some(name)
}

/// Each argument at the next multiple of its size, as C lays them out.
pub(crate) fn natural_layout(specs: &[ArgSpec]) -> Vec<KernelArg> {
    let mut offset = 0u32;
    let mut slots = Vec::new();
    for spec in specs {
        let (size, align) = match spec {
            ArgSpec::Scalar(scalar) => (scalar.bytes().len() as u32, scalar.bytes().len() as u32),
            // A structure's alignment divides its size.
            ArgSpec::Hex(bytes) => (bytes.len() as u32, 1 << (bytes.len() as u32).trailing_zeros().min(3)),
            _ => (8, 8),
        };
        offset = offset.next_multiple_of(align);
        slots.push(KernelArg { offset, size, value_kind: "by_value".to_owned(), ..KernelArg::default() });
        offset += size;
    }
    slots
}

/// ``argument 2 (`n`)``, counted from 1.
pub(crate) fn described(number: usize, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("argument {number} (`{name}`)"),
        None => format!("argument {number}"),
    }
}

/// Describes an argument by its place in the note.
pub(crate) fn describe(index: usize, arg: &KernelArg) -> String {
    described(index + 1, arg_name(arg))
}

/// What to give for an argument.
fn wanted(arg: &KernelArg) -> String {
    match (arg.value_kind.as_str(), arg.size) {
        ("global_buffer", _) => {
            "a pointer: give a buffer, as f32[100], f32:[1,2,3], FILE.npy, in:, out:, inout: or buf:"
                .to_owned()
        }
        (_, 1) => "1 byte: give u8: or i8:".to_owned(),
        (_, 2) => "2 bytes: give u16:, i16:, f16: or bf16:".to_owned(),
        (_, 4) => "4 bytes: give u32:, i32: or f32:".to_owned(),
        (_, 8) => "8 bytes: give u64:, i64:, f64: or a buffer".to_owned(),
        (_, size) => format!("{size} bytes by value: give hex: or bytes:"),
    }
}

/// Kinds that an argument of this command can be.
const KINDS: [&str; 2] = ["by_value", "global_buffer"];

pub(crate) fn check(kernel: &Kernel, index: usize, spec: &ArgSpec, slot: &KernelArg) -> Result<(), Refused> {
    let fail = |exit, what: String| {
        let message = format!("kernel `{}`, {}: {what}", kernel.name, describe(index, slot));
        Err(Refused::new(exit, message))
    };
    if !KINDS.contains(&slot.value_kind.as_str()) {
        return fail(
            RefusedKind::Unsupported,
            format!("arguments of kind `{}` are not supported", slot.value_kind),
        );
    }
    let (given, size) = match spec {
        // A raw address, or null.
        ArgSpec::Scalar(Scalar::U64(_)) => ("u64".to_owned(), 8),
        ArgSpec::Symbol(_) => ("a symbol's address".to_owned(), 8),
        ArgSpec::Scalar(scalar) if slot.value_kind == "global_buffer" => {
            return fail(RefusedKind::Usage, format!("{} given; it is {}", scalar.element(), wanted(slot)));
        }
        ArgSpec::Scalar(scalar) => (scalar.element().to_string(), scalar.bytes().len() as u32),
        ArgSpec::Hex(_) if slot.value_kind == "global_buffer" => {
            return fail(RefusedKind::Usage, format!("bytes given; it is {}", wanted(slot)));
        }
        ArgSpec::Hex(bytes) => ("bytes".to_owned(), bytes.len() as u32),
        _ => ("a buffer's address".to_owned(), 8),
    };
    if size != slot.size {
        return fail(RefusedKind::Usage, format!("{given} ({size} bytes) given; it is {}", wanted(slot)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel_arg(name: &str, offset: u32, size: u32, kind: &str) -> KernelArg {
        KernelArg {
            name: Some(name.to_owned()),
            offset,
            size,
            value_kind: kind.to_owned(),
            address_space: None,
        }
    }

    #[test]
    fn arguments_without_a_note_are_laid_out_as_in_c() {
        let specs = ["u8:1", "buf:4", "u16:2", "f32:1"].map(|text| text.parse().unwrap());
        let offsets: Vec<_> = natural_layout(&specs).iter().map(|slot| slot.offset).collect();
        assert_eq!(offsets, [0, 8, 16, 20]);
    }

    #[test]
    fn what_to_give_is_told() {
        assert_eq!(describe(1, &kernel_arg("n", 0, 4, "by_value")), "argument 2 (`n`)");
        assert!(wanted(&kernel_arg("p", 0, 8, "global_buffer")).contains("inout:"));
        assert!(wanted(&kernel_arg("s", 0, 24, "by_value")).contains("24 bytes"));
    }
}
