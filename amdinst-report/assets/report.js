"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main");
const crumbs = document.getElementById("crumbs");
const SIGN = { "exact": "", "at-most": "≤ ", "about": "≈ ", "unknown": "" };
const PAGE_ROWS = 200, PRINTED_ROWS = 500, CHUNK_LINES = 100, STRIP_CELLS = 1024, FOLDED_KERNELS = 40;
const PICTURE_ROWS = 10, PICTURE_CELLS = 128, TIMELINE_UNITS = 12;

/* Elements: h("a", {href: "#/"}, "text", child, [children]). Text is never taken as HTML. */
function make(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined));
  return element;
}
const h = (tag, attributes, ...children) => make(document.createElement(tag), attributes, children);
/* The namespace of SVG, from the parser: its name looks like something to fetch. */
const SVG = Object.assign(document.createElement("template"), { innerHTML: "<svg></svg>" }).content.firstChild.namespaceURI;
const s = (tag, attributes, ...children) => make(document.createElementNS(SVG, tag), attributes, children);
const one = (number, thing) => `${count(number)} ${thing}${number === 1 ? "" : /ch$/.test(thing) ? "es" : "s"}`;
const count = (number) => number.toLocaleString("en-US", { maximumFractionDigits: 0 });
const percent = (part, whole) => (whole ? (100 * part / whole).toFixed(1) : "0.0") + " %";
const hex = (number) => "0x" + number.toString(16).padStart(6, "0");
const fileName = (index) => index < 0 ? "<unknown>" : data.sources[index].name;
const fileNamed = (file) => data.sources.findIndex((source) => source.file === file);
const place = (branch) => fileName(branch.file) + (branch.line ? ":" + branch.line + (branch.column ? ":" + branch.column : "") : "");
const title = (branch) => (({ "if": "branch", "loop-exit": "loop" })[branch.kind] || branch.kind) + (branch.probe ? ` “${branch.probe}”` : "");
const signed = (certainty, lanes) => certainty === "unknown" ? "not counted" : SIGN[certainty] + count(lanes);
const lost = (branch) => signed(branch.certainty, branch.lost);
const average = (sum, branch) => branch.certainty === "unknown" ? "–" : (branch.counts[0] ? sum / branch.counts[0] : 0).toFixed(1);
const wave = (id) => `${id[0] + 1}. launch, workgroup (${id[1]}, ${id[2]}, ${id[3]}), wave ${id[4]}`;
const sumOf = (items, value) => items.reduce((sum, item) => sum + value(item), 0);
const lineText = (file, line) => file >= 0 && data.sources[file].text !== null && line ? (data.sources[file].text.split("\n")[line - 1] || "").trim() : "";

/* Places on the page have names, so that a link holds in the page of another run: `#/kernel/reduce/probe/half`,
   `#/kernel/reduce/at/src/reduce.rs:24:8`, `#/file/src/reduce.rs:24`. */
const path = (text) => text.split("/").map((part) => encodeURIComponent(part).replaceAll("%3A", ":")).join("/");
const several = (name) => data.kernels.filter((kernel) => kernel.name === name).length > 1;
const kernelKey = (kernel) => encodeURIComponent(kernel.name) + (several(kernel.name) ? "@" + encodeURIComponent(kernel.cpu) : "");
const kernelHref = (kernel) => "#/kernel/" + kernelKey(kernel);
const fileHref = (file, line) => `#/file/${path(fileName(file))}:${line || 1}`;
const keys = new Map();

/* All branches of all kernels, the worst first: the order within each kernel is so already. */
const all = [];
for (const kernel of data.kernels) {
  const known = new Map();
  keys.set(kernel, known);
  for (const branch of kernel.branches) {
    const base = branch.probe && !branch.package && !branch.probe.includes("/") ? "probe/" + path(branch.probe) : "at/" + path(place(branch));
    let key = base;
    for (let number = 2; known.has(key); number++) key = `${base}~${number}`;
    const entry = { kernel, branch, href: `${kernelHref(kernel)}/${key}`, text: `${kernel.name} ${kernel.cpu} ${place(branch)} ${title(branch)} ${branch.package || ""}`.toLowerCase() };
    known.set(key, entry);
    all.push(entry);
    /* A probe is found by its place, too. */
    const at = "at/" + path(place(branch));
    if (!known.has(at)) known.set(at, entry);
  }
}
all.sort((a, b) => b.branch.lost - a.branch.lost || b.branch.counts[3] - a.branch.counts[3]);
/* The user's line that a branch is put down to, if it is known. */
const ownPlace = ({ branch }) => !branch.package ? [branch.file, branch.line, branch.column] : branch.caller ? [...branch.caller, 0] : null;

/* What is shown as one: a branch, or those of a dependency that one line of the user's led to. */
function groupsOf(entries) {
  const groups = [], known = new Map();
  for (const entry of entries) {
    const { kernel, branch } = entry;
    if (!branch.package) { groups.push({ entries: [entry], kernel, lost: branch.lost }); continue; }
    const key = `${kernelKey(kernel)} ${branch.package} ${branch.caller}`;
    if (!known.has(key)) { known.set(key, { entries: [], kernel, lost: 0, package: branch.package, caller: branch.caller }); groups.push(known.get(key)); }
    const group = known.get(key);
    group.entries.push(entry);
    group.lost += branch.lost;
  }
  return groups.sort((a, b) => b.lost - a.lost);
}

function bar(counts) {
  const [executions, whole, none, diverged] = counts;
  const part = (name, value) => h("i", { class: name, style: `width:${executions ? 100 * value / executions : 0}%` });
  return h("span", { class: "bar", role: "img", "aria-label": `all ${whole}, some ${diverged}, none ${none} of ${executions}`, title: `all ${whole}, some ${diverged}, none ${none}` },
    part("all", whole), part("some", diverged), part("none", none));
}
const legend = () => h("p", { class: "legend strip-legend" },
  ["all", "some", "none"].map((name) => h("span", {}, h("span", { class: "strip" }, h("i", { class: name })),
    { all: "all active lanes went on", some: "some did: diverged", none: "none did" }[name])));
/* What it was in the earlier run, if that is something else; `worse` if more is worse. */
function was(now, before, worse = true) {
  if (before === undefined || before === null || Math.abs(now - before) < .5) return null;
  return h("span", { class: "was " + ((now > before) === worse ? "up" : "down") }, ` ${now > before ? "▲" : "▼"} was ${count(before)}`);
}
const tile = (figure, what, more) => h("div", { class: "tile" }, h("b", {}, figure), h("span", {}, what), more ? h("span", { class: "dim" }, more) : null);

/* A table whose columns are sorted by a click, and which grows as it is scrolled: ten thousand rows are too many to draw at once.
   A column: head, cell(item), key(item) to sort by, right for figures, less for what a narrow screen can do without. Columns
   without `cell` are left out. */
function grid({ id, name, columns, items, text, told, tools, order }) {
  columns = columns.filter((column) => column && column.cell);
  let shown = items, drawn = 0, by = order || null, words = [];
  const body = h("tbody");
  const more = h("button", { type: "button", on: { click: () => draw(PAGE_ROWS) } });
  const status = told ? h("span", { class: "dim", role: "status" }) : null;
  const heads = columns.map((column, index) => h("th", { scope: "col", class: column.right ? "n" : null },
    column.key && column.head ? h("button", { type: "button", title: "Sort by " + column.head, on: { click: () => sort(index, by && by.index === index ? !by.down : Boolean(column.right)) } }, column.head) : column.head));
  function sort(index, down) { by = { index, down }; restart(); }
  function draw(number) {
    const end = Math.min(shown.length, drawn + number), fragment = document.createDocumentFragment();
    for (; drawn < end; drawn++) fragment.append(h("tr", {}, columns.map((column) => h("td", { class: [column.right ? "n" : "", column.less ? "less" : ""].join(" ").trim() || null, "data-head": column.head }, column.cell(shown[drawn])))));
    body.append(fragment);
    more.hidden = drawn >= shown.length;
    more.textContent = more.hidden ? "" : `${count(shown.length - drawn)} more`;
  }
  function restart() {
    shown = items.filter((item) => words.every((word) => text(item).includes(word)));
    if (by) {
      const key = columns[by.index].key, sign = by.down ? -1 : 1;
      /* Stable: rows that are alike stay in order. */
      shown = shown.map((item) => [key(item), item]).sort(([a], [b]) => sign * (a < b ? -1 : a > b ? 1 : 0)).map(([, item]) => item);
    }
    heads.forEach((head, index) => {
      const is = by && by.index === index;
      head.setAttribute("aria-sort", is ? (by.down ? "descending" : "ascending") : "none");
    });
    select.value = by ? `${by.index} ${by.down}` : "";
    body.replaceChildren();
    drawn = 0;
    draw(PAGE_ROWS);
    if (status) status.textContent = told(shown);
  }
  /* On a narrow screen rows are cards, which have no heads to click on. */
  const sortable = columns.map((column, index) => [column, index]).filter(([column]) => column.key && column.head);
  const select = h("select", { class: "narrow", "aria-label": "Sort by", on: { change: () => { const [index, down] = select.value.split(" "); if (select.value) sort(+index, down === "true"); } } },
    h("option", { value: "" }, "sort by …"), sortable.flatMap(([column, index]) => [true, false].map((down) => h("option", { value: `${index} ${down}` }, `${column.head} ${down ? "↓" : "↑"}`))));
  const filter = text ? h("input", { type: "search", placeholder: "kernel, file:line or probe", "aria-label": "Filter", on: { input: () => { words = filter.value.toLowerCase().split(/\s+/).filter((word) => word); restart(); } } }) : null;
  const element = h("div", { class: "grid" }, h("div", { class: "tools" }, filter, select, tools, status), h("div", { class: "wide" }, h("table", { id, class: name }, h("thead", {}, h("tr", {}, heads)), body)), more);
  element.set = (next) => { items = next; restart(); };
  element.printAll = () => draw(Math.max(0, PRINTED_ROWS - drawn));
  restart();
  new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && drawn < shown.length && draw(PAGE_ROWS), { rootMargin: "400px" }).observe(more);
  return element;
}

const lostOf = (kernel) => sumOf(kernel.branches, (branch) => branch.lost);
const CERTAINTY = ["exact", "at-most", "about", "unknown"];
const certaintyOf = (branches) => CERTAINTY[Math.max(0, ...branches.map((branch) => CERTAINTY.indexOf(branch.certainty)))];
const sign = (branches) => SIGN[certaintyOf(branches)];
const divergedOf = (branches) => branches.filter((branch) => branch.counts[3] && !branch.expected).length;
/* What a kernel takes without and with probes; only fewer waves cost something. */
function change(name, costs) {
  return (kernel) => {
    const pair = (kernel.resources || {})[name];
    if (!pair) return "–";
    const [before, after] = pair;
    return before === after ? String(before) : h("span", { class: costs && after < before ? "up" : null }, `${before} → ${after}`);
  };
}
const first = (name) => (kernel) => ((kernel.resources || {})[name] || [-1])[0];
/* Columns that no kernel has anything for are left out. */
function kernelTable(kernels) {
  const any = (is) => kernels.some(is), timed = any((kernel) => kernel.time), modelled = any((kernel) => kernel.modelled);
  const cycles = (kernel) => kernel.modelled ? kernel.modelled.cycles / kernel.modelled.launches : -1;
  return grid({ id: "kernels", items: kernels, order: { index: 2, down: true }, columns: [
    { head: "kernel", key: (kernel) => kernel.name, cell: (kernel) => h("a", { href: kernelHref(kernel) }, h("code", {}, kernel.name)) },
    { head: "processor", less: true, key: (kernel) => kernel.cpu, cell: (kernel) => kernel.cpu },
    { head: "lanes lost", right: true, key: lostOf, cell: (kernel) => [sign(kernel.branches) + count(lostOf(kernel)), kernel.was ? was(lostOf(kernel), kernel.was.lost) : null] },
    { head: "diverged", right: true, key: (kernel) => divergedOf(kernel.branches), cell: (kernel) => `${divergedOf(kernel.branches)} of ${kernel.branches.length}` },
    { head: "launches", less: true, right: true, key: (kernel) => kernel.launches, cell: (kernel) => count(kernel.launches) },
    { head: "waves", right: true, key: (kernel) => kernel.waves, cell: (kernel) => count(kernel.waves) },
    { head: "occupancy", right: true, key: first("occupancy"), cell: (kernel) => [change("occupancy", true)(kernel), kernel.was && kernel.resources ? was(kernel.resources.occupancy[0], kernel.was.occupancy, false) : null] },
    { head: "SGPRs", less: true, right: true, key: first("sgprs"), cell: change("sgprs") },
    { head: "VGPRs", less: true, right: true, key: first("vgprs"), cell: change("vgprs") },
    any((kernel) => first("lds")(kernel) > 0) && { head: "LDS", less: true, right: true, key: first("lds"), cell: change("lds") },
    any((kernel) => first("scratch")(kernel) > 0) && { head: "scratch", less: true, right: true, key: first("scratch"), cell: change("scratch") },
    { head: "counters", less: true, key: (kernel) => kernel.home, cell: (kernel) => kernel.home },
    timed && { head: "ticks (median)", right: true, key: (kernel) => kernel.time ? kernel.time.median : -1, cell: (kernel) => kernel.time ? count(kernel.time.median) : "–" },
    modelled && { head: "cycles a launch", right: true, key: cycles, cell: (kernel) => kernel.modelled ? [count(cycles(kernel)), kernel.was ? was(cycles(kernel), kernel.was.cycles) : null] : "–" },
    modelled && { head: "when counted", less: true, right: true, key: (kernel) => kernel.modelled && kernel.modelled.instrumented ? kernel.modelled.instrumented / kernel.modelled.cycles : -1, cell: (kernel) => kernel.modelled && kernel.modelled.instrumented ? (kernel.modelled.instrumented / kernel.modelled.cycles).toFixed(2) + "×" : "–" },
  ] });
}

/* Branches, those of dependencies folded until they are asked for. */
function branchTable(rows, withKernel) {
  const hidden = rows.filter((entry) => entry.branch.package).length;
  const fold = () => groupsOf(rows).map((group) => group.package ? folded(group) : group.entries[0]);
  let opened = false;
  const tools = hidden ? h("label", {}, h("input", { type: "checkbox", id: "dependencies", on: { change: (event) => { opened = event.target.checked; table.set(opened ? rows : fold()); } } }), ` dependencies one by one (${one(hidden, "branch")})`) : null;
  const c = (index) => (entry) => entry.branch.counts[index];
  const ratio = (part, whole) => (entry) => c(part)(entry) / (c(whole)(entry) || 1);
  const table = grid({ name: "branches", items: hidden ? fold() : rows, text: (entry) => entry.text, tools,
    told: (shown) => { const branches = shown.flatMap((entry) => entry.entries ? entry.entries.map((inner) => inner.branch) : [entry.branch]); return `${one(branches.length, "branch")}, ${branches.filter((branch) => branch.counts[3]).length} diverged`; },
    columns: [
      withKernel && { head: "kernel", key: (entry) => entry.kernel.name, cell: (entry) => h("code", {}, entry.kernel.name) },
      { head: "source", key: (entry) => [String(fileName(entry.branch.file)), String(entry.branch.line).padStart(7, "0"), String(entry.branch.column).padStart(5, "0")].join(":"), cell: (entry) => h("a", { href: entry.href }, h("code", {}, entry.at || place(entry.branch))) },
      { head: "branch", key: (entry) => entry.what || title(entry.branch), cell: (entry) => [entry.what || title(entry.branch), entry.branch.expected ? h("span", { class: "tag" }, "expected") : null] },
      { head: "all / some / none", key: ratio(3, 0), cell: (entry) => bar(entry.branch.counts) },
      { head: "executions", less: true, right: true, key: c(0), cell: (entry) => count(c(0)(entry)) },
      { head: "diverged", right: true, key: ratio(3, 0), cell: (entry) => `${count(c(3)(entry))} (${percent(c(3)(entry), c(0)(entry))})` },
      { head: "lanes active", right: true, key: ratio(5, 0), cell: (entry) => `${average(c(5)(entry), entry.branch)} of ${average(c(4)(entry), entry.branch)}` },
      { head: "lanes lost", right: true, key: (entry) => entry.branch.lost, cell: (entry) => [lost(entry.branch), entry.branch.was ? was(entry.branch.lost, entry.branch.was[2]) : null] },
      { head: "waves", less: true, right: true, key: (entry) => entry.branch.waves[1], cell: (entry) => entry.branch.waves[0] === null ? "" : `${count(entry.branch.waves[1])} of ${count(entry.branch.waves[0])}` },
    ] });
  return table;
}
/* Branches of a dependency as one row. */
function folded(group) {
  const branches = group.entries.map((entry) => entry.branch), worst = group.entries[0];
  const befores = branches.filter((branch) => branch.was);
  const branch = {
    ...worst.branch, probe: null, expected: branches.every((branch) => branch.expected), lost: group.lost,
    counts: worst.branch.counts.map((_, index) => sumOf(branches, (branch) => branch.counts[index])),
    certainty: certaintyOf(branches), waves: [null, 0],
    was: befores.length ? [0, 1, 2].map((index) => sumOf(befores, (branch) => branch.was[index])) : null,
  };
  const at = group.caller ? fileName(group.caller[0]) + ":" + group.caller[1] : group.package;
  return { kernel: group.kernel, branch: group.caller ? { ...branch, file: group.caller[0], line: group.caller[1], column: 0 } : branch, entries: group.entries, href: worst.href, at,
    what: `${one(branches.length, "branch")} of ${group.package}` + (group.caller ? "" : ", not inlined"), text: group.entries.map((entry) => entry.text).join(" ") + " " + at.toLowerCase() };
}

/* The picture of a kernel: a row for each branch that cost most, a cell for each wave, the darker the more of its lanes stood idle. */
function picture(kernel) {
  const rows = groupsOf(all.filter((entry) => entry.kernel === kernel)).filter((group) => group.lost).slice(0, PICTURE_ROWS);
  const waves = kernel.ids.length;
  if (!rows.length || !waves) return null;
  const size = Math.ceil(waves / PICTURE_CELLS), cells = Math.ceil(waves / size);
  const drawn = rows.map((group) => {
    const idle = new Float64Array(cells), lanes = new Float64Array(cells);
    for (const { branch } of group.entries) for (let at = 0; at < branch.strip.length; at += 7) {
      const [id, , , , before, , gone] = branch.strip.slice(at, at + 7), cell = Math.floor(id / size);
      idle[cell] += gone;
      lanes[cell] += branch.kind === "loop-exit" ? before + gone : before;
    }
    const [file, line] = ownPlace(group.entries[0]) || [group.entries[0].branch.file, group.entries[0].branch.line];
    const what = group.package ? `${one(group.entries.length, "branch")} of ${group.package}` : title(group.entries[0].branch);
    const rects = [...idle].map((gone, cell) => {
      if (!lanes[cell]) return null;
      const share = gone / lanes[cell], first = wave(kernel.ids[cell * size]);
      return s("rect", { x: cell, y: 0, width: 1, height: 1, style: `fill:rgba(var(--heat),${(gone ? .08 + .92 * share : 0).toFixed(3)})` }, s("title", {}, `${first}${size > 1 ? ` and ${size - 1} after it` : ""}: ${percent(gone, lanes[cell])} of the lanes idle`));
    });
    return h("a", { class: "picture-row", href: group.entries[0].href, title: what }, h("span", { class: "what" }, h("code", {}, `${fileName(file).split("/").pop()}:${line}`), h("code", { class: "dim" }, lineText(file, line) || what)),
      s("svg", { viewBox: `0 0 ${cells} 1`, preserveAspectRatio: "none", role: "img", "aria-label": `${what}: lanes idle in each wave` }, rects),
      h("span", { class: "much" }, sign(group.entries.map((entry) => entry.branch)) + count(group.lost)));
  });
  return h("figure", { class: "picture" }, drawn, h("figcaption", { class: "dim" }, `Lanes that stood idle: a row is a branch, a cell ${size > 1 ? `${size} waves` : "a wave"} of ${one(waves, "wave")} in order of launch; the figure is lanes lost.`,
    h("span", { class: "scale" }, " none ", h("i"), " all ")));
}

/* How many waves fit, what each resource allows, and what the next step needs. */
function occupancyOf(kernel) {
  const o = kernel.occupancy;
  if (!o) return [];
  const simd = (waves) => waves / o.simds, moved = kernel.resources && kernel.resources.moved_lds;
  const limits = o.resources.filter((resource) => resource.waves === o.waves && resource.waves < o.slots);
  const next = limits.length && limits.every((resource) => resource.next) ? Math.min(...o.resources.map((resource) => limits.includes(resource) ? resource.next[1] : resource.waves)) : null;
  const cells = (waves) => h("span", { class: "slots", role: "img", "aria-label": `${waves} of ${o.slots} waves` }, Array.from({ length: o.slots / o.simds }, (_, index) => h("i", {}, h("i", { style: `width:${100 * Math.min(1, Math.max(0, simd(waves) - index))}%` }))));
  const need = (resource) => !limits.includes(resource) ? "" : resource.next ? `${count(resource.have - resource.next[0])} fewer: at most ${count(resource.next[0])} for ${resource.next[1]} waves` : "";
  return [h("h2", {}, "Occupancy"),
    h("p", {}, h("b", {}, `${o.waves} of ${o.slots} waves`), ` a compute unit fit (${+simd(o.waves).toFixed(2)} a SIMD) with workgroups of ${o.workgroup} work-items. `,
      limits.length ? [`Limited by ${limits.map((resource) => resource.name).join(" and ")}. `, next ? `The next step, ${next} waves, needs ${limits.map((resource) => `${count(resource.have - resource.next[0])} fewer ${resource.name === "LDS" ? "bytes of LDS" : resource.name}`).join(" and ")}.` : ""] : "Nothing limits them but the slots for waves.",
      kernel.modelled ? ` Over the modeled launches, ${percent(kernel.modelled.occupancy, 1)} of the slots were used.` : ""),
    moved ? h("p", {}, `${count(moved.bytes)} bytes of its LDS are private arrays that LLVM moved there, for workgroups of ${moved.workgroup}`, o.workgroup < moved.workgroup ? [": for smaller ones say so, as ", h("code", {}, `#[kernel(workgroup = ${o.workgroup})]`), " does."] : ".") : null,
    h("div", { class: "occupancy" }, o.resources.map((resource) => h("div", { class: limits.includes(resource) ? "limits" : null }, h("b", {}, resource.name), h("span", {}, `${count(resource.have)} ${resource.unit}`), cells(resource.waves), h("span", {}, `${resource.waves} waves`), h("span", { class: "need" }, need(resource)))))];
}

/* When each wave ran, on the compute units that were kept. */
function timelineOf(kernel) {
  const spans = kernel.modelled ? kernel.modelled.spans : [];
  if (!spans.length) return [];
  const units = new Map(), end = Math.max(...spans.map((span) => span[3])), longest = Math.max(1, ...spans.map((span) => span[3] - span[2]));
  for (const span of spans) { if (!units.has(span[0])) units.set(span[0], []); units.get(span[0]).push(span); }
  const unit = ([number, waves]) => {
    /* A wave takes the first slot of its SIMD that is free. */
    const slots = [];
    const placed = waves.map(([, simd, from, to, index]) => {
      let slot = slots.findIndex((slot) => slot.simd === simd && slot.free <= from);
      if (slot < 0) { slot = slots.length; slots.push({ simd, free: 0 }); }
      slots[slot].free = to;
      return [slot, simd, from, to, index];
    });
    const order = slots.map((_, index) => index).sort((a, b) => slots[a].simd - slots[b].simd || a - b), row = new Map(order.map((slot, index) => [slot, index]));
    const rects = placed.map(([slot, simd, from, to, index]) => s("rect", { x: from, y: row.get(slot) + .1, width: Math.max(to - from, end / 500), height: .8, class: "simd" + simd % 4, style: `fill-opacity:${(.35 + .65 * (to - from) / longest).toFixed(2)}` }, s("title", {}, `wave ${index}, SIMD ${simd}: ${count(to - from)} cycles, from ${count(from)} to ${count(to)}`)));
    return h("div", { class: "unit" }, h("span", { class: "dim" }, `CU ${number}`), s("svg", { viewBox: `0 0 ${Math.max(1, end)} ${slots.length}`, preserveAspectRatio: "none", style: `height:${Math.max(8, Math.min(10 * slots.length, 200))}px`, role: "img", "aria-label": `${one(waves.length, "wave")} on compute unit ${number}` }, rects));
  };
  const drawn = [...units].slice(0, TIMELINE_UNITS), more = units.size - drawn.length;
  return [h("h2", {}, "When waves ran"), h("figure", { class: "timeline" }, drawn.map(unit), h("div", { class: "unit axis" }, h("span"), h("div", {}, [0, .25, .5, .75, 1].map((part) => h("span", {}, count(end * part))))),
    h("figcaption", { class: "dim" }, `Modeled on ${kernel.modelled.device}: the longest launch, cycles from its start. A bar is a wave, the darker the longer it was there; colors are SIMDs.${more > 0 ? ` ${one(more, "compute unit")} more ${more === 1 ? "is" : "are"} not drawn.` : ""}`))];
}

/* Modelled times. A cause of cycles always has the same colour. */
const CAUSES = ["issue", "vector-memory", "scalar-memory", "lds", "dependency", "barrier", "branch", "fetch", "vector-busy", "scalar-busy", "vector-memory-busy", "lds-busy", "special-busy", "counter-full", "pause"];
const EXPLAINED = { "issue": "an instruction was issued", "dependency": "a result in registers", "vector-memory": "s_waitcnt: vector memory", "scalar-memory": "s_waitcnt: scalar memory", "lds": "s_waitcnt: LDS", "counter-full": "too many operations under way",
  "barrier": "the other waves, at a barrier", "branch": "a taken branch", "fetch": "the instruction cache", "pause": "s_nop and s_sleep", "vector-busy": "the vector ALU worked for another", "scalar-busy": "the scalar unit was busy",
  "vector-memory-busy": "the address unit was busy", "lds-busy": "LDS was busy", "special-busy": "another wave branched or waited" };
const total = (cycles) => cycles.reduce((sum, part) => sum + part, 0);
const share = (part, whole) => (whole ? 100 * part / whole : 0).toFixed(1) + " %";
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
    h("p", {}, `Modeled on ${time.device} (${time.megahertz} MHz), not measured: ${(time.cycles / time.launches).toFixed(0)} cycles a launch (${microseconds.toFixed(2)} µs), over ${one(time.launches, "launch")}; ${share(time.occupancy, 1)} of the wave slots were used.`,
      time.instrumented ? ` With counting it takes ${(time.instrumented / time.cycles).toFixed(2)} times as long.` : ""),
    h("div", { class: "causes" }, cycleBar(time.causes, time.total, whole)),
    h("ul", { class: "legend causes" }, time.causes.map((cause, index) => time.total[index] ? h("li", {}, h("i", { class: `c${CAUSES.indexOf(cause)}` }), h("b", {}, `${cause} ${share(time.total[index], whole)}`), h("span", { class: "dim" }, " " + (EXPLAINED[cause] || ""))) : null).filter((item) => item)),
    h("details", { open: true, class: "cycle-lines" }, h("summary", {}, "By line"), grid({ items: time.lines, columns: [
      { head: "source", key: ([file, line]) => `${fileName(file)}:${String(line).padStart(7, "0")}`, cell: ([file, line]) => file < 0 ? h("span", { class: "dim" }, "no line") : link(file, line) },
      { head: "share", right: true, key: (line) => total(line[3]), cell: (line) => share(total(line[3]), whole) },
      { head: "", cell: (line) => cycleBar(time.causes, line[3], most) },
      { head: "instructions", right: true, key: (line) => line[2], cell: (line) => count(line[2]) },
      { head: "wave-cycles", right: true, key: (line) => total(line[3]), cell: (line) => count(total(line[3])) },
      { head: "mostly", cell: (line) => largest(time.causes, line[3]) },
    ] }))];
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
/* What memory instructions asked for, by line. */
function memoryOf(kernel) {
  const memory = kernel.memory;
  if (!memory) return [];
  const most = Math.max(1, ...memory.lines.map((line) => line[6]));
  return [h("h2", {}, "Memory"),
    h("p", {}, `What memory instructions asked for, exactly, over ${one(memory.launches, "launch")}: ${memory.rules}.`),
    h("details", { open: true, class: "memory-lines" }, h("summary", {}, "By line"), grid({ items: memory.lines, columns: [
      { head: "source", key: ([file, line]) => `${fileName(file)}:${String(line).padStart(7, "0")}`, cell: ([file, line]) => file < 0 ? h("span", { class: "dim" }, "no line") : link(file, line) },
      { head: "access", key: (line) => line[2], cell: (line) => line[2] },
      { head: "executions", less: true, right: true, key: (line) => line[3], cell: (line) => count(line[3]) },
      { head: "lanes of each", less: true, right: true, key: (line) => line[4] / (line[3] || 1), cell: (line) => (line[4] / (line[3] || 1)).toFixed(1) },
      { head: "bytes", right: true, key: (line) => line[5], cell: (line) => count(line[5]) },
      { head: "", cell: (line) => h("span", { class: "bar", role: "img", "aria-label": `${line[6]} of at most ${most}` }, h("i", { class: "all", style: `width:${(100 * line[6] / most).toFixed(2)}%` })) },
      { head: "cost", key: (line) => line[6], cell: (line) => line[7] },
    ] }))];
}
/* The cost of each line of a file, and the greatest. */
function memoryByLine(file, kernels) {
  const lines = new Map();
  let most = 0;
  for (const kernel of kernels) if (kernel.memory) for (const [of, line, access, , , , cost, text] of kernel.memory.lines) if (of === file && line) {
    const known = lines.get(line) || { cost: 0, texts: [] };
    known.cost += cost;
    known.texts.push(`${kernel.name}: ${access}: ${text}`);
    lines.set(line, known);
    most = Math.max(most, known.cost);
  }
  return { lines, most };
}
const memoryCell = (known, most) => h("span", { class: "cyc", title: known ? known.texts.join("\n") : null, style: known && most ? `--share:${(100 * known.cost / most).toFixed(1)}%` : null }, known ? count(known.cost) : "");
/* Source lines by how often they ran, if blocks were measured. */
const lanesOfEach = (executions, lanes) => lanes ? (lanes / executions).toFixed(1) : "–";
function linesOf(kernels) {
  const rows = kernels.flatMap((kernel) => kernel.lines.map((line) => [kernel, ...line])).sort((a, b) => b[3] - a[3]);
  if (!rows.length) return [];
  const most = Math.max(1, rows[0][3]), ran = rows.filter((entry) => entry[3]).length, named = kernels.length > 1;
  return [h("h2", {}, "Lines"), h("details", { open: true, class: "run-lines" }, h("summary", {}, `${ran} of ${one(rows.length, "line")} ran`),
    grid({ name: "lines", items: rows, text: ([kernel, file, line]) => `${kernel.name} ${fileName(file)}:${line}`.toLowerCase(), columns: [
      named && { head: "kernel", key: ([kernel]) => kernel.name, cell: ([kernel]) => h("a", { href: kernelHref(kernel) }, kernel.name) },
      { head: "source", key: ([, file, line]) => `${fileName(file)}:${String(line).padStart(7, "0")}`, cell: ([, file, line]) => link(file, line) },
      { head: "executions", right: true, key: (entry) => entry[3], cell: (entry) => count(entry[3]) },
      { head: "", cell: ([, , , executions]) => h("span", { class: "bar", role: "img", "aria-label": `${executions} of at most ${most}` }, h("i", { class: "all", style: `width:${(100 * executions / most).toFixed(2)}%` })) },
      { head: "lanes of each", right: true, key: ([, , , executions, lanes]) => lanes / (executions || 1), cell: ([, , , executions, lanes]) => lanesOfEach(executions, lanes) },
    ] }))];
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


const row = (cells, tag = "td") => h("tr", {}, cells.map((cell) => cell instanceof Node && /^T[DH]$/.test(cell.nodeName) ? cell : h(tag, {}, cell)));
const heads = (names) => h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col" }, name))));
function problems() {
  const notes = [];
  for (const name of data.unfinished) notes.push(h("p", { class: "note error" }, `Test program ${name} did not come to its end.`));
  if (data.unlaunched.length > 0) notes.push(h("p", { class: "note" }, `Not launched: ${data.unlaunched.join(", ")}.`));
  for (const fault of data.faults) notes.push(h("p", { class: "note error" }, h("strong", {}, `Fault in ${fault.kernel}: `), fault.message,
    fault.file ? [" at ", link(fileNamed(fault.file), fault.line)] : null, ` (test ${fault.test})`,
    (fault.help || []).slice(0, 1).map((help) => h("span", { class: "help" }, `Help: ${help}.`))));
  for (const doubt of data.doubts) notes.push(h("p", { class: "note" }, h("strong", {}, `Atomicity unknown in ${doubt.kernel}: `), doubt.message,
    doubt.file ? [" at ", link(fileNamed(doubt.file), doubt.line)] : null, ` (test ${doubt.test})`));
  for (const sampled of data.sampled) notes.push(h("p", { class: "note" }, sampled + "."));
  for (const [limit, , file, line, message] of data.violations) notes.push(h("p", { class: "note error" }, h("strong", {}, `Beyond the limit ${limit}: `), message,
    file ? [" at ", link(fileNamed(file), line)] : null));
  for (const source of data.sources) if (source.changed) notes.push(h("p", { class: "note" }, h("code", {}, source.name), " has changed since the run: other lines may stand where these were measured."));
  return notes;
}
function link(file, line) {
  if (file < 0) return h("code", {}, "<unknown>");
  return h("a", { href: fileHref(file, line) }, h("code", {}, fileName(file) + (line ? ":" + line : "")));
}
function uncounted(kernel) {
  const rows = [...kernel.uncounted.map((probe) => row([h("td", {}, probe.probe), link(fileNamed(probe.file), probe.line), probe.outcome])),
    ...(kernel.not_selected ? [row([h("td", {}, "–"), "", "not selected"])] : []),
    ...kernel.refusals.map((refusal) => row([h("td", {}, "–"), "", h("td", { class: "wrap" }, "not instrumented: " + refusal)]))];
  return rows.length ? [h("h2", {}, "Without counts"), h("div", { class: "wide" }, h("table", {}, heads(["probe", "source", "what became of it"]), h("tbody", {}, rows)))] : [];
}


/* What the branches on each line of a file lost, over the kernels asked for; those of dependencies on the line that called them. */
function heatOf(file, kernels) {
  const lines = new Map();
  for (const entry of all) {
    if (!kernels.includes(entry.kernel)) continue;
    const own = ownPlace(entry), here = entry.branch.file === file ? entry.branch.line : own && own[0] === file ? own[1] : 0;
    if (!here) continue;
    const known = lines.get(here) || { lost: 0, executions: 0, diverged: 0, entries: [] };
    known.lost += entry.branch.lost;
    known.executions += entry.branch.counts[0];
    known.diverged += entry.branch.counts[3];
    known.entries.push(entry);
    lines.set(here, known);
  }
  return lines;
}
/* The coloured pieces of each line of a text, from the runs that were found when the page was made: start, end, class. */
function paintOf(source, lines) {
  const pieces = lines.map(() => []), runs = source.paint;
  let at = 0, line = 0, begin = 0;
  for (let index = 0; index < runs.length; index += 3) {
    let from = at + runs[index];
    const to = from + runs[index + 1];
    at = to;
    while (line < lines.length && from < to) {
      const end = begin + lines[line].length;
      if (from > end) { begin = end + 1; line++; continue; }
      pieces[line].push([from - begin, Math.min(to, end) - begin, runs[index + 2]]);
      if (to <= end) break;
      from = end + 1;
      begin = end + 1;
      line++;
    }
  }
  return pieces;
}
function painted(text, pieces, from, to) {
  const nodes = [];
  let at = from;
  for (const [start, end, paint] of pieces) {
    const a = Math.max(start, at), b = Math.min(end, to);
    if (a >= b) continue;
    if (a > at) nodes.push(text.slice(at, a));
    nodes.push(h("span", { class: "p" + paint }, text.slice(a, b)));
    at = b;
  }
  if (at < to) nodes.push(text.slice(at, to));
  return nodes;
}
/* Instructions: the mnemonic, registers, numbers. */
function paintedCode(text) {
  const [mnemonic, rest] = [text.match(/^\S+/)?.[0] || "", text.replace(/^\S+/, "")];
  return [h("span", { class: "p1" }, mnemonic), rest.split(/(\b[sva](?:\d+|\[\d+:\d+\])|\b(?:vcc|exec|scc|m0)\b|\b(?:0x[0-9a-f]+|\d+(?:\.\d+)?)\b)/).map((part, index) => index % 2 ? h("span", { class: /^[\d]/.test(part) ? "p3" : "p5" }, part) : part)];
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
  const name = h("p", {}, h("code", {}, fileName(file)), source && !source.own ? h("span", { class: "tag" }, "dependency") : null);
  if (!source || source.text === null) return h("div", {}, name, h("p", { class: "note" }, "This file could not be read when the report was made."));
  const heat = heatOf(file, kernels);
  const most = Math.max(1, ...[...heat.values()].map((entry) => entry.lost));
  const spent = cyclesByLine(file, kernels), ran = runsByLine(file, kernels), asked = memoryByLine(file, kernels);
  const text = source.text.split("\n"), pieces = paintOf(source, text);
  if (text[text.length - 1] === "") text.pop();
  const view = h("div", { class: "src", tabindex: "0", role: "region", "aria-label": "Source of " + source.name }, chunks(text, (content, index) => {
    const here = index + 1, known = heat.get(here);
    const share = known ? (known.lost ? .12 + .5 * known.lost / most : known.diverged ? .1 : 0) : 0;
    const bare = content.replace(/\r$/, "");
    const part = (from, to) => painted(bare, pieces[index], from, to);
    let shown = part(0, bare.length);
    if (here === line && column) {
      const bytes = new TextEncoder().encode(bare);
      const start = new TextDecoder().decode(bytes.slice(0, column - 1)).length;
      const end = expressionEnd(bare, start);
      if (start < bare.length) shown = [part(0, start), h("u", {}, part(start, end)), part(end, bare.length)];
    }
    const told = known ? groupsOf(known.entries).map((group) => `${group.kernel.name}: ${group.package ? `${one(group.entries.length, "branch")} of ${group.package}` : title(group.entries[0].branch)}, ${count(group.lost)} lanes lost`).join("\n") : null;
    return h("div", { class: "l" + (here === line ? " here" : ""), "data-line": here, style: share ? `background-color:rgba(var(--heat),${share.toFixed(3)})` : null, on: onPick ? { click: () => onPick(here) } : null },
      h("span", { class: "no" }, String(here)),
      h("span", { class: "heat" }, known ? h("a", { href: known.entries[0].href, title: told }, h("span", { class: "share" }, percent(known.diverged, known.executions) + " "), known.lost ? "−" + count(known.lost) : "") : ""),
      ran.lines.size ? runCell(ran.lines.get(here), ran.most) : null,
      asked.lines.size ? memoryCell(asked.lines.get(here), asked.most) : null,
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
  const asked = new Map(), of = kernel.memory ? kernel.memory.code : [], most = Math.max(1, ...of.map((code) => code[1]));
  for (const [pc, cost, text] of of) asked.set(pc, { cost: cost + (asked.get(pc) || { cost: 0 }).cost, texts: [...(asked.get(pc) || { texts: [] }).texts, text] });
  const view = h("div", { class: "src", tabindex: "0", role: "region", "aria-label": "Disassembly of " + kernel.name }, chunks(kernel.code, ([pc, text, file, line]) =>
    h("div", { class: "l" + (at.has(pc) ? " here" : ""), "data-pc": pc, "data-line": line || 0, "data-file": file, on: { click: () => onPick(file, line) } },
      h("span", { class: "no" }, hex(pc).slice(2)), h("span", { class: "heat dim" }, line ? (file < 0 ? "" : fileName(file).split("/").pop()) + ":" + line : ""), asked.size ? memoryCell(asked.get(pc), most) : null, time ? cell(pc) : null, h("span", { class: "t" }, paintedCode(text))), 18));
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
  const split = h("div", { class: "split" }, source, splitter(), box);
  split.show = () => source.show && source.show(line);
  return [split];
}
/* The bar between two panes: dragged, or moved with the arrow keys. The share of the left one is kept from page to page. */
let leftShare = 55;
function splitter() {
  const bar = h("div", { class: "splitter", role: "separator", tabindex: "0", "aria-orientation": "vertical", "aria-label": "Width of the source", "aria-valuemin": 15, "aria-valuemax": 85, "aria-valuenow": leftShare });
  const set = (share) => {
    leftShare = Math.round(Math.min(85, Math.max(15, share)));
    bar.setAttribute("aria-valuenow", leftShare);
    bar.parentElement.style.setProperty("--left", leftShare);
  };
  bar.addEventListener("pointerdown", (event) => { bar.setPointerCapture(event.pointerId); event.preventDefault(); });
  bar.addEventListener("pointermove", (event) => {
    if (!bar.hasPointerCapture(event.pointerId)) return;
    const box = bar.parentElement.getBoundingClientRect();
    set(100 * (event.clientX - box.left) / box.width);
  });
  bar.addEventListener("keydown", (event) => { const step = { ArrowLeft: -5, ArrowRight: 5 }[event.key]; if (step) { set(leftShare + step); event.preventDefault(); } });
  requestAnimationFrame(() => set(leftShare));
  return bar;
}


/* A cell a wave: its height the lanes that went on, its colour what happened. */
function strip(kernel, branch) {
  const values = branch.strip, seen = values.length / 7;
  if (!seen) return h("p", { class: "dim" }, "No wave came here.");
  const cells = [], rows = [];
  for (let index = 0; index < seen; index++) {
    const [id, executions, whole, none, before, after, gone] = values.slice(7 * index, 7 * index + 7);
    const diverged = executions - whole - none;
    const kind = diverged ? "some" : whole >= none ? "all" : "none";
    const text = `${wave(kernel.ids[id])}: ${one(executions, "execution")}, ${diverged} diverged, ${after} of ${before} lanes, ${gone} lost`;
    if (index < STRIP_CELLS) {
      const height = before ? Math.max(3, 18 * after / before) : 18;
      cells.push(h("i", { class: kind, title: text, style: `height:${height.toFixed(1)}px;margin-top:${(18 - height).toFixed(1)}px` }));
    }
    rows.push([id, executions, whole, diverged, none, before, after, gone]);
  }
  const table = h("details", {}, h("summary", {}, "The same as a table"));
  table.addEventListener("toggle", () => {
    if (table.open && table.childElementCount === 1) table.append(grid({ name: "waves", items: rows, columns: [
      { head: "wave", key: ([id]) => id, cell: ([id]) => wave(kernel.ids[id]) },
      ...["executions", "all", "some", "none", "lanes before", "after", "lanes lost"].map((head, index) => ({ head, right: true, key: (row) => row[index + 1], cell: (row) => count(row[index + 1]) })),
    ] }));
  });
  const rest = branch.waves[0] - Math.min(seen, STRIP_CELLS);
  return h("div", {}, h("div", { class: "strip", role: "img", "aria-label": `${branch.waves[1]} of ${one(branch.waves[0], "wave")} diverged` }, cells),
    rest > 0 ? h("p", { class: "dim" }, `${rest} more waves are not drawn.`) : null, legend(), table);
}

function tiles(kernels) {
  const branches = kernels.flatMap((kernel) => kernel.branches), tests = data.tests;
  const gone = sumOf(branches, (branch) => branch.lost), active = sumOf(branches, (branch) => branch.counts[5]);
  const before = kernels.every((kernel) => kernel.was) && kernels.length ? sumOf(kernels, (kernel) => kernel.was.lost) : null;
  const diverged = branches.filter((branch) => branch.counts[3]).length, meant = branches.filter((branch) => branch.counts[3] && branch.expected).length;
  const launches = sumOf(kernels, (kernel) => kernel.launches), waves = sumOf(kernels, (kernel) => kernel.waves);
  const lines = kernels.flatMap((kernel) => kernel.lines);
  return h("div", { class: "tiles" },
    branches.length || !lines.length ? tile([sign(branches) + count(gone), before !== null ? was(gone, before) : null], "lanes lost", active + gone ? `${percent(gone, active + gone)} of the lanes at branches` : null) : null,
    branches.length || !lines.length ? tile(`${count(diverged)} of ${count(branches.length)}`, "branches diverged", meant ? `${meant} as expected` : null) : tile(`${count(lines.filter((line) => line[2]).length)} of ${count(lines.length)}`, "lines ran"),
    kernels.length > 1 ? tile(count(kernels.length), "kernels", `profile ${data.profile}`) : null,
    tile(count(launches), launches === 1 ? "launch" : "launches", one(waves, "wave")),
    kernels.length > 1 ? tile(h("span", { class: tests.failed ? "up" : null }, tests.failed ? `${tests.failed} failed` : `${tests.passed} passed`), "tests", [tests.failed ? `${tests.passed} passed` : null, tests.ignored ? `${tests.ignored} ignored` : null].filter((text) => text).join(", ")) : null,
    kernels.length === 1 && kernels[0].resources ? tile([change("occupancy", true)(kernels[0])], "waves a SIMD", `${kernels[0].resources.vgprs[0]} VGPRs, ${kernels[0].resources.sgprs[0]} SGPRs`) : null,
    kernels.length === 1 && kernels[0].modelled ? tile([count(kernels[0].modelled.cycles / kernels[0].modelled.launches), kernels[0].was ? was(kernels[0].modelled.cycles / kernels[0].modelled.launches, kernels[0].was.cycles) : null], "cycles a launch", `modelled on ${kernels[0].modelled.device}`) : null);
}
function differences() {
  if (!data.diff) return [];
  const verdicts = ["worse", "better", "changed", "new", "gone"].map((verdict) => [verdict, data.diff.filter((entry) => entry.verdict === verdict).length]).filter(([, number]) => number);
  return [h("h2", {}, "Compared with the baseline"), data.diff.length ? h("details", { class: "diff" }, h("summary", {}, verdicts.map(([verdict, number]) => `${number} ${verdict}`).join(", ")), grid({ id: "diff", items: data.diff, text: (entry) => `${entry.verdict} ${entry.kernel} ${entry.file || ""} ${entry.what}`.toLowerCase(), columns: [
    { head: "", key: (entry) => entry.verdict, cell: (entry) => h("span", { class: entry.verdict === "worse" ? "up" : entry.verdict === "better" ? "down" : null }, entry.verdict) },
    { head: "kernel", key: (entry) => entry.kernel, cell: (entry) => `${entry.kernel} (${entry.cpu})` },
    { head: "source", key: (entry) => `${entry.file || ""}:${String(entry.line || 0).padStart(7, "0")}`, cell: (entry) => entry.file ? h("code", {}, `${fileNamed(entry.file) < 0 ? entry.file : fileName(fileNamed(entry.file))}:${entry.line}`) : "" },
    { head: "what", key: (entry) => entry.what, cell: (entry) => entry.what },
    { head: "before", cell: (entry) => entry.before || "" },
    { head: "now", cell: (entry) => entry.after || "" },
  ] })) : h("p", {}, "Nothing has changed.")];
}
function overview() {
  const counted = data.kernels.some((kernel) => kernel.lines.length);
  const worst = [...data.kernels].sort((a, b) => lostOf(b) - lostOf(a))[0], drawn = worst && picture(worst);
  const files = (own) => data.sources.filter((source) => source.own === own && source.text !== null).map((source) => h("li", {}, h("a", { href: fileHref(data.sources.indexOf(source), 1) }, h("code", {}, source.name))));
  const dependencies = files(false);
  return [
    tiles(data.kernels), problems(),
    drawn ? [h("h2", {}, "The kernel that lost most: ", h("a", { href: kernelHref(worst) }, h("code", {}, worst.name))), drawn] : null,
    differences(),
    h("h2", {}, "Kernels"), data.kernels.length > FOLDED_KERNELS ? h("details", { class: "kernels" }, h("summary", {}, one(data.kernels.length, "kernel")), kernelTable(data.kernels)) : kernelTable(data.kernels),
    linesOf(data.kernels), all.length || !counted ? [h("h2", {}, "Branches"), branchTable(all, true)] : null,
    data.kernels.map(uncounted),
    h("h2", {}, "Files"), h("ul", {}, files(true)),
    dependencies.length ? h("details", { class: "dependency-files" }, h("summary", {}, `Of dependencies (${one(dependencies.length, "file")})`), h("ul", {}, dependencies)) : null,
  ];
}
function kernelPage(kernel) {
  const rows = all.filter((entry) => entry.kernel === kernel);
  const [file, line] = kernel.lines.find(([file]) => file >= 0 && data.sources[file].text !== null) || [];
  const own = rows.map((entry) => [entry, ownPlace(entry)]).find(([, place]) => place && place[0] >= 0) || (rows[0] ? [rows[0], [rows[0].branch.file, rows[0].branch.line, rows[0].branch.column]] : null);
  const first = own ? { file: own[1][0], line: own[1][1], column: own[1][2], pcs: own[0].branch.pcs } : line ? { file, line, column: 0, pcs: [] } : null;
  const drawn = picture(kernel);
  return [h("h2", {}, "Kernel ", h("code", {}, kernel.name), ` on ${kernel.cpu}`), tiles([kernel]),
    kernel.time ? h("p", {}, `Waves ran ${count(kernel.time.least)} to ${count(kernel.time.most)} ticks, the median ${count(kernel.time.median)}.`) : null,
    drawn ? [h("h2", {}, "Where lanes stood idle"), drawn] : null,
    rows.length || !kernel.lines.length ? [h("h2", {}, "Branches"), branchTable(rows, false)] : null, uncounted(kernel),
    linesOf([kernel]),
    first ? [h("h2", {}, "Source"), sourceAndCode(kernel, first.file, first.line, first.column, first.pcs)] : [],
    occupancyOf(kernel), timelineOf(kernel), cyclesOf(kernel), memoryOf(kernel), h("h2", {}, "What it takes"), kernelTable([kernel])];
}
function branchPage({ kernel, branch }) {
  const [executions, whole, none, diverged, before, after] = branch.counts;
  const fact = (name, ...values) => [h("dt", {}, name), h("dd", {}, ...values)];
  const index = all.findIndex((entry) => entry.kernel === kernel && entry.branch === branch);
  const step = (to, text) => all[to] ? h("a", { href: all[to].href, rel: to < index ? "prev" : "next" }, text) : null;
  return [h("h2", {}, `${title(branch)} of ${kernel.name}`, " ", h("code", {}, place(branch)), branch.expected ? h("span", { class: "tag" }, "expected") : null),
    h("dl", {}, fact("kernel", h("a", { href: kernelHref(kernel) }, kernel.name), ` on ${kernel.cpu}, counters in ${kernel.home}`),
      branch.caller ? fact("called at", link(...branch.caller)) : branch.package ? fact("in", `${branch.package}; the function was not inlined, so that its callers are not known`) : [],
      fact("executions", `${count(executions)}: `, bar(branch.counts), ` all ${count(whole)}, some ${count(diverged)} (${percent(diverged, executions)}), none ${count(none)}`, branch.was ? was(diverged, branch.was[1]) : null),
      fact("lanes active", `${average(after, branch)} of ${average(before, branch)} on average`), fact("lanes lost", lost(branch), branch.was ? was(branch.lost, branch.was[2]) : null),
      fact("waves", `diverged in ${count(branch.waves[1])} of ${count(branch.waves[0])}`), branch.sites > 1 ? fact("machine branches", String(branch.sites)) : []),
    branch.frames.length > 1 ? h("details", { open: true, class: "inline" }, h("summary", {}, "Inlined"), h("ol", { class: "frames" }, branch.frames.map(([name, file, line]) => h("li", {}, h("code", {}, name), " at ", link(file, line))))) : null,
    h("details", { open: true, class: "per-wave" }, h("summary", {}, "Wave by wave"), strip(kernel, branch)),
    sourceAndCode(kernel, branch.file, branch.line, branch.column, branch.pcs),
    h("p", {}, step(index - 1, "← a branch that lost more"), " ", step(index + 1, "one that lost less →"))];
}
const filePage = (index, line) => [h("h2", {}, "Source"), sourceAndCode(null, index, line, 0, [])];
const missing = () => [h("p", { class: "note" }, "There is nothing here. "), h("a", { href: "#/" }, "To the overview")];

/* The branch that the end of a link names: by its key, else by the beginning of its place (`at/src/a.rs:24`). */
function branchNamed(kernel, key) {
  const known = keys.get(kernel), begins = key.replace(/\/$/, "") + ":";
  return known.get(key) || [...known].map(([name, entry]) => name.startsWith(begins) ? entry : null).find((entry) => entry);
}
/* The GPUs that have a page: the same place of another one. */
function gpuChoice() {
  const choice = h("select", { "aria-label": "GPU" }, data.gpus.pages.map(([name, href]) => h("option", { value: href, selected: name === data.gpus.own }, name)));
  choice.addEventListener("change", () => { location.href = choice.value + location.hash; });
  return [choice, " ", h("a", { href: data.gpus.all, target: "_top" }, "all GPUs")];
}
let current = [];
function route() {
  if (location.hash === "#main") return;
  /* A link that somebody has typed is written as ours are. */
  let typed = location.hash;
  try { typed = decodeURIComponent(typed); } catch { /* as it is */ }
  const [, first, name, ...rest] = path(typed).split("/");
  const crumb = [["Overview", "#/"]];
  let show = 0;
  current = missing();
  if (first === "kernel") {
    const kernel = data.kernels.find((kernel) => kernelKey(kernel) === name) || data.kernels.find((kernel) => encodeURIComponent(kernel.name) === name);
    const entry = kernel && rest.length ? branchNamed(kernel, rest.join("/")) : null;
    if (kernel) crumb.push([kernel.name, kernelHref(kernel)]);
    if (entry) crumb.push([entry.branch.probe || place(entry.branch), entry.href]);
    if (kernel && (entry || !rest.length)) current = entry ? branchPage(entry) : kernelPage(kernel);
  } else if (first === "file") {
    const [, file, line] = decodeURIComponent([name, ...rest].join("/")).match(/^(.*?)(?::(\d+))?$/);
    const index = data.sources.findIndex((source) => source.name === file || source.file === file);
    show = +line || 1;
    if (index >= 0) { crumb.push([fileName(index), location.hash]); current = filePage(index, show); }
  } else if (!first) current = overview();
  current = current.flat(9).filter((element) => element);
  main.replaceChildren(...current);
  crumbs.replaceChildren(...crumb.flatMap(([name, href], index) => [index ? " › " : "", index === crumb.length - 1 ? h("span", { "aria-current": "page" }, name) : h("a", { href }, name)]));
  if (data.gpus) crumbs.append(" on ", ...gpuChoice());
  document.title = [...crumb.slice(1).map(([name]) => name).reverse(), `Divergence of ${data.package}`].join(" · ");
  window.scrollTo(0, 0);
  for (const element of current) if (element.show) element.show(show);
}
window.addEventListener("hashchange", () => { route(); main.focus({ preventScroll: true }); });
window.addEventListener("beforeprint", () => { for (const element of main.querySelectorAll(".grid")) element.printAll(); });

route();
})();
