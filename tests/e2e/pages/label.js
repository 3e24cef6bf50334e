// what the scripts of label_*.js share; the page to look at has loaded
const $ = id => document.getElementById(id), all = what => [...document.querySelectorAll(what)];
const tell = (node, event) => node.dispatchEvent(event);
const press = key => tell(document.body, new KeyboardEvent("keydown", { key, bubbles: true }));
const texts = () => all("#unit > div:not(.source) .text").map(node => node.textContent);
let blob;
URL.createObjectURL = made => { blob = made; return "#"; };
const exported = async () => { $("export").click(); return await blob.text(); };
const set = (id, value) => {
  $(id).value = value;
  tell($(id), new Event("change", { bubbles: true }));
};
