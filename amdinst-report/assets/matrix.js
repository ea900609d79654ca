"use strict";
(() => {
/* The columns that have a page, [title, address]; and of each kernel, the columns that have run it. */
const data = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main"), beside = document.getElementById("beside"), crumbs = document.getElementById("crumbs");
const addressOf = (title, kernel) => data.pages.find(([name]) => name === title)[1] + "#/kernel/" + encodeURIComponent(kernel);
const linkTo = (kernel, left, right) => "#/beside/" + [kernel, left, right].map(encodeURIComponent).join("/");

function choice(label, names, chosen, take) {
  const select = document.createElement("select"), outer = document.createElement("label");
  for (const name of names) select.append(new Option(name, name, false, name === chosen));
  select.addEventListener("change", () => take(select.value));
  outer.append(label + " ", select);
  return outer;
}
function frame(title, kernel) {
  const frame = document.createElement("iframe");
  frame.title = `${kernel} on ${title}`;
  frame.src = addressOf(title, kernel);
  return frame;
}
function showBeside(kernel, left, right) {
  const names = data.kernels[kernel], tools = document.createElement("p"), panes = document.createElement("div");
  tools.className = "tools";
  panes.className = "panes";
  const go = (kernel, left, right) => { location.hash = linkTo(kernel, left, right); };
  tools.append(
    choice("kernel", Object.keys(data.kernels), kernel, (name) => go(name, ...pair(name, left, right))),
    choice("left", names, left, (name) => go(kernel, name, right)),
    choice("right", names, right, (name) => go(kernel, left, name)));
  panes.append(frame(left, kernel), frame(right, kernel));
  beside.replaceChildren(tools, panes);
}
/* Two columns that have run the kernel: those, if they have. */
function pair(kernel, left, right) {
  const names = data.kernels[kernel];
  const first = names.includes(left) ? left : names[0];
  return [first, names.includes(right) ? right : names.find((name) => name !== first) || first];
}
function route() {
  const [, kind, ...rest] = location.hash.split("/").map(decodeURIComponent);
  const [kernel, left, right] = rest, known = kind === "beside" && data.kernels[kernel];
  main.hidden = Boolean(known);
  beside.hidden = !known;
  if (!known) { beside.replaceChildren(); crumbs.replaceChildren(); return; }
  const [first, second] = pair(kernel, left, right), back = document.createElement("a");
  back.href = "#/";
  back.textContent = "All GPUs";
  crumbs.replaceChildren(back, ` › ${kernel}`);
  showBeside(kernel, first, second);
}
window.addEventListener("hashchange", route);
route();
})();
