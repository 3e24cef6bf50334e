const seen = { before: document.body.innerText, heads: [] };
for (let k = 0; k < %d; k += 1) {
  seen.heads.push($("count").textContent);
  const [one, two] = texts();
  press(%s);
}
press("k"); press("u");
seen.undone = $("count").textContent;
%s
seen.csv = await exported();
seen.said = $("next").innerText;
seen.title = document.title;
return seen;
