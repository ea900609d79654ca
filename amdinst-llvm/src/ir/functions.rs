//! LLVM IR as text, read as far as places of faults need it: which instruction makes a value, which ones take
//! it, and where it comes from in the source.

use std::collections::BTreeMap;

use super::text::{closing, split};

/// Words between an instruction's name and its type.
const FLAGS: [&str; 8] = ["fast", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc"];
/// Words before a call.
const CALLS: [&str; 3] = ["tail ", "musttail ", "notail "];
/// Casts: `NAME TYPE VALUE to TYPE`.
const CASTS: [&str; 7] = ["fpext", "fptrunc", "bitcast", "trunc", "zext", "sext", "addrspacecast"];
/// `NAME TYPE VALUE, VALUE`.
const ARITHMETIC: [&str; 17] = [
    "fadd", "fsub", "fmul", "fdiv", "frem", "fneg", "add", "sub", "mul", "udiv", "urem", "shl", "lshr",
    "ashr", "and", "or", "xor",
];

/// A function's body.
#[derive(Debug)]
pub(crate) struct Function<'a> {
    /// As the IR has it.
    pub(crate) name: String,
    pub(crate) is_kernel: bool,
    pub(crate) instructions: Vec<Instruction<'a>>,
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction<'a> {
    /// Which block of the function, from 0.
    pub(crate) block: usize,
    /// `%result`.
    pub(crate) result: Option<&'a str>,
    /// From its name on.
    pub(crate) body: &'a str,
    /// What hangs on it: `!dbg !7`, and more after commas.
    pub(crate) attached: &'a str,
}

/// A type and a value of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operand<'a> {
    pub(crate) ty: &'a str,
    pub(crate) value: &'a str,
}

/// The functions that a module defines.
pub(crate) fn functions(ir: &str) -> Vec<Function<'_>> {
    let mut functions: Vec<Function<'_>> = Vec::new();
    let mut inside = false;
    let mut block = 0;
    for line in ir.lines() {
        if line.starts_with("define ") {
            functions.push(Function {
                name: symbol(line).unwrap_or_default(),
                is_kernel: line.contains(" amdgpu_kernel "),
                instructions: Vec::new(),
            });
            (inside, block) = (true, 0);
        } else if line == "}" {
            inside = false;
        } else if inside && let Some(function) = functions.last_mut() {
            // Labels are not indented, records for debuggers begin with `#`.
            if !line.starts_with(' ') {
                block += usize::from(!function.instructions.is_empty() && line.contains(':'));
            } else if !line.trim_start().starts_with('#') {
                function.instructions.push(Instruction::read(line.trim(), block));
            }
        }
    }
    functions
}

/// The module in a file of machine IR.
pub(crate) fn of_machine_ir(text: &str) -> String {
    let lines = text.lines().skip_while(|line| *line != "--- |").skip(1).take_while(|line| *line != "...");
    lines.flat_map(|line| [line.strip_prefix("  ").unwrap_or(line), "\n"]).collect()
}

/// `name` of `… @name(…` or `… @"name"(…`.
fn symbol(line: &str) -> Option<String> {
    let (_, rest) = line.split_once('@')?;
    match rest.strip_prefix('"') {
        Some(rest) => Some(unescaped(rest.split('"').next()?)),
        None => rest.split('(').next().map(str::to_owned),
    }
}

/// A string without LLVM's escapes.
fn unescaped(text: &str) -> String {
    let bytes = super::text::unescaped(text);
    bytes.map_or_else(|| text.to_owned(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// A type at the beginning, and the rest.
fn split_type(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = if text.starts_with('<') {
        text.find('>')? + 1
    } else if text.starts_with("ptr addrspace(") {
        text.find(')')? + 1
    } else {
        text.find([' ', ','])?
    };
    Some((&text[..end], text[end..].trim_start()))
}

/// A type, perhaps attributes, and a value.
fn operand(text: &str) -> Option<Operand<'_>> {
    let (ty, value) = split_type(text)?;
    // A vector has spaces of its own, and no attribute.
    let is_whole = value.starts_with('<') || value.starts_with("splat");
    let value = if is_whole { value } else { value.rsplit(' ').next()? };
    Some(Operand { ty, value })
}

impl<'a> Instruction<'a> {
    fn read(line: &'a str, block: usize) -> Self {
        let (result, body) = match line.split_once(" = ") {
            Some((result, body)) if result.starts_with('%') => (Some(result), body),
            _ => (None, line),
        };
        let (body, attached) = body.split_once(", !").unwrap_or((body, ""));
        Self { block, result, body, attached }
    }

    /// Its name.
    pub(crate) fn opcode(&self) -> &'a str {
        let body = CALLS.iter().find_map(|word| self.body.strip_prefix(word)).unwrap_or(self.body);
        body.split(' ').next().unwrap_or_default()
    }

    /// What is behind its name and its flags.
    fn rest(&self) -> &'a str {
        let body = CALLS.iter().find_map(|word| self.body.strip_prefix(word)).unwrap_or(self.body);
        let mut rest = body.split_once(' ').map_or("", |(_, rest)| rest);
        while let Some((word, behind)) = rest.split_once(' ')
            && (FLAGS.contains(&word) || matches!(word, "nuw" | "nsw" | "exact" | "disjoint" | "nneg"))
        {
            rest = behind;
        }
        rest
    }

    /// Whether the sign of zero is said not to matter in what it takes and makes.
    pub(crate) fn has_no_signed_zeros(&self) -> bool {
        let mut words = self.body.split(' ').take_while(|word| !word.contains(['%', '@', ',']));
        words.any(|word| word == "nsz" || word == "fast")
    }

    /// The function that it calls, without `@`.
    pub(crate) fn callee(&self) -> Option<&'a str> {
        (self.opcode() == "call").then_some(())?;
        let (_, rest) = self.body.split_once('@')?;
        rest.split('(').next()
    }

    /// The intrinsic that it calls, without the types: `llvm.maxnum`.
    pub(crate) fn intrinsic(&self) -> Option<&'a str> {
        let name = self.callee()?.strip_prefix("llvm.")?;
        let is_type = |part: &str| {
            let part = part.trim_start_matches(|of: char| of == 'v' || of.is_ascii_digit());
            part.trim_start_matches(['f', 'i', 'p']).chars().all(|of| of.is_ascii_digit())
        };
        let mut end = name.len();
        while let Some(dot) = name[..end].rfind('.')
            && is_type(&name[dot + 1..end])
        {
            end = dot;
        }
        Some(&name[..end])
    }

    /// A call without what stands behind its arguments.
    fn without_attributes(&self) -> Option<&'a str> {
        let open = self.body.find('@')? + self.body[self.body.find('@')?..].find('(')? + 1;
        Some(&self.body[..open + closing(&self.body[open..])? + 1])
    }

    /// What it takes, of the instructions whose form is known.
    pub(crate) fn operands(&self) -> Option<Vec<Operand<'a>>> {
        let (opcode, rest) = (self.opcode(), self.rest());
        if ARITHMETIC.contains(&opcode) {
            let (ty, values) = split_type(rest)?;
            return Some(split(values).into_iter().map(|value| Operand { ty, value }).collect());
        }
        if CASTS.contains(&opcode) {
            return Some(vec![operand(rest.rsplit_once(" to ")?.0)?]);
        }
        match opcode {
            "load" => {
                let place = split(rest);
                Some(vec![operand(place.get(1)?)?])
            }
            "select" | "extractelement" | "insertelement" => split(rest).into_iter().map(operand).collect(),
            "getelementptr" => split(rest).into_iter().skip(1).map(operand).collect(),
            "call" => {
                let whole = self.without_attributes()?;
                let open = whole.find('@')? + whole[whole.find('@')?..].find('(')? + 1;
                split(&whole[open..whole.len() - 1]).into_iter().map(operand).collect()
            }
            _ => None,
        }
    }

    /// The type of its result, likewise.
    pub(crate) fn result_type(&self) -> Option<&'a str> {
        let (opcode, rest) = (self.opcode(), self.rest());
        if CASTS.contains(&opcode) {
            return Some(rest.rsplit_once(" to ")?.1);
        }
        match opcode {
            "extractelement" => {
                let vector = split_type(rest)?.0;
                vector.strip_suffix('>')?.split_once(" x ").map(|(_, element)| element)
            }
            "select" => Some(self.operands()?.get(1)?.ty),
            "call" => {
                // Attributes of the result stand before its type.
                let (before, _) = rest.split_once('@')?;
                let before = before.trim_end();
                let begin = match before.rfind('<') {
                    Some(vector) if before.ends_with('>') => vector,
                    _ => before.rfind(' ').map_or(0, |space| space + 1),
                };
                Some(&before[begin..])
            }
            _ => Some(split_type(rest)?.0)
                .filter(|_| ARITHMETIC.contains(&opcode) || matches!(opcode, "load" | "insertelement")),
        }
    }

    /// Its text for another function: `None` if its form is not known.
    pub(crate) fn copied(&self) -> Option<&'a str> {
        match self.opcode() {
            "call" => self.without_attributes(),
            _ => Some(self.body),
        }
    }

    /// Whether it names the value.
    pub(crate) fn takes(&self, value: &str) -> bool {
        let ends = |rest: &str| {
            !rest.starts_with(|next: char| next.is_ascii_alphanumeric() || "._-$".contains(next))
        };
        self.body.match_indices(value).any(|(at, _)| ends(&self.body[at + value.len()..]))
    }

    /// The number of its `DILocation`.
    pub(crate) fn location(&self) -> Option<&'a str> {
        self.attached
            .split(", !")
            .find_map(|part| part.strip_prefix("dbg !"))
            .map(|number| number.trim_end_matches(')'))
    }
}

impl<'a> Function<'a> {
    /// The instruction that makes a value. Arguments have none.
    pub(crate) fn maker(&self, value: &str) -> Option<&Instruction<'a>> {
        self.instructions.iter().find(|instruction| instruction.result == Some(value))
    }

    /// The instructions that take a value.
    pub(crate) fn users(&self, value: &str) -> impl Iterator<Item = &Instruction<'a>> {
        self.instructions.iter().filter(move |instruction| instruction.takes(value))
    }

    /// Whether all lanes of a wave have one value there: `None` if that is not seen at a glance.
    pub(crate) fn is_uniform(&self, value: &str) -> Option<bool> {
        self.uniformity(value, 16)
    }

    fn uniformity(&self, value: &str, depth: usize) -> Option<bool> {
        if !value.starts_with('%') {
            return Some(true);
        }
        let depth = depth.checked_sub(1)?;
        let Some(maker) = self.maker(value) else {
            // A kernel has its arguments from its launcher.
            return self.is_kernel.then_some(true);
        };
        match maker.intrinsic() {
            Some("amdgcn.workitem.id.x" | "amdgcn.mbcnt.lo" | "amdgcn.mbcnt.hi") => return Some(false),
            Some("amdgcn.readfirstlane" | "amdgcn.readlane" | "amdgcn.kernarg.segment.ptr") => {
                return Some(true);
            }
            Some(name) if name.starts_with("amdgcn.workgroup.id.") => return Some(true),
            Some(_) => {}
            // Who knows what a function gives.
            None if maker.opcode() == "call" => return None,
            None => {}
        }
        let operands = maker.operands()?;
        let of = |operand: &Operand<'_>| self.uniformity(operand.value, depth);
        let uniformities: Vec<_> = operands.iter().map(of).collect();
        if uniformities.contains(&Some(false)) {
            return Some(false);
        }
        // What lanes read from one address is one value, but is not always loaded as such, save from constant
        // memory.
        let is_scalar = maker.opcode() != "load" || operands.iter().all(|it| it.ty == "ptr addrspace(4)");
        (is_scalar && uniformities.iter().all(|it| *it == Some(true))).then_some(true)
    }
}

/// A module's lines `!7 = …`.
#[derive(Debug)]
pub(crate) struct Metadata<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Metadata<'a> {
    pub(crate) fn of(ir: &'a str) -> Self {
        Self(ir.lines().filter_map(|line| line.strip_prefix('!')?.split_once(" = ")).collect())
    }

    /// File and line of a `DILocation`: where it was inlined, if the code is the standard library's and where
    /// it was inlined is not.
    pub(crate) fn place(&self, location: &str) -> Option<String> {
        let mut at = location;
        let own = self.place_of(at)?;
        let mut found = own.clone();
        // Each is inlined into another one; a file that goes in circles is none of LLVM's.
        for _ in 0..self.0.len() {
            let (place, is_library) = &found;
            if !is_library {
                return Some(place.clone());
            }
            match field(self.0.get(at)?, "inlinedAt: !") {
                Some(outer) => at = outer,
                None => break,
            }
            found = self.place_of(at)?;
        }
        Some(own.0)
    }

    fn place_of(&self, location: &str) -> Option<(String, bool)> {
        let location = self.0.get(location).filter(|text| text.contains("DILocation("))?;
        let line = field(location, "line: ").filter(|line| *line != "0")?;
        let scope = self.0.get(field(location, "scope: !")?)?;
        let file = self.0.get(field(scope, "file: !")?)?;
        let text = |key: &str| file.split_once(key)?.1.split('"').next().map(unescaped);
        let (name, directory) = (text("filename: \"")?, text("directory: \"").unwrap_or_default());
        let whole = if name.starts_with('/') { name.clone() } else { format!("{directory}/{name}") };
        let is_library = whole.starts_with("/rustc/") || whole.contains("/rustlib/src/rust/library/");
        Some((format!("{name}:{line}"), is_library))
    }
}

/// The text of a field of a node, up to a comma or the end.
fn field<'a>(node: &'a str, key: &str) -> Option<&'a str> {
    node.split_once(key)?.1.split([',', ')']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const IR: &str = r#"
define amdgpu_kernel void @"a b"(ptr addrspace(1) %p, half %h) #0 !dbg !3 {
  %x = tail call nsz noundef float @llvm.maxnum.f32(float noundef %a, float 1.000000e+00) #4, !dbg !6, !range !{i32 0, i32 1}
    #dbg_value(float %x, !9, !DIExpression(), !6)
  br label %next

next:                                             ; preds = %0
  %v = insertelement <2 x half> <half poison, half 0xH8000>, half %h, i64 0
  %g = getelementptr inbounds i8, ptr addrspace(1) %p, i64 %i
  %l = load half, ptr addrspace(1) %g, align 2, !dbg !7
  %w = fpext nnan float %x to double
  ret void
}

define internal fastcc void @two() {
  ret void
}
!1 = !DIFile(filename: "src/lib.rs", directory: "/w")
!2 = !DIFile(filename: "/rustc/4a/library/core/src/num/f32.rs", directory: "/w")
!3 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 1)
!4 = !DILexicalBlock(scope: !5, file: !2, line: 2, column: 1)
!5 = distinct !DISubprogram(name: "max", scope: !2, file: !2, line: 9)
!6 = !DILocation(line: 12, column: 3, scope: !4, inlinedAt: !7)
!7 = distinct !DILocation(line: 5, column: 3, scope: !3)
!8 = !DILocation(line: 12, column: 3, scope: !4)
!9 = !DILocation(line: 0, scope: !3)
"#;

    #[test]
    fn functions_are_read() {
        let functions = functions(IR);
        assert_eq!(functions.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["a b", "two"]);
        assert_eq!([functions[0].is_kernel, functions[1].is_kernel], [true, false]);
        let [call, branch, insert, address, load, cast, ret] = &functions[0].instructions[..] else {
            panic!("{functions:?}");
        };
        assert_eq!([call.block, branch.block, insert.block, ret.block], [0, 0, 1, 1]);
        assert_eq!(
            (call.opcode(), call.intrinsic(), call.result_type()),
            ("call", Some("maxnum"), Some("float"))
        );
        assert!(call.has_no_signed_zeros() && !cast.has_no_signed_zeros());
        let of = |ty, value| Operand { ty, value };
        assert_eq!(call.operands().unwrap(), [of("float", "%a"), of("float", "1.000000e+00")]);
        assert_eq!(
            insert.operands().unwrap(),
            [of("<2 x half>", "<half poison, half 0xH8000>"), of("half", "%h"), of("i64", "0")]
        );
        assert_eq!(address.operands().unwrap(), [of("ptr addrspace(1)", "%p"), of("i64", "%i")]);
        assert_eq!(
            (load.operands().unwrap(), load.result_type()),
            (vec![of("ptr addrspace(1)", "%g")], Some("half"))
        );
        assert_eq!((cast.operands().unwrap(), cast.result_type()), (vec![of("float", "%x")], Some("double")));
        assert_eq!((call.location(), load.location(), cast.location()), (Some("6"), Some("7"), None));
        assert!(cast.takes("%x") && !cast.takes("%") && !address.takes("%"));
        assert_eq!(functions[0].users("%x").count(), 1);
    }

    #[test]
    fn places_are_the_users() {
        let metadata = Metadata::of(IR);
        let at = |location: &str| metadata.place(location);
        assert_eq!(at("7").unwrap(), "src/lib.rs:5");
        assert_eq!(at("6").unwrap(), "src/lib.rs:5");
        assert_eq!(at("8").unwrap(), "/rustc/4a/library/core/src/num/f32.rs:12");
        assert_eq!([at("9"), at("1"), at("99")], [None, None, None]);
    }

    #[test]
    fn values_of_a_wave_are_told_from_those_of_lanes() {
        let ir = "define amdgpu_kernel void @k(i32 %n) {\n  %id = call i32 @llvm.amdgcn.workitem.id.x()\n  \
                  %s = call ptr addrspace(4) @llvm.amdgcn.kernarg.segment.ptr()\n  %u = load i32, ptr addrspace(4) %s, align 4\n  \
                  %a = add nuw i32 %u, %n\n  %b = shl i32 %a, %id\n  %q = call i32 @f(i32 %a)\n  %c = add i32 %q, %a\n  ret void\n}\n";
        let functions = functions(ir);
        let of = |value| functions[0].is_uniform(value);
        assert_eq!([of("7"), of("%n"), of("%u"), of("%a")], [Some(true); 4]);
        assert_eq!([of("%id"), of("%b"), of("%q"), of("%c")], [Some(false), Some(false), None, None]);
    }
}
