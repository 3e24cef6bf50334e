"""The page's inline style and its only script (sorting tables); nothing is fetched."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1f2328; --muted: #656d76;
  --rule: #d0d7de; --soft: #f6f8fa; --zebra: #f9fafb; --accent: #0072b2; --warn: #b35900; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --ink: #e6e9ec; --muted: #9aa4ae;
  --rule: #394048; --soft: #1d2227; --zebra: #191d21; --accent: #56b4e9; --warn: #e69f00; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.5;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.75rem 0 .75rem; }
h3 { font-size: 1rem; margin: 1.75rem 0 .5rem; }
p { margin: .5rem 0; overflow-wrap: anywhere; }
.sub, .note, figcaption { color: var(--muted); font-size: .9rem; }
.notes { background: var(--soft); border-left: 3px solid var(--accent); border-radius: 0 6px 6px 0;
  padding: .6rem 1rem; margin: 1.25rem 0; font-size: .93rem; }
.notes p { margin: .25rem 0; }
.failed, .missing { border-left-color: var(--warn); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(12.5rem, 1fr));
  gap: .75rem; margin: .75rem 0; }
.card { border: 1px solid var(--rule); border-radius: 8px; padding: .7rem .9rem; }
.card b { display: block; font-size: 1.65rem; line-height: 1.25; font-weight: 600;
  font-variant-numeric: tabular-nums; }
.card i { display: block; margin-top: .5rem; font-size: 1.1rem; font-style: normal;
  line-height: 1.3; font-weight: 600; font-variant-numeric: tabular-nums; }
.card span { display: block; font-size: .85rem; color: var(--muted); }
.card .name { color: var(--ink); font-weight: 600; }
.first { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); }
figure { margin: 1.25rem 0 2rem; }
.plot { overflow-x: auto; }
.plot svg { display: block; width: 100%; min-width: 34rem; height: auto; }
.scroll { overflow: auto; width: fit-content; max-width: 100%;
  border: 1px solid var(--rule); border-radius: 8px; }
.tall { max-height: 40rem; }
table { border-collapse: collapse; font-size: .88rem;
  font-variant-numeric: tabular-nums; }
th, td { padding: .32rem .7rem; text-align: left; vertical-align: top; }
td { overflow-wrap: break-word; max-width: 28rem; }
td small { display: block; color: var(--muted); font-size: .82em; }
td.span { max-width: 36rem; white-space: normal; color: var(--warn); }
th { position: sticky; top: 0; background: var(--soft); font-weight: 600;
  vertical-align: bottom;
  box-shadow: inset 0 -1px 0 var(--rule); padding: 0; }
th button { all: unset; cursor: pointer; padding: .4rem .7rem;
  display: block; width: 100%; box-sizing: border-box; }
th button:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
th.num button { text-align: right; }
th[aria-sort=ascending] button::after { content: " \\2191"; }
th[aria-sort=descending] button::after { content: " \\2193"; }
.num { text-align: right; white-space: nowrap; }
th, th.num { white-space: pre; }
tbody tr:nth-child(even) { background: var(--zebra); }
pre { background: var(--soft); border: 1px solid var(--rule); border-radius: 8px;
  padding: .75rem 1rem; overflow-x: auto; font-size: .85rem; line-height: 1.45; }
pre.command { white-space: pre-wrap; overflow-wrap: anywhere; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { font-size: .92em; }
details { margin: .75rem 0; } summary { cursor: pointer; }
a { color: var(--accent); }
@media (max-width: 40rem) { main { padding: 1.25rem 1rem 3rem; } h1 { font-size: 1.4rem; } }
@media print { .scroll { max-height: none !important; overflow: visible; }
  th { position: static; } }
"""

SCRIPT = """
for (const head of document.querySelectorAll("th")) head.addEventListener("click", () => {
  const table = head.closest("table"), body = table.tBodies[0], place = head.cellIndex;
  const up = head.getAttribute("aria-sort") === "descending" || !head.hasAttribute("aria-sort")
    && !head.classList.contains("num");
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const value = row => (row.cells[place] || { dataset: {} }).dataset.v || "";
  const rows = Array.from(body.rows).sort((a, b) => {
    const x = value(a), y = value(b);
    if (x === "" || y === "") return (x === "") - (y === "");
    const order = head.classList.contains("num") ? x - y : x.localeCompare(y);
    return up ? order : -order;
  });
  body.append(...rows);
});
"""
