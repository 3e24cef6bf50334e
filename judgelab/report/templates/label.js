"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const { units, kind, levels } = data, KEY = `judgelab ${data.run}`;
const NOUN = kind === "preference" ? "pair" : "text";
const $ = id => document.getElementById(id);

// Texts reach the page by textContent alone, so that none of them is ever markup.
const make = (tag, words, kind) => {
  const node = document.createElement(tag);
  if (words !== undefined) node.textContent = words;
  if (kind) node.className = kind;
  return node;
};
const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

// What is not shown before a label: names, verdicts and other people's labels.
let opened;
const hidden = () => opened ??= JSON.parse(new TextDecoder().decode(
  Uint8Array.from(atob(data.hidden), c => c.charCodeAt(0))));

// What is kept in the browser: of each person the labels by place in the draw, with the order in
// which they came (n) and the export after which they came (round).
let kept = { rater: "", people: {} }, keeps = true;
try { kept = JSON.parse(localStorage.getItem(KEY)) ?? kept; } catch { keeps = false; }
function keep() {
  try { localStorage.setItem(KEY, JSON.stringify(kept)); } catch { keeps = false; }
}
const mine = () => kept.people[kept.rater] ??= { labels: {}, seen: {}, n: 0, exported: 0, round: 0,
  goal: Math.min(60, units.length), scale: data.scale };

let at = 0; // place in the draw of the unit that is shown

function offers() {
  if (kind === "preference") return [["a", "A is better", 0], ["b", "B is better", 1], ["t", "neither", .5]];
  if (kind === "grade") {
    const [low, high] = mine().scale;
    if (low < 0 || high > 9) return [];
    return Array.from({ length: high - low + 1 }, (_, k) => [String(low + k), String(low + k), low + k]);
  }
  const digits = levels.every(level => /^\d$/.test(level));
  return levels.map((level, k) => [digits ? level : k < 9 ? String(k + 1) : "", level, level]);
}
// A further key of each category, its first letter, where these differ: y and n, p and f.
function letters() {
  const first = levels.map(level => level[0].toLowerCase());
  const free = kind === "category" && first.every(c => /[a-z]/.test(c) && !"jkuv".includes(c));
  return free && new Set(first).size === first.length ? first : [];
}
// A preference is of the place (A is 0, B is 1) on the page, and of the stored order in labels.
const placed = (k, value) => kind === "preference" ? hidden()[k].swapped ? value : 1 - value : value;

function label(value) {
  const own = mine();
  if (own.seen[at]) return note("You have seen what others said of this one, so its label stays as it is.");
  if (own.exported && own.exported === own.n) own.round += 1;
  own.labels[at] = { value: placed(at, value), n: ++own.n, round: own.round };
  keep();
  const left = [...units.keys()].filter(k => !(k in own.labels));
  const next = left.find(k => k > at) ?? left[0], given = Object.keys(own.labels).length;
  show(next ?? at);
  if (next === undefined) note(`All ${count(units.length, NOUN)} are labelled: export them.`);
  else if (given === own.goal) note(`${count(given, NOUN)} are labelled, as you wanted: export them, or go on.`);
}
function undo() {
  if (mine().seen[at]) return;
  delete mine().labels[at];
  keep();
  show(at);
}
function move(step) {
  if (at + step in units) show(at + step);
}
function block(title, text, kind) {
  const box = make("div", undefined, kind), body = make("div", text, "text");
  body.dir = "auto";
  body.tabIndex = 0;
  box.append(make("h2", title), body);
  return box;
}
function show(k) {
  at = k;
  const unit = units[k], own = mine(), before = own.labels[k], given = Object.keys(own.labels).length;
  const names = kind === "preference" ? ["A", "B"] : ["Response"];
  $("unit").className = kind === "preference" ? "pair" : "";
  $("unit").replaceChildren(...(unit.source ? [block("Source", unit.source, "source")] : []),
    ...unit.texts.map((text, j) => block(names[j], text)));
  if (unit.reference) {
    const more = make("details", undefined, "source");
    more.append(make("summary", "Reference"), make("div", unit.reference, "text"));
    $("unit").firstChild.after(more);
  }
  const extra = letters(), buttons = offers().map(([key, words, value], j) => {
    const button = make("button"), keys = [key, extra[j]].filter(Boolean);
    button.type = "button";
    button.append(...keys.map(one => make("kbd", one)), words);
    button.setAttribute("aria-pressed", String(before !== undefined && before.value === placed(k, value)));
    button.addEventListener("click", () => label(value));
    return button;
  });
  if (!buttons.length) buttons.push(typed(before));
  $("answers").replaceChildren(...buttons);
  $("bar").max = own.goal;
  $("bar").value = Math.min(given, own.goal);
  $("count").textContent = `${given} of ${own.goal} labelled · ${NOUN} ${k + 1} of ${units.length.toLocaleString("en")}`;
  $("others").replaceChildren(...(before === undefined ? [] : [others(k)]));
  $("next").hidden = true;
  $("unit").querySelectorAll(".text").forEach(node => { node.scrollTop = 0; });
}
function typed(before) {
  const input = make("input"), [low, high] = mine().scale;
  Object.assign(input, { id: "typed", inputMode: "decimal", autocomplete: "off",
    placeholder: `${low} to ${high}, Enter`, value: before === undefined ? "" : before.value });
  input.setAttribute("aria-label", "grade");
  input.addEventListener("keydown", event => {
    if (event.key !== "Enter") return;
    const value = Number(input.value.replace(",", "."));
    if (input.value.trim() && value >= low && value <= high) label(value);
    else note(`A grade is a number from ${low} to ${high}.`);
    $("typed").focus();
  });
  return input;
}
function others(k) {
  const box = make("details"), own = mine();
  box.append(make("summary", "What judges and other people said (its label stays as it is from then on)"));
  box.addEventListener("toggle", () => {
    if (!box.open || box.children.length > 1) return;
    own.seen[k] = true;
    keep();
    const { names, labels, verdicts } = hidden()[k], table = make("table");
    const line = (who, said) => {
      const row = make("tr");
      row.append(make("td", who), make("td", said || "no verdict"));
      table.append(row);
    };
    line("item", names[0]);
    const shown = (hidden()[k].swapped ? [names[2], names[1]] : names.slice(1)).filter(Boolean);
    const letter = name => kind === "preference" ? "AB"[shown.indexOf(name)] ?? "neither" : name;
    for (const name of shown) line(kind === "preference" ? letter(name) : "written by", name);
    for (const [who, said] of labels) line(who, letter(said));
    for (const [who, place, , said] of verdicts)
      line(kind === "preference" ? `${who}, ${letter(names[1 + place])} shown first` : who, said && letter(said));
    box.append(table);
  });
  if (own.seen[k]) box.open = true;
  return box;
}
function note(words) {
  $("next").replaceChildren(make("p", words));
  $("next").hidden = false;
}

// The export: a row for each unit with its texts and my label, then one for each other label and
// verdict.
function csv() {
  const own = mine(), rater = kept.rater || "me", given = Object.entries(own.labels);
  const reached = Math.max(-1, ...given.map(([k]) => Number(k)));
  const rounds = new Set(given.map(([, one]) => one.round)).size, pair = kind === "preference";
  const human = pair ? "preference" : "human", rows = [], told = new Set();
  // the last turn of the data's own labels; where all came at once, mine have the same one
  const before = Math.max(1, ...hidden().map(one => one.turn ?? 0));
  for (const [k, unit] of units.entries()) {
    const { names: [id, agent, other], swapped, labels, verdicts, ...facts } = hidden()[k], mark = own.labels[k];
    const base = { id, agent, other, stratum: facts.stratum, cluster: facts.cluster };
    const [text, other_text] = swapped ? [unit.texts[1], unit.texts[0]] : unit.texts;
    const about = told.has(id) ? {} : { source: unit.source, reference: unit.reference };
    told.add(id);
    const row = { ...base, ...about, text, other_text, turn: facts.turn };
    if (rounds > 1 && labels.length) row.turn ??= 0; // others labelled before I did
    if (mark !== undefined) {
      const cell = pair ? { 1: agent, 0: other }[mark.value] ?? "tie" : mark.value;
      Object.assign(row, { rater, [human]: cell, turn: rounds > 1 ? before + mark.n : before + (before > 1) });
    }
    rows.push(row);
    for (const [who, said] of labels)
      if (who !== rater || mark === undefined) rows.push({ ...base, rater: who, [human]: said });
    for (const [who, place, run, said] of verdicts) rows.push({ ...base, judge: who, order: place, run, verdict: said });
  }
  const used = ["id", "agent", "other", "source", "reference", "text", "other_text", "stratum", "cluster",
    "rater", human, "turn", "judge", "order", "run", "verdict"];
  const full = name => rows.some(row => (row[name] ?? "") !== "" && (name !== "run" || row.run));
  const columns = used.filter(name => full(name) || [human, "rater"].includes(name));
  const quoted = v => /[",\r\n]|^\s|\s$/.test(v) ? `"${v.replaceAll('"', '""')}"` : v;
  const lines = rows.map(row => columns.map(name => quoted(String(row[name] ?? ""))).join(","));
  return { text: `${[columns.join(","), ...lines].join("\n")}\n`, counted: given.length,
    skipped: reached + 1 - given.length };
}
function save() {
  const own = mine(), { text, counted, skipped } = csv();
  const file = `labels-${(kept.rater || "me").replace(/[^\p{L}\p{N}]+/gu, "-")}.csv`;
  const link = make("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = file;
  link.click();
  own.exported = own.n;
  keep();
  const name = kept.rater || "me", known = hidden().some(one => one.labels.some(([who]) => who === name));
  const sampled = data.sampled && counted && counted < units.length ? " study.sampled=true" : "";
  note(`${file} holds ${count(counted, "label")} of the random draw.`
    + (skipped ? ` ${count(skipped, NOUN)} of the draw ${skipped === 1 ? "was" : "were"} skipped: if hard ones were, estimates are too good.` : "")
    + (known ? ` ${name} labelled before, and these labels take the place of earlier ones: give another name if you are somebody else.` : ""));
  const line = make("p", "Audit it: ");
  line.append(make("code", `${data.command} dataset.path=${file}${sampled}`));
  $("next").append(line, make("p", "Where one person labels, say what is enough: study.rules.minimum=0.8. "
    + "Labels that you add after this count as a further look (column turn), which needs more of them."));
}

function why() {
  const [n, all] = [units.length, data.pool].map(one => one.toLocaleString("en"));
  const of = units.length < data.pool ? `${n} of ${all} ${NOUN}s were drawn at random and` : `All ${count(units.length, NOUN)}`;
  $("why").textContent = `${of} come in a random order (seed ${data.seed}), the same for everybody, so that those labelled so far are a random sample: take each as it comes.`
    + (keeps ? "" : " This browser keeps nothing: export before you close the page.");
}
function begin() {
  const own = mine(), first = units.findIndex((_, k) => !(k in own.labels));
  $("goal").value = own.goal;
  $("rater").value = kept.rater;
  [$("low").value, $("high").value] = own.scale;
  const keys = offers().length ? "those on the buttons" : "a number and Enter";
  $("keys").replaceChildren(`Keys: ${keys} to label · `, make("kbd", "→"), make("kbd", "j"), "next · ",
    make("kbd", "←"), make("kbd", "k"), "back · ", make("kbd", "u"), "take a label back · ", make("kbd", "v"), "what others said");
  why();
  show(Math.max(first, 0));
}
$("scale").hidden = kind !== "grade";
$("export").addEventListener("click", save);
$("tools").addEventListener("submit", event => event.preventDefault());
$("tools").addEventListener("change", event => {
  const { id, value } = event.target;
  if (id === "rater") {
    const name = value.trim(), nameless = kept.people[""];
    if (!kept.rater && nameless && !kept.people[name]) { kept.people[name] = nameless; delete kept.people[""]; }
    kept.rater = name;
  } else if (id === "goal") mine().goal = Math.max(1, Math.min(units.length, Math.round(Number(value)) || 1));
  else if (Number($("low").value) < Number($("high").value)) mine().scale = [$("low"), $("high")].map(one => Math.round(Number(one.value)));
  keep();
  begin();
});
document.addEventListener("keydown", event => {
  const inside = /INPUT|SELECT|TEXTAREA/.test(event.target.tagName ?? "");
  if (inside || event.ctrlKey || event.metaKey || event.altKey) return;
  const key = event.key.toLowerCase(), known = offers(), letter = letters().indexOf(key);
  const chosen = known.find(([one]) => one === key) ?? known[letter];
  const steps = { arrowright: 1, j: 1, arrowleft: -1, k: -1 };
  if (chosen) label(chosen[2]);
  else if (key in steps) move(steps[key]);
  else if (key === "u") undo();
  else if (key === "v") $("others").querySelector("summary")?.click();
  else return;
  event.preventDefault();
});
begin();
