"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const { rows, items, judges, raters, replies } = data, PART = 25, FEW = 6;
const LABELS = { difference: "Difference between judge and people", score: "Score", change: "Change under the attack" };
const $ = id => document.getElementById(id);
const state = { q: "", sort: data.sorts[0] ?? "", up: "", judge: "", agent: "",
  lost: "", item: "" };
let shown = [], limit = PART;

// Texts reach the page by textContent alone, so that none of them is ever markup.
const make = (tag, words, kind) => {
  const node = document.createElement(tag);
  if (words !== undefined) node.textContent = words;
  if (kind) node.className = kind;
  return node;
};
const number = v => {
  if (v === null || v === undefined) return "–";
  if (Number.isInteger(v)) return String(v);
  if (Math.abs(v) < 0.001) return v < 0 ? "> -.001" : "< .001";
  return v.toFixed(Math.abs(v) < 1 ? 3 : Math.abs(v) < 100 ? 2 : 1);
};
const short = v => v === null ? "–" : String(Number(v.toFixed(2)));
const words = () => state.q.toLowerCase().split(/\s+/).filter(Boolean);
const plain = text => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const sought = () => words().length ? new RegExp(`(${words().map(plain).join("|")})`, "giu") : null;

function marked(node, text) {
  const find = sought();
  if (!find) { node.textContent = text; return false; }
  const parts = text.split(find);
  parts.forEach((part, k) => node.append(k % 2 ? make("mark", part) : part));
  return parts.length > 1;
}
function block(title, text) {
  const box = make("div"), body = make("div", undefined, "text");
  box.append(make("h3", title), body);
  body.dir = "auto";
  const found = marked(body, text);
  if (text.length > 500 || text.split("\n").length > 8) {
    const button = make("button", undefined, "unfold");
    const fold = folded => {
      body.classList.toggle("fold", folded);
      button.setAttribute("aria-expanded", String(!folded));
      button.textContent = folded ? `Show all (${text.length.toLocaleString("en")} characters)` : "Show less";
    };
    button.type = "button";
    button.addEventListener("click", () => fold(!body.classList.contains("fold")));
    fold(!found);
    box.append(button);
  }
  return box;
}
// What somebody said of a row, in words where it is a preference or a category.
function told(value, row) {
  if (value === null) return "–";
  if (data.kind === "category") return data.levels[value] ?? "–";
  if (data.kind !== "preference") return number(value);
  return value === 1 ? row.agents[0] : value === 0 ? row.agents[1] : value === .5 ? "neither" : number(value);
}
function judged(row, j) {
  const [one, two] = row.values[j];
  if (data.kind !== "preference" || two === undefined || one === two || one === null || two === null)
    return told(row.said[j] ?? one ?? two ?? null, row);
  if (one + two === 1 && one !== .5) return `the one shown ${one ? "first" : "second"}, both times`;
  return `${told(one, row)} with ${row.agents[0]} first, ${told(two, row)} with ${row.agents[1]} first`;
}
const who = row => judges.map((_, j) => j).filter(j => row.asked[j] && (!state.judge || judges[j] === state.judge));
function line(body, name, value, beside, off) {
  const tr = make("tr"), cell = make("td", value);
  tr.append(make("th", name), cell);
  tr.firstChild.scope = "row";
  if (beside) cell.append(make("small", beside));
  if (off !== undefined) tr.append(make("td", off));
  body.append(tr);
  return cell;
}
function reasons(row, j) {
  const of = row.replies.map(k => replies[k]).filter(r => r[0] === "clean" && r[1] === judges[j] && r[6]);
  return [...new Set(of.map(r => r[6]))].join("; ") || "no reason was recorded";
}
function judgeLine(body, row, j, off) {
  const cell = line(body, judges[j], judged(row, j), "", off ? short(row.difference[j]) : undefined);
  if (row.values[j].some((v, o) => v === null)) {
    const lost = row.values[j].every(v => v === null);
    if (lost) cell.textContent = "unscored";
    cell.append(make("small", `${lost ? "" : "one order is unscored: "}${reasons(row, j)}`, "why"));
  }
}
function numbers(row) {
  const box = make("div"), own = make("table", undefined, "said"), body = make("tbody");
  const off = data.sorts.includes("difference");
  const heads = (...names) => {
    const tr = make("tr", undefined, "heads");
    for (const name of names) tr.append(Object.assign(make("th", name), { scope: "col" }));
    body.append(tr);
  };
  if (off) heads("judge", "says", "difference");
  const order = who(row).sort((a, b) => (row.difference[b] ?? -1) - (row.difference[a] ?? -1));
  for (const j of order.slice(0, FEW)) judgeLine(body, row, j, off);
  const people = raters.map((_, r) => r).filter(r => row.labels[r] !== null);
  if (row.change !== null) {
    const by = row.said[0] === null ? "" : `change ${number(row.change - row.said[0])}`;
    line(body, "attacked", number(row.change), by);
  }
  if (off && people.length) heads("person", "says");
  if (people.length > 1 && data.kind === "grade") line(body, "mean of people", number(row.people));
  for (const r of people.slice(0, FEW)) line(body, raters[r], told(row.labels[r], row));
  own.append(body);
  box.append(own);
  const rest = [[order.slice(FEW), "judges"], [people.slice(FEW), "people"]];
  for (const [left, name] of rest) if (left.length) box.append(lazily(`${left.length} more ${name}`, () => {
    const more = make("table", undefined, "said"), inner = make("tbody");
    for (const k of left) name === "judges" ? judgeLine(inner, row, k, off) : line(inner, raters[k], told(row.labels[k], row));
    more.append(inner);
    return more;
  }));
  return box;
}
function lazily(title, build, open) {
  const box = make("details");
  box.append(make("summary", title));
  box.addEventListener("toggle", () => { if (box.open && box.children.length === 1) box.append(build()); });
  if (open) { box.append(build()); box.open = true; }
  return box;
}
function answers(row) {
  const own = row.replies.map(k => replies[k]).filter(r => r[3] !== null && (!state.judge || r[1] === state.judge));
  if (!own.length) return null;
  const find = sought(), single = own.length <= 4, title = own.length === 1 ? "Reply" : `${own.length.toLocaleString("en")} replies`;
  return lazily(title, () => {
    const box = make("div", undefined, "replies");
    for (const [panel, judge, shown, text, detail, probabilities, reason] of own) {
      const about = [judge, shown.length > 1 ? `${shown[0]} shown first, ${shown[1]} second` : row.agents.length > 1 ? `on ${shown[0]}` : "",
        detail, panel === "clean" ? "" : panel].filter(Boolean).join(" · ");
      const one = block(about, text || "(empty)");
      if (probabilities) one.append(make("small", `Probabilities: ${probabilities}`, "note"));
      if (reason) one.append(make("div", `Not read: ${reason}`, "why"));
      box.append(one);
    }
    return box;
  }, single || (find !== null && own.some(r => r[3].search(find) >= 0)));
}
function card(row) {
  const li = make("li"), head = make("h2"), [name, source, gold] = items[row.item];
  const link = make("a", name);
  link.href = `#item=${encodeURIComponent(name)}`;
  head.append(link, make("span", ` · ${row.agents.join(" and ")}${row.group ? ` · ${row.group}` : ""}`));
  const cells = make("div", undefined, "cells");
  if (judges.length || raters.length) cells.append(numbers(row));
  if (source) {
    const box = block("Source", source);
    if (gold) box.append(block("Reference", gold));
    cells.append(box);
  }
  row.texts.forEach((text, k) => {
    const box = block(row.texts.length > 1 ? row.agents[k] : "Response", text ?? "(no text)");
    if (row.attacked !== null) box.append(block("Attacked", row.attacked));
    cells.append(box);
  });
  if (cells.children.length > 3) cells.classList.add("three");
  li.append(head, cells);
  const said = answers(row);
  if (said) li.append(said);
  return li;
}

// Which rows, in which order.
const hay = new Map(), itemHay = new Map();
function text(row) {
  if (!hay.has(row)) hay.set(row, [...row.agents, row.group, ...row.texts, row.attacked,
    ...row.replies.map(k => replies[k][3])].filter(Boolean).join("\n").toLowerCase());
  if (!itemHay.has(row.item)) itemHay.set(row.item, items[row.item].filter(Boolean).join("\n").toLowerCase());
  return [hay.get(row), itemHay.get(row.item)];
}
function key(row) {
  const j = judges.indexOf(state.judge);
  if (j < 0 || !["difference", "score"].includes(state.sort)) return row.keys[state.sort] ?? null;
  return state.sort === "score" ? row.said[j] : row.difference[j];
}
function choose() {
  const wanted = words(), j = judges.indexOf(state.judge);
  shown = rows.filter(row => (!state.item || items[row.item][0] === state.item)
    && (!state.agent || row.agents.includes(state.agent))
    && (j < 0 || row.asked[j])
    && (!state.lost || (j < 0 ? row.lost : row.asked[j] && row.values[j].some(v => v === null)))
    && wanted.every(word => text(row).some(part => part.includes(word))));
  const sign = state.up ? 1 : -1, values = new Map(shown.map(row => [row, state.sort === "data" ? row.at : key(row)]));
  shown.sort((a, b) => {
    const x = values.get(a), y = values.get(b);
    if (x === null || y === null) return (x === null) - (y === null) || a.at - b.at;
    return (state.sort === "data" ? (state.up ? y - x : x - y) : sign * (x - y)) || a.at - b.at;
  });
}
function draw(all) {
  if (all) { choose(); limit = PART; $("rows").replaceChildren(); }
  const done = $("rows").children.length;
  $("rows").append(...shown.slice(done, limit).map(card));
  const left = shown.length - Math.min(limit, shown.length);
  $("more").hidden = !left;
  $("more").textContent = `Show ${Math.min(left, PART)} more`;
  const count = n => `${n.toLocaleString("en")} ${n === 1 ? "row" : "rows"}`;
  $("count").replaceChildren(`${count(shown.length)} of ${rows.length.toLocaleString("en")}`,
    ...(state.item ? [`, of item ${state.item} alone · `, Object.assign(make("a", "all items"), { href: "#" })] : []));
}
function keep() {
  const said = new URLSearchParams(Object.entries(state).filter(([name, value]) => value && (name !== "sort" || value !== (data.sorts[0] ?? ""))));
  history.replaceState(null, "", `#${said}`);
}
function recall() {
  const said = new URLSearchParams(location.hash.slice(1));
  for (const name of Object.keys(state)) state[name] = said.get(name) ?? "";
  const known = [...$("sort").options].map(o => o.value);
  if (!known.includes(state.sort)) state.sort = known[0];
  for (const name of ["q", "sort", "up", "judge", "agent"]) $(name).value = state[name];
  $("lost").checked = Boolean(state.lost);
  draw(true);
}
function options(id, entries) {
  for (const [value, name] of entries) $(id).append(Object.assign(make("option", name), { value }));
  if (entries.length < (id === "sort" ? 1 : 3)) $(id).parentElement.hidden = true;
}
options("sort", [...data.sorts.map(name => [name, LABELS[name]]), ["data", "Order of the data"]]);
options("judge", [["", "all judges"], ...judges.map(name => [name, name])]);
options("agent", [["", "all agents"], ...[...new Set(rows.flatMap(row => row.agents))].map(name => [name, name])]);
$("lost").parentElement.hidden = !rows.some(row => row.lost);
let timer;
$("tools").addEventListener("submit", event => event.preventDefault());
$("tools").addEventListener("input", event => {
  const from = event.target;
  state[from.id] = from.type === "checkbox" ? (from.checked ? "1" : "") : from.value;
  clearTimeout(timer);
  timer = setTimeout(() => { keep(); draw(true); }, from.id === "q" ? 150 : 0);
});
$("more").addEventListener("click", () => {
  const first = limit;
  limit += PART;
  draw(false);
  const next = $("rows").children[first];
  if (next) next.querySelector("a").focus({ preventScroll: true });
});
document.addEventListener("keydown", event => {
  if (event.key === "/" && !/INPUT|SELECT|TEXTAREA/.test(event.target.tagName)) { event.preventDefault(); $("q").focus(); }
});
addEventListener("hashchange", recall);
recall();
