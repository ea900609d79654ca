"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main");
const crumbs = document.getElementById("crumbs");
const SIGN = { "exact": "", "at-most": "≤ ", "about": "≈ ", "unknown": "" };
const PAGE_ROWS = 200, PRINTED_ROWS = 500, CHUNK_LINES = 100, STRIP_CELLS = 1024, FOLDED_KERNELS = 40;

/* Elements: h("a", {href: "#/"}, "text", child, [children]). Text is never taken as HTML. */
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined));
  return element;
}
const one = (number, thing) => `${number} ${thing}${number === 1 ? "" : /ch$/.test(thing) ? "es" : "s"}`;
const percent = (part, whole) => (whole ? (100 * part / whole).toFixed(1) : "0.0") + " %";
const hex = (number) => "0x" + number.toString(16).padStart(6, "0");
/* Files of Rust's own library as rustc calls them, without the place where it is installed. */
const fileName = (index) => index < 0 ? "<unknown>" : data.sources[index].file.replace(/^.*\/(rustlib\/src\/rust|rustc\/[0-9a-f]+)\/(?=library\/)/, "");
const place = (branch) => fileName(branch.file) + (branch.line ? ":" + branch.line + (branch.column ? ":" + branch.column : "") : "");
const title = (branch) => (({ "if": "branch", "loop-exit": "loop" })[branch.kind] || branch.kind) + (branch.probe ? ` “${branch.probe}”` : "");
const lost = (branch) => branch.certainty === "unknown" ? "not counted" : SIGN[branch.certainty] + branch.lost;
const average = (sum, branch) => branch.certainty === "unknown" ? "–" : (branch.counts[0] ? sum / branch.counts[0] : 0).toFixed(1);
const wave = (id) => `${id[0] + 1}. launch, workgroup (${id[1]}, ${id[2]}, ${id[3]}), wave ${id[4]}`;

/* All branches of all kernels, the worst first: the order within each kernel is so already. */
const all = [];
data.kernels.forEach((kernel, k) => kernel.branches.forEach((branch, b) =>
  all.push({ kernel, branch, href: `#/kernel/${k}/branch/${b}`, k, b, text: `${kernel.name} ${kernel.cpu} ${place(branch)} ${title(branch)}`.toLowerCase() })));
const SORT = {
  lost: (a, b) => b.branch.lost - a.branch.lost || b.branch.counts[3] - a.branch.counts[3],
  diverged: (a, b) => b.branch.counts[3] / (b.branch.counts[0] || 1) - a.branch.counts[3] / (a.branch.counts[0] || 1),
  executions: (a, b) => b.branch.counts[0] - a.branch.counts[0],
  source: (a, b) => a.branch.file - b.branch.file || a.branch.line - b.branch.line || a.branch.column - b.branch.column,
  kernel: (a, b) => a.k - b.k,
};
all.sort(SORT.lost);

function bar(counts) {
  const [executions, whole, none, diverged] = counts;
  const part = (name, value) => h("i", { class: name, style: `width:${executions ? 100 * value / executions : 0}%` });
  return h("span", { class: "bar", role: "img", "aria-label": `all ${whole}, some ${diverged}, none ${none} of ${executions}`, title: `all ${whole}, some ${diverged}, none ${none}` },
    part("all", whole), part("some", diverged), part("none", none));
}
const legend = () => h("p", { class: "legend strip-legend" },
  ["all", "some", "none"].map((name) => h("span", {}, h("span", { class: "strip" }, h("i", { class: name })),
    { all: "all active lanes went on", some: "some did: diverged", none: "none did" }[name])));
/* What a kernel takes without and with probes; only fewer waves cost something. */
function change(pair, costs) {
  if (!pair) return h("td", { class: "n" }, "–");
  const [before, after] = pair;
  return h("td", { class: "n" }, before === after ? String(before) : h("span", { class: costs && after < before ? "up" : null }, `${before} → ${after}`));
}
const row = (cells, tag = "td") => h("tr", {}, cells.map((cell) => cell instanceof Node && /^T[DH]$/.test(cell.nodeName) ? cell : h(tag, {}, cell)));
const number = (value) => h("td", { class: "n" }, String(value));
const heads = (names) => h("thead", {}, h("tr", {}, names.map((name) => {
  const right = name.startsWith(">");
  return h("th", { scope: "col", class: right ? "n" : null }, right ? name.slice(1) : name);
})));

/* Columns that no kernel has anything for are left out. */
function kernelTable(kernels) {
  const timed = kernels.some((kernel) => kernel.time), modelled = kernels.some((kernel) => kernel.modelled);
  const times = [timed ? ">ticks (median)" : null, ...(modelled ? [">cycles a launch", ">when counted"] : [])].filter((name) => name);
  return h("div", { class: "wide" }, h("table", { id: "kernels" }, heads(["kernel", "processor", ">launches", ">waves", "counters", ">SGPRs", ">VGPRs", ">LDS", ">scratch", ">occupancy", ...times, ">branches", ">diverged", ">lanes lost"]),
    h("tbody", {}, kernels.map((kernel) => {
      const r = kernel.resources || {};
      const sum = kernel.branches.reduce((total, branch) => total + branch.lost, 0);
      const exact = kernel.branches.every((branch) => branch.certainty === "exact");
      return row([h("td", {}, h("a", { href: `#/kernel/${data.kernels.indexOf(kernel)}` }, h("code", {}, kernel.name))), kernel.cpu,
        number(kernel.launches), number(kernel.waves), kernel.home, change(r.sgprs), change(r.vgprs), change(r.lds), change(r.scratch), change(r.occupancy, true),
        ...(timed ? [number(kernel.time ? kernel.time.median : "–")] : []), ...(modelled ? modelledCells(kernel.modelled) : []), number(kernel.branches.length), number(kernel.branches.filter((branch) => branch.counts[3]).length), number((exact ? "" : "≈ ") + sum)]);
    }))));
}

/* Modelled times. A cause of cycles always has the same colour. */
const CAUSES = ["issue", "vector-memory", "scalar-memory", "lds", "dependency", "barrier", "branch", "fetch", "vector-busy", "scalar-busy", "vector-memory-busy", "lds-busy", "special-busy", "counter-full", "pause"];
const EXPLAINED = { "issue": "an instruction was issued", "dependency": "a result in registers", "vector-memory": "s_waitcnt: vector memory", "scalar-memory": "s_waitcnt: scalar memory", "lds": "s_waitcnt: LDS", "counter-full": "too many operations under way",
  "barrier": "the other waves, at a barrier", "branch": "a taken branch", "fetch": "the instruction cache", "pause": "s_nop and s_sleep", "vector-busy": "the vector ALU worked for another", "scalar-busy": "the scalar unit was busy",
  "vector-memory-busy": "the address unit was busy", "lds-busy": "LDS was busy", "special-busy": "another wave branched or waited" };
const total = (cycles) => cycles.reduce((sum, part) => sum + part, 0);
const share = (part, whole) => (whole ? 100 * part / whole : 0).toFixed(1) + " %";
const modelledCells = (time) => time ? [number((time.cycles / time.launches).toFixed(0)), number(time.instrumented ? (time.instrumented / time.cycles).toFixed(2) + "×" : "–")] : [number("–"), number("–")];
function cycleBar(causes, cycles, whole) {
  const sum = total(cycles);
  const parts = causes.map((cause, index) => [cause, cycles[index]]).filter(([, part]) => part);
  const text = parts.map(([cause, part]) => `${cause} ${share(part, sum)}`).join(", ");
  return h("span", { class: "bar cycles", role: "img", "aria-label": text, title: text }, parts.map(([cause, part]) => h("i", { class: `c${CAUSES.indexOf(cause)}`, style: `width:${(100 * part / (whole || 1)).toFixed(2)}%` })));
}
const largest = (causes, cycles) => { const sum = total(cycles); return causes.map((cause, index) => [cause, cycles[index]]).filter(([, part]) => part / (sum || 1) >= .05).sort((a, b) => b[1] - a[1]).slice(0, 3).map(([cause, part]) => `${cause} ${(100 * part / sum).toFixed(0)} %`).join(", "); };
/* Where the cycles of a kernel's waves went: by cause, and by line. */
function cyclesOf(kernel) {
  const time = kernel.modelled;
  if (!time) return [];
  const whole = total(time.total), most = Math.max(1, ...time.lines.map((line) => total(line[3])));
  const microseconds = time.cycles / time.launches / time.megahertz;
  return [h("h2", {}, "Where the cycles go"),
    h("p", {}, `Modelled on ${time.device} (${time.megahertz} MHz), not measured: ${(time.cycles / time.launches).toFixed(0)} cycles a launch (${microseconds.toFixed(2)} µs), over ${one(time.launches, "launch")}; ${share(time.occupancy, 1)} of the wave slots were used.`,
      time.instrumented ? ` With counting it takes ${(time.instrumented / time.cycles).toFixed(2)} times as long.` : ""),
    h("div", { class: "causes" }, cycleBar(time.causes, time.total, whole)),
    h("ul", { class: "legend causes" }, time.causes.map((cause, index) => time.total[index] ? h("li", {}, h("i", { class: `c${CAUSES.indexOf(cause)}` }), h("b", {}, `${cause} ${share(time.total[index], whole)}`), h("span", { class: "dim" }, " " + (EXPLAINED[cause] || ""))) : null).filter((item) => item)),
    h("details", { open: true, class: "cycle-lines" }, h("summary", {}, "By line"), h("div", { class: "wide" }, h("table", {}, heads(["source", ">share", "", ">instructions", ">wave-cycles", "mostly"]),
      h("tbody", {}, time.lines.slice(0, 200).map(([file, line, executions, cycles]) => row([h("td", {}, file < 0 ? h("span", { class: "dim" }, "no line") : link(file, line)), number(share(total(cycles), whole)), h("td", {}, cycleBar(time.causes, cycles, most)), number(executions), number(total(cycles)), largest(time.causes, cycles)]))))))];
}
/* Wave-cycles of each line of a file, and of all lines of these kernels. */
function cyclesByLine(file, kernels) {
  const lines = new Map();
  let whole = 0;
  for (const kernel of kernels) if (kernel.modelled) {
    whole += total(kernel.modelled.total);
    for (const [of, line, , cycles] of kernel.modelled.lines) if (of === file && line) {
      const known = lines.get(line) || { cycles: 0, texts: [] };
      known.cycles += total(cycles);
      known.texts.push(`${kernel.name}: ${largest(kernel.modelled.causes, cycles)}`);
      lines.set(line, known);
    }
  }
  return { lines, whole };
}
/* Source lines by how often they ran, if blocks were measured. */
const lanesOfEach = (executions, lanes) => lanes ? (lanes / executions).toFixed(1) : "–";
function linesOf(kernels) {
  const rows = kernels.flatMap((kernel) => kernel.lines.map((line) => [kernel, ...line])).sort((a, b) => b[3] - a[3]);
  if (!rows.length) return [];
  const most = Math.max(1, rows[0][3]), ran = rows.filter((entry) => entry[3]).length, named = kernels.length > 1;
  return [h("h2", {}, "Lines"), h("details", { open: true, class: "run-lines" }, h("summary", {}, `${ran} of ${one(rows.length, "line")} ran`),
    h("div", { class: "wide" }, h("table", { class: "lines" }, heads([...(named ? ["kernel"] : []), "source", ">executions", "", ">lanes of each"]),
      h("tbody", {}, rows.slice(0, PRINTED_ROWS).map(([kernel, file, line, executions, lanes]) => row([...(named ? [h("td", {}, h("a", { href: `#/kernel/${data.kernels.indexOf(kernel)}` }, kernel.name))] : []),
        h("td", {}, link(file, line)), number(executions), h("td", {}, h("span", { class: "bar", role: "img", "aria-label": `${executions} of at most ${most}` }, h("i", { class: "all", style: `width:${(100 * executions / most).toFixed(2)}%` }))), number(lanesOfEach(executions, lanes))])))),
      rows.length > PRINTED_ROWS ? h("p", { class: "dim" }, `${rows.length - PRINTED_ROWS} more are not shown.`) : null))];
}
/* What is told of each line of a file that ran, or could have: the executions of these kernels. */
function runsByLine(file, kernels) {
  const lines = new Map();
  let most = 0;
  for (const kernel of kernels) for (const [of, line, executions, lanes] of kernel.lines) if (of === file) {
    const known = lines.get(line) || { executions: 0, texts: [] };
    known.executions += executions;
    known.texts.push(`${kernel.name}: ${one(executions, "execution")}, ${lanesOfEach(executions, lanes)} lanes of each`);
    lines.set(line, known);
    most = Math.max(most, known.executions);
  }
  return { lines, most };
}
const runCell = (known, most) => h("span", { class: "cyc", title: known ? known.texts.join("\n") : null, style: known && most ? `--share:${(100 * known.executions / most).toFixed(1)}%` : null }, known ? String(known.executions) : "");
const cycleCell = (cycles, whole, text) => h("span", { class: "cyc", title: text || null, style: cycles ? `--share:${(100 * cycles / (whole || 1)).toFixed(1)}%` : null }, cycles ? share(cycles, whole) : "");

/* A table of branches that grows as it is scrolled: ten thousand rows are too many to draw at once. */
function branchTable(rows, withKernel) {
  let sorted = rows, shown = rows, drawn = 0, order = "lost";
  const body = h("tbody");
  const more = h("button", { type: "button", on: { click: () => draw(PAGE_ROWS) } });
  const status = h("span", { class: "dim", role: "status" });
  function draw(count) {
    const end = Math.min(shown.length, drawn + count);
    const fragment = document.createDocumentFragment();
    for (; drawn < end; drawn++) {
      const { kernel, branch, href } = shown[drawn];
      const c = branch.counts;
      fragment.append(row([withKernel ? h("td", {}, h("code", {}, kernel.name)) : null,
        h("td", {}, h("a", { href }, h("code", {}, place(branch)))), title(branch), h("td", {}, bar(c)), number(c[0]), number(`${c[3]} (${percent(c[3], c[0])})`),
        number(`${average(c[5], branch)} of ${average(c[4], branch)}`), number(lost(branch)), number(`${branch.waves[1]} of ${branch.waves[0]}`)].filter((cell) => cell)));
    }
    body.append(fragment);
    more.hidden = drawn >= shown.length;
    more.textContent = `${shown.length - drawn} more`;
    status.textContent = `${one(shown.length, "branch")}, ${shown.filter((entry) => entry.branch.counts[3]).length} diverged`;
  }
  function restart() { body.replaceChildren(); drawn = 0; draw(PAGE_ROWS); }
  const filter = h("input", { type: "search", placeholder: "kernel, file:line or probe", "aria-label": "Filter branches", on: { input: () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter((word) => word);
    shown = sorted.filter((entry) => words.every((word) => entry.text.includes(word)));
    restart();
  } } });
  const only = h("select", { "aria-label": "Sort by", on: { change: () => {
    order = only.value;
    sorted = [...rows].sort(SORT[order]);
    filter.dispatchEvent(new Event("input"));
  } } }, [["lost", "most lanes lost"], ["diverged", "most divergent"], ["executions", "most executions"], ["source", "source"], ["kernel", "kernel"]].map(([value, text]) => h("option", { value }, text)));
  const names = [withKernel ? "kernel" : null, "source", "branch", "all / some / none", ">executions", ">diverged", ">lanes active", ">lanes lost", ">waves"].filter((name) => name);
  const element = h("div", {}, h("div", { class: "tools" }, filter, only, status), h("div", { class: "wide" }, h("table", { class: "branches" }, heads(names), body)), more);
  restart();
  new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && drawn < shown.length && draw(PAGE_ROWS), { rootMargin: "400px" }).observe(more);
  element.printAll = () => draw(Math.max(0, PRINTED_ROWS - drawn));
  return element;
}

function problems() {
  const notes = [];
  for (const name of data.unfinished) notes.push(h("p", { class: "note error" }, `Test program ${name} did not come to its end.`));
  if (data.unlaunched.length > 0) notes.push(h("p", { class: "note" }, `Not launched: ${data.unlaunched.join(", ")}.`));
  for (const fault of data.faults) notes.push(h("p", { class: "note error" }, h("strong", {}, `Fault in ${fault.kernel}: `), fault.message,
    fault.file ? [" at ", link(data.sources.findIndex((source) => source.file === fault.file), fault.line)] : null, ` (test ${fault.test})`));
  for (const [limit, , file, line, message] of data.violations) notes.push(h("p", { class: "note error" }, h("strong", {}, `Beyond the limit ${limit}: `), message,
    file ? [" at ", link(data.sources.findIndex((source) => source.file === file), line)] : null));
  for (const source of data.sources) if (source.changed) notes.push(h("p", { class: "note" }, h("code", {}, source.file), " has changed since the run: other lines may stand where these were measured."));
  return notes;
}
function link(file, line) {
  if (file < 0) return h("code", {}, "<unknown>");
  return h("a", { href: `#/file/${file}/${line || 1}` }, h("code", {}, fileName(file) + (line ? ":" + line : "")));
}
function uncounted(kernel) {
  const rows = [...kernel.uncounted.map((probe) => row([h("td", {}, probe.probe), link(data.sources.findIndex((source) => source.file === probe.file), probe.line), probe.outcome])),
    ...kernel.refusals.map((refusal) => row([h("td", {}, "–"), "", h("td", { class: "wrap" }, "not instrumented: " + refusal)]))];
  return rows.length ? [h("h2", {}, "Without counts"), h("table", {}, heads(["probe", "source", "what became of it"]), h("tbody", {}, rows))] : [];
}

/* What the branches on each line of a file lost, over the kernels asked for. */
function heatOf(file, kernels) {
  const lines = new Map();
  for (const entry of all) {
    if (entry.branch.file !== file || !kernels.includes(entry.kernel)) continue;
    const known = lines.get(entry.branch.line) || { lost: 0, executions: 0, diverged: 0, entries: [] };
    known.lost += entry.branch.lost;
    known.executions += entry.branch.counts[0];
    known.diverged += entry.branch.counts[3];
    known.entries.push(entry);
    lines.set(entry.branch.line, known);
  }
  return lines;
}
function chunks(items, drawLine, height) {
  const parts = [];
  for (let start = 0; start < items.length; start += CHUNK_LINES) {
    const part = items.slice(start, start + CHUNK_LINES);
    parts.push(h("div", { class: "chunk", style: `--height:${part.length * height}px` }, part.map((item, index) => drawLine(item, start + index))));
  }
  return parts;
}
/* Scrolls a view until a line of it, if there is one, stands in its upper part. (`offsetTop` is of no use: it counts from the chunk.) */
function bring(view, line) {
  if (line) view.scrollTop += line.getBoundingClientRect().top - view.getBoundingClientRect().top - view.clientHeight / 3;
}
/* The expression from a column on: as far as brackets are closed, up to a block, a semicolon or the line's end. */
function expressionEnd(text, start) {
  let depth = 0, at = start;
  for (; at < text.length; at++) {
    const c = text[at];
    if (c === "(" || c === "[") depth++;
    else if (c === ")" || c === "]") { if (!depth--) break; }
    else if ((c === "{" || c === "}" || c === ";") && !depth) break;
    else if (c === "/" && /[/*]/.test(text[at + 1] || "")) break;
  }
  return start + Math.max(1, text.slice(start, at).trimEnd().length);
}
function sourceView(file, kernels, line, column, onPick) {
  const source = data.sources[file];
  const name = h("p", {}, h("code", {}, fileName(file)));
  if (!source || source.text === null) return h("div", {}, name, h("p", { class: "note" }, "This file could not be read when the report was made."));
  const heat = heatOf(file, kernels);
  const most = Math.max(1, ...[...heat.values()].map((entry) => entry.lost));
  const spent = cyclesByLine(file, kernels), ran = runsByLine(file, kernels);
  const text = source.text.split("\n");
  if (text[text.length - 1] === "") text.pop();
  const view = h("div", { class: "src", tabindex: "0", role: "region", "aria-label": "Source of " + source.file }, chunks(text, (content, index) => {
    const here = index + 1, known = heat.get(here);
    const share = known ? (known.lost ? .12 + .5 * known.lost / most : known.diverged ? .1 : 0) : 0;
    let shown = content.replace(/\r$/, "");
    if (here === line && column) {
      const bytes = new TextEncoder().encode(shown);
      const start = new TextDecoder().decode(bytes.slice(0, column - 1)).length;
      const end = expressionEnd(shown, start);
      if (start < shown.length) shown = [shown.slice(0, start), h("u", {}, shown.slice(start, end)), shown.slice(end)];
    }
    return h("div", { class: "l" + (here === line ? " here" : ""), "data-line": here, style: share ? `background-color:rgba(var(--heat),${share.toFixed(3)})` : null, on: onPick ? { click: () => onPick(here) } : null },
      h("span", { class: "no" }, String(here)),
      h("span", { class: "heat" }, known ? h("a", { href: known.entries[0].href, title: known.entries.map((entry) => `${entry.kernel.name}: ${title(entry.branch)}, ${lost(entry.branch)} lanes lost`).join("\n") }, `${percent(known.diverged, known.executions)} ${known.lost ? "−" + known.lost : ""}`) : ""),
      ran.lines.size ? runCell(ran.lines.get(here), ran.most) : null,
      spent.whole ? cycleCell((spent.lines.get(here) || {}).cycles, spent.whole, ((spent.lines.get(here) || {}).texts || []).join("\n")) : null,
      h("span", { class: "t" }, shown));
  }, 18));
  const element = h("div", {}, name, source.changed ? h("p", { class: "note" }, "This file has changed since the run.") : null, view);
  element.show = (wanted) => bring(view, view.querySelector(`[data-line="${wanted}"]`));
  return element;
}
function codeView(kernel, marked, onPick) {
  const at = new Set(marked);
  const time = kernel.modelled, spent = new Map(time ? time.code.map(([pc, executions, cycles]) => [pc, [executions, cycles]]) : []), whole = time ? total(time.total) : 0;
  const cell = (pc) => { const [executions, cycles] = spent.get(pc) || [0, []]; return cycleCell(total(cycles), whole, executions ? `${one(executions, "execution")}; ${largest(time.causes, cycles)}` : null); };
  const view = h("div", { class: "src", tabindex: "0", role: "region", "aria-label": "Disassembly of " + kernel.name }, chunks(kernel.code, ([pc, text, file, line]) =>
    h("div", { class: "l" + (at.has(pc) ? " here" : ""), "data-pc": pc, "data-line": line || 0, "data-file": file, on: { click: () => onPick(file, line) } },
      h("span", { class: "no" }, hex(pc).slice(2)), h("span", { class: "heat dim" }, line ? (file < 0 ? "" : fileName(file).split("/").pop()) + ":" + line : ""), time ? cell(pc) : null, h("span", { class: "t" }, text)), 18));
  view.mark = (file, line) => {
    let first = null;
    for (const element of view.querySelectorAll(".l")) {
      const same = line && +element.dataset.line === line && +element.dataset.file === file;
      element.classList.toggle("here", same);
      if (same && !first) first = element;
    }
    bring(view, first);
  };
  view.show = () => bring(view, view.querySelector(".here"));
  return view;
}
/* Source and, folded away until asked for, the disassembly beside it; a click on a line of one marks it in the other. */
function sourceAndCode(kernel, file, line, column, marked) {
  let code = null;
  const source = sourceView(file, kernel ? [kernel] : data.kernels, line, column, (picked) => code && code.mark(file, picked));
  if (!kernel || !kernel.code.length) return [source, kernel ? h("p", { class: "dim" }, "No disassembly: the code object is not the one that was run, or cannot be read.") : null];
  const right = h("div");
  const box = h("details", { open: true, class: "asm" }, h("summary", {}, `Disassembly of ${kernel.name} (${one(kernel.code.length, "line")})`), right);
  const fold = () => {
    if (!box.open || code) return;
    code = codeView(kernel, marked, (pickedFile, pickedLine) => {
      code.mark(pickedFile, pickedLine);
      if (pickedFile !== file || !pickedLine) return;
      for (const element of source.querySelectorAll(".l")) element.classList.toggle("here", +element.dataset.line === pickedLine);
      source.show(pickedLine);
    });
    right.append(code);
    requestAnimationFrame(code.show);
  };
  box.addEventListener("toggle", fold);
  fold();
  return [h("div", { class: "split" }, source, box)].map((element) => { element.show = () => source.show && source.show(line); return element; });
}

/* A cell a wave: its height the lanes that went on, its colour what happened. */
function strip(kernel, branch) {
  const values = branch.strip, count = values.length / 6;
  if (!count) return h("p", { class: "dim" }, "No wave came here.");
  const cells = [], rows = [];
  for (let index = 0; index < count; index++) {
    const [id, executions, whole, none, before, after] = values.slice(6 * index, 6 * index + 6);
    const diverged = executions - whole - none;
    const kind = diverged ? "some" : whole >= none ? "all" : "none";
    const text = `${wave(kernel.ids[id])}: ${one(executions, "execution")}, ${diverged} diverged, ${after} of ${before} lanes`;
    if (index < STRIP_CELLS) {
      const height = before ? Math.max(3, 18 * after / before) : 18;
      cells.push(h("i", { class: kind, title: text, style: `height:${height.toFixed(1)}px;margin-top:${(18 - height).toFixed(1)}px` }));
    }
    rows.push([id, executions, whole, diverged, none, before, after]);
  }
  const table = h("details", {}, h("summary", {}, "The same as a table"));
  table.addEventListener("toggle", () => {
    if (table.open && table.childElementCount === 1) table.append(h("div", { class: "wide" }, h("table", { class: "waves" }, heads(["wave", ">executions", ">all", ">some", ">none", ">lanes before", ">after"]),
      h("tbody", {}, rows.slice(0, 2000).map(([id, ...figures]) => row([wave(kernel.ids[id]), ...figures.map(number)]))))));
  });
  const rest = branch.waves[0] - Math.min(count, STRIP_CELLS);
  return h("div", {}, h("div", { class: "strip", role: "img", "aria-label": `${branch.waves[1]} of ${one(branch.waves[0], "wave")} diverged` }, cells),
    rest > 0 ? h("p", { class: "dim" }, `${rest} more waves are not drawn.`) : null, legend(), table);
}

function overview() {
  const tests = data.tests, counted = data.kernels.some((kernel) => kernel.lines.length);
  const branches = all.length || !counted ? `, ${one(all.length, "branch")}, ${all.filter((entry) => entry.branch.counts[3]).length} diverged` : "";
  return [
    h("p", {}, `${one(data.kernels.length, "kernel")}${branches}; profile ${data.profile}; tests: ${tests.passed} passed, ${tests.failed} failed, ${tests.ignored} ignored.`),
    problems(),
    data.diff ? [h("h2", {}, "Compared with the baseline"), data.diff.length ? h("div", { class: "wide" }, h("table", { id: "diff" }, heads(["", "kernel", "source", "what", "before", "now"]), h("tbody", {}, data.diff.map((entry) =>
      row([h("td", { class: entry.verdict === "worse" ? "up" : null }, entry.verdict), `${entry.kernel} (${entry.cpu})`, entry.file ? `${entry.file}:${entry.line}` : "", entry.what, entry.before || "", entry.after || ""]))))) : h("p", {}, "Nothing has changed.")] : [],
    h("h2", {}, "Kernels"), data.kernels.length > FOLDED_KERNELS ? h("details", { class: "kernels" }, h("summary", {}, one(data.kernels.length, "kernel")), kernelTable(data.kernels)) : kernelTable(data.kernels),
    linesOf(data.kernels), all.length || !counted ? [h("h2", {}, "Branches"), branchTable(all, true)] : null,
    data.kernels.map(uncounted),
    h("h2", {}, "Files"), h("ul", {}, data.sources.map((source, index) => source.text === null ? null : h("li", {}, h("a", { href: `#/file/${index}/1` }, h("code", {}, source.file)))).filter((item) => item)),
  ];
}
function kernelPage(k) {
  const kernel = data.kernels[k];
  if (!kernel) return missing();
  const rows = all.filter((entry) => entry.kernel === kernel);
  const [file, line] = kernel.lines.find(([file]) => file >= 0 && data.sources[file].text !== null) || [];
  const first = rows[0] ? rows[0].branch : line ? { file, line, column: 0, pcs: [] } : null;
  return [h("h2", {}, `Kernel ${kernel.name} on ${kernel.cpu}`), kernelTable([kernel]),
    kernel.time ? h("p", {}, `Waves ran ${kernel.time.least} to ${kernel.time.most} ticks, the median ${kernel.time.median}.`) : null,
    cyclesOf(kernel), linesOf([kernel]),
    rows.length || !kernel.lines.length ? [h("h2", {}, "Branches"), branchTable(rows, false)] : null, uncounted(kernel),
    first ? [h("h2", {}, "Source"), sourceAndCode(kernel, first.file, first.line, first.column, first.pcs)] : []];
}
function branchPage(k, b) {
  const kernel = data.kernels[k], branch = kernel && kernel.branches[b];
  if (!branch) return missing();
  const [executions, whole, none, diverged, before, after] = branch.counts;
  const fact = (name, ...values) => [h("dt", {}, name), h("dd", {}, ...values)];
  const index = all.findIndex((entry) => entry.kernel === kernel && entry.branch === branch);
  const step = (to, text) => all[to] ? h("a", { href: all[to].href, rel: to < index ? "prev" : "next" }, text) : null;
  return [h("h2", {}, `${title(branch)} of ${kernel.name}`, " ", h("code", {}, place(branch))),
    h("dl", {}, fact("kernel", h("a", { href: `#/kernel/${k}` }, kernel.name), ` on ${kernel.cpu}, counters in ${kernel.home}`),
      fact("executions", `${executions}: `, bar(branch.counts), ` all ${whole}, some ${diverged} (${percent(diverged, executions)}), none ${none}`),
      fact("lanes active", `${average(after, branch)} of ${average(before, branch)} on average`), fact("lanes lost", lost(branch)),
      fact("waves", `diverged in ${branch.waves[1]} of ${branch.waves[0]}`), branch.sites > 1 ? fact("machine branches", String(branch.sites)) : []),
    branch.frames.length > 1 ? h("details", { open: true, class: "inline" }, h("summary", {}, "Inlined"), h("ol", { class: "frames" }, branch.frames.map(([name, file, line]) => h("li", {}, h("code", {}, name), " at ", link(file, line))))) : null,
    h("details", { open: true, class: "per-wave" }, h("summary", {}, "Wave by wave"), strip(kernel, branch)),
    sourceAndCode(kernel, branch.file, branch.line, branch.column, branch.pcs),
    h("p", {}, step(index - 1, "← a branch that lost more"), " ", step(index + 1, "one that lost less →"))];
}
function filePage(index, line) {
  return data.sources[index] ? [h("h2", {}, "Source"), sourceAndCode(null, index, line, 0, [])] : missing();
}
const missing = () => [h("p", { class: "note" }, "There is nothing here. "), h("a", { href: "#/" }, "To the overview")];

let current = [];
function route() {
  const [, first, k, second, b] = location.hash.split("/");
  const path = [["Overview", "#/"]];
  if (first === "kernel") {
    const kernel = data.kernels[k];
    if (kernel) path.push([kernel.name, `#/kernel/${k}`]);
    if (second === "branch" && kernel && kernel.branches[b]) path.push([place(kernel.branches[b]), location.hash]);
    current = second === "branch" ? branchPage(+k, +b) : kernelPage(+k);
  } else if (first === "file") {
    path.push([fileName(data.sources[k] ? +k : -1), location.hash]);
    current = filePage(+k, +second);
  } else if (location.hash === "#main") return;
  else current = overview();
  current = current.flat(9).filter((element) => element);
  main.replaceChildren(...current);
  crumbs.replaceChildren(...path.flatMap(([name, href], index) => [index ? " › " : "", index === path.length - 1 ? h("span", { "aria-current": "page" }, name) : h("a", { href }, name)]));
  window.scrollTo(0, 0);
  for (const element of current) if (element.show) element.show(+second);
}
window.addEventListener("hashchange", () => { route(); main.focus({ preventScroll: true }); });
window.addEventListener("beforeprint", () => { for (const element of current) if (element.printAll) element.printAll(); });

const root = document.documentElement, dark = window.matchMedia("(prefers-color-scheme: dark)");
const setTheme = (name) => { root.dataset.theme = name; };
setTheme(dark.matches ? "dark" : "light");
dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
document.getElementById("theme").addEventListener("click", () => setTheme(root.dataset.theme === "dark" ? "light" : "dark"));
route();
})();
