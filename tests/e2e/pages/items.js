// what the scripts of items_*.js share; the page to look at has loaded
const $ = id => document.getElementById(id), all = what => [...document.querySelectorAll(what)];
const cards = () => all("#rows > li");
const set = async (id, value) => {
  const node = $(id);
  if (node.type === "checkbox") node.checked = value; else node.value = value;
  node.dispatchEvent(new Event("input", { bubbles: true }));
  await wait(400);
};
const heads = () => cards().slice(0, 3).map(card => card.querySelector("h2").textContent);
