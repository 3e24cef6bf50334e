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
