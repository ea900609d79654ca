//! A program's C.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::ops::Table;
use crate::program::{Expr, Function, Leave, Pressure, Program, Step, Stmt, Var, visit};
use crate::ty::Ty;

/// What every source begins with.
pub const PRELUDE: &str = include_str!("prelude.h");

/// The source of a batch of programs, for the device and, with its `main`, for the host.
pub fn source(programs: &[Program]) -> String {
    let mut text = String::from("#include \"prelude.h\"\n");
    for (slot, program) in programs.iter().enumerate() {
        render(&mut text, slot, program);
    }
    text.push_str(HOST);
    let rows: Vec<String> = programs
        .iter()
        .enumerate()
        .map(|(slot, program)| format!("{{ k{slot}, {}, {} }}", program.grid, program.output_bytes()))
        .collect();
    let _ = writeln!(text, "ROWS({})\n#endif", rows.join(",\n"));
    text
}

/// On the host: read the input and what is in the output beforehand, run every kernel, write each output.
const HOST: &str = "
#ifndef __AMDGCN__
#include <stdio.h>
typedef void Kernel(u8 *, const u8 *, u32, u32, u16, u64, f32);
typedef struct { Kernel *kernel; u32 groups, bytes; } Row;
static u8 in[8192], start[1 << 17], out[1 << 17];
#define ROWS(...) \\
  int main(int count, char **words) { \\
    static const Row rows[] = { __VA_ARGS__ }; \\
    FILE *file = fopen(words[1], \"rb\"); \\
    if (!file || fread(in, 1, sizeof in, file) != sizeof in || fread(start, 1, sizeof start, file) != sizeof start) return 1; \\
    for (u32 i = 0; i < sizeof rows / sizeof rows[0]; ++i) { \\
      __builtin_memcpy(out, start, sizeof out); \\
      rows[i].kernel(out, in, rows[i].groups, N0, N1, N2, N3); \\
      if (fwrite(out, 1, rows[i].bytes, stdout) != rows[i].bytes) return 1; \\
    } \\
    return 0; \\
  }
";

/// Arguments that every kernel gets, as C and as the bytes behind the two pointers.
pub const NUMBERS: (u32, u16, u64, f32) = (1_000_003, 777, 0x1234_5678_9abc_def1, 1.625);

/// Their definitions for the host's `main`.
pub fn number_macros() -> [String; 4] {
    let (n0, n1, n2, n3) = NUMBERS;
    [format!("-DN0={n0}u"), format!("-DN1={n1}"), format!("-DN2={n2}ul"), format!("-DN3={n3:?}f")]
}

/// Writes program `slot` of a batch.
fn render(text: &mut String, slot: usize, program: &Program) {
    let vars = variables(program);
    // Functions first, one a phase; then the kernel, which takes the steps one after the other.
    let mut code = String::new();
    let mut functions = String::new();
    let mut body = String::new();
    for (index, step) in program.steps.iter().enumerate() {
        match step {
            Step::Barrier => body.push_str("  BARRIER\n"),
            Step::Phase(statements, outlined) => {
                let kind = if *outlined { "OUTLINED" } else { "INLINED" };
                let mut printer = Printer { slot, state: true, text: String::new() };
                printer.statements(statements, 1);
                let _ = writeln!(code, "{kind} void p{slot}_{index}(S{slot} *s, ENV) {{\n{}}}", printer.text);
                let _ = writeln!(body, "  EACH(p{slot}_{index}(s, ENVIRONMENT);)");
            }
            Step::Cross(op, condition, to, value, other) => {
                let printer = Printer { slot, state: true, text: String::new() };
                let args = [printer.expression(value), printer.expression(other)];
                let operation = fill(&Table::get().cross[*op].text, &args);
                let (block, condition) = (program.block, printer.expression(condition));
                let _ =
                    writeln!(body, "  CROSS(S{slot}, {block}, {condition}, s->{}, {operation})", name(*to));
            }
        }
    }
    let mut calls = false;
    for (index, function) in program.functions.iter().enumerate() {
        let pointers = [format!("g{slot}_{index})("), format!("t{slot}_{index}[")];
        let indirect = pointers.iter().any(|pointer| code.contains(pointer) || body.contains(pointer));
        calls |= indirect;
        render_function(&mut functions, slot, index, function, indirect);
    }
    let code = functions + &code;
    let mentions = |words: &[&str]| words.iter().any(|word| code.contains(word) || body.contains(word));
    let lds = mentions(&["mine +", "lds +", "_mine(", "LACC", "SLOT", "FLAT"]);
    let arr = mentions(&["arr +", "FLAT"]);

    let items = program.grid * program.block;
    let fields: String = vars.iter().map(|var| format!(" {} {};", var.ty.name(), name(*var))).collect();
    let _ = writeln!(text, "\n// Program {}.", program.index);
    let _ = writeln!(text, "#undef BUFFERED\n#define BUFFERED ({items} * 256)");
    let pressure = match program.pressure {
        Pressure::None => "NO_PRESSURE",
        Pressure::FewVgprs => "FEW_VGPRS",
        Pressure::FewSgprs => "FEW_SGPRS",
        Pressure::ManyWaves => "MANY_WAVES",
        Pressure::AllVgprs if calls => "CALLING_VGPRS",
        Pressure::AllAgprs if calls => "CALLING_AGPRS",
        Pressure::AllVgprs => "ALL_VGPRS",
        Pressure::AllAgprs => "ALL_AGPRS",
    };
    let _ = writeln!(text, "#undef PRESSURE\n#define PRESSURE {pressure}");
    let _ = writeln!(text, "typedef struct {{{fields} u8 none; }} S{slot};\n{code}");
    let _ = writeln!(text, "KERNEL(k{slot}, S{slot}, {})\n  HOLD", program.block);
    let mut start = String::from(" (void)arr; (void)mine;");
    for (at, var) in vars.iter().enumerate() {
        let input = if var.uniform { "UNIFORM_INPUT" } else { "INPUT" };
        let _ = write!(start, " s->{} = {input}({}, {});", name(*var), var.ty.name(), at * 8);
    }
    if arr {
        start.push_str(" for (u32 i = 0; i < 16; ++i) ((u32 *)arr)[i] = INPUT(u32, i * 8 + 96);");
    }
    if lds {
        start.push_str(" for (u32 i = 0; i < 16; ++i) ((L u32 *)mine)[i] = INPUT(u32, i * 8 + 200);");
        start.push_str(" if (lid < 32) slots(lds, lid);");
    }
    let barrier = if lds { "  BARRIER\n" } else { "" };
    let mut end = String::new();
    let mut at = 0;
    for var in &vars {
        at += var.ty.bytes();
        at = at.next_multiple_of(var.ty.bytes());
        if at <= 128 {
            let _ = write!(end, " OUTPUT({}, {}, s->{});", var.ty.name(), at - var.ty.bytes(), name(*var));
        }
    }
    let _ = writeln!(text, "  EACH({start})\n{barrier}{body}  EACH({end} )\n  LET_GO\nEND");
}

/// The variables of the program's state, in order.
fn variables(program: &Program) -> BTreeSet<Var> {
    let mut vars = BTreeSet::new();
    let mut seen = |var| _ = vars.insert(var);
    for step in &program.steps {
        match step {
            Step::Phase(statements, _) => visit(statements, &mut seen),
            Step::Cross(_, condition, to, value, other) => {
                seen(*to);
                [condition, value, other].iter().for_each(|expr| expr.visit(&mut seen));
            }
            Step::Barrier => {}
        }
    }
    vars
}

fn name(var: Var) -> String {
    let kind = if var.uniform { "n" } else { "v" };
    format!("{kind}_{}_{}", var.ty.name(), var.index)
}

/// The function and, if calls of it may be `indirect`, another that they may reach instead.
fn render_function(text: &mut String, slot: usize, index: usize, function: &Function, indirect: bool) {
    let mut printer = Printer { slot, state: false, text: String::new() };
    let mut vars = BTreeSet::new();
    let mut seen = |var| _ = vars.insert(var);
    visit(&function.body, &mut seen);
    function.value.visit(&mut seen);
    for (at, var) in vars.iter().filter(|var| !function.params.contains(var)).enumerate() {
        let _ = writeln!(
            printer.text,
            "  {} {} = LOAD({}, const G, in + ((lid * 12 & 1016) + {}));",
            var.ty.name(),
            name(*var),
            var.ty.name(),
            8 * at
        );
    }
    printer.statements(&function.body, 1);
    let value = printer.expression(&function.value);
    let kind = if function.outlined { "OUTLINED" } else { "INLINED" };
    let params: String =
        function.params.iter().map(|param| format!("{} {}, ", param.ty.name(), name(*param))).collect();
    let result = function.result.name();
    let _ = writeln!(
        text,
        "{kind} {result} f{slot}_{index}({params}ENV) {{\n{}  return {value};\n}}",
        printer.text
    );
    if !indirect {
        return;
    }
    let locals: String = vars
        .iter()
        .filter(|var| !function.params.contains(var))
        .map(|var| format!("{} {} = LOAD({}, const G, in + 64); ", var.ty.name(), name(*var), var.ty.name()))
        .collect();
    let _ = writeln!(
        text,
        "OUTLINED {result} g{slot}_{index}({params}ENV) {{ {locals}return C_{result}({value}); }}"
    );
    if is_in_table(slot, index) {
        let [one, other] = ['f', 'g'].map(|which| format!("{which}{slot}_{index}"));
        let _ = writeln!(text, "static __typeof__({one}) *const t{slot}_{index}[] = {{ {one}, {other} }};");
    }
}

/// Whether pointers to a function come from a table in memory: what they point to cannot be seen in code
/// then.
const fn is_in_table(slot: usize, function: usize) -> bool {
    (slot + function) % 2 == 1
}

/// A template with its arguments put in.
fn fill(template: &str, args: &[String]) -> String {
    let mut text = template.to_owned();
    for (index, arg) in args.iter().enumerate() {
        text = text.replace(&format!("{{{index}}}"), arg);
    }
    text
}

struct Printer {
    slot: usize,
    /// Variables are the state's, not a function's own.
    state: bool,
    text: String,
}

impl Printer {
    fn variable(&self, var: Var) -> String {
        if self.state { format!("s->{}", name(var)) } else { name(var) }
    }

    fn expression(&self, expression: &Expr) -> String {
        match expression {
            Expr::Const(ty, bits) => constant(*ty, *bits),
            Expr::Var(var) => self.variable(*var),
            Expr::Counter(depth) => format!("i{depth}"),
            Expr::Op(op, args) => {
                let args: Vec<String> = args.iter().map(|arg| self.expression(arg)).collect();
                let op = &Table::get().pure[*op];
                let text = fill(&op.text, &args);
                // Whatever C computes in, the value has the operation's type.
                match op.result {
                    Some(ty) if ty != Ty::Bool => format!("(({})({text}))", ty.name()),
                    _ => format!("({text})"),
                }
            }
            Expr::Call(function, args, indirect) => {
                let args: String = args.iter().map(|arg| self.expression(arg) + ", ").collect();
                let (slot, callee) = (self.slot, function);
                match indirect {
                    None => format!("f{slot}_{callee}({args}ENVIRONMENT)"),
                    Some(choice) if is_in_table(slot, *callee) => {
                        format!("t{slot}_{callee}[{} ? 0 : 1]({args}ENVIRONMENT)", self.expression(choice))
                    }
                    Some(choice) => format!(
                        "({} ? f{slot}_{callee} : g{slot}_{callee})({args}ENVIRONMENT)",
                        self.expression(choice)
                    ),
                }
            }
        }
    }

    fn line(&mut self, indent: usize, line: &str) {
        let _ = writeln!(self.text, "{:1$}{line}", "", 2 * indent);
    }

    fn statements(&mut self, statements: &[Stmt], indent: usize) {
        for statement in statements {
            self.statement(statement, indent);
        }
    }

    fn statement(&mut self, statement: &Stmt, indent: usize) {
        match statement {
            Stmt::Assign(var, value) => {
                let line = format!("{} = {};", self.variable(*var), self.expression(value));
                self.line(indent, &line);
            }
            Stmt::Effect(op, to, args) => {
                let args: Vec<String> = args.iter().map(|arg| self.expression(arg)).collect();
                let effect = fill(&Table::get().effects[*op].text, &args);
                let to = to.map(|var| self.variable(var) + " = ").unwrap_or_default();
                self.line(indent, &format!("{to}{effect};"));
            }
            Stmt::If(condition, then, other) => {
                let line = format!("if ({}) {{", self.expression(condition));
                self.line(indent, &line);
                self.statements(then, indent + 1);
                if !other.is_empty() {
                    self.line(indent, "} else {");
                    self.statements(other, indent + 1);
                }
                self.line(indent, "}");
            }
            Stmt::Loop { depth, rounds, mask, body, leave } => {
                let rounds = self.expression(rounds);
                self.line(
                    indent,
                    &format!("for (u32 i{depth} = 0, e{depth} = ({rounds} & {mask}) + 1; i{depth} < e{depth}; ++i{depth}) {{"),
                );
                let half = if leave.is_some() { body.len() / 2 } else { body.len() };
                self.statements(&body[..half], indent + 1);
                if let Some((condition, leave)) = leave {
                    let way = if *leave == Leave::Break { "break" } else { "continue" };
                    let line = format!("if ({}) {way};", self.expression(condition));
                    self.line(indent + 1, &line);
                }
                self.statements(&body[half..], indent + 1);
                self.line(indent, "}");
            }
            Stmt::Switch(selector, arms) => {
                let line = format!("switch ({} & 7) {{", self.expression(selector));
                self.line(indent, &line);
                for (number, (arm, falls)) in arms.iter().enumerate() {
                    let label = if number + 1 == arms.len() {
                        "default:".to_owned()
                    } else {
                        format!("case {number}:")
                    };
                    self.line(indent + 1, &label);
                    self.statements(arm, indent + 2);
                    if !falls {
                        self.line(indent + 2, "break;");
                    }
                }
                self.line(indent + 1, ";");
                self.line(indent, "}");
            }
            Stmt::Return(value) => {
                let line = match value {
                    Some(value) => format!("return {};", self.expression(value)),
                    None => "return;".to_owned(),
                };
                self.line(indent, &line);
            }
        }
    }
}

/// A constant's C.
fn constant(ty: Ty, bits: u64) -> String {
    match ty {
        Ty::Bool => (bits & 1).to_string(),
        Ty::I8 => format!("((i8){})", bits as i8),
        Ty::U8 => format!("((u8){})", bits as u8),
        Ty::I16 => format!("((i16){})", bits as i16),
        Ty::U16 => format!("((u16){})", bits as u16),
        Ty::I32 => format!("((i32){:#x})", bits as u32),
        Ty::U32 => format!("{:#x}u", bits as u32),
        Ty::I64 => format!("((i64){bits:#x})"),
        Ty::U64 => format!("{bits:#x}ul"),
        Ty::F16 => format!("FROM_BITS_f16({:#x})", bits as u16),
        Ty::F32 => format!("FROM_BITS_f32({:#x}u)", bits as u32),
        Ty::F64 => format!("FROM_BITS_f64({bits:#x}ul)"),
        Ty::I16x2 | Ty::U16x2 | Ty::F16x2 => format!("U32_AS_{}({:#x}u)", ty.name(), bits as u32),
        Ty::F32x2 => format!("U64_AS_f32x2({bits:#x}ul)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_names_each_program() {
        let programs: Vec<_> =
            (0..3).map(|index| crate::generate::program(5, index, crate::generate::Calls::Seldom)).collect();
        let text = source(&programs);
        assert!(text.contains("// Program 2.") && text.contains("{ k2, "));
        assert_eq!(text, source(&programs));
    }
}
