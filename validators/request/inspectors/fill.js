({ selector, value }) => {
  const e = document.querySelector(selector);
  if (e instanceof HTMLSelectElement) {
    e.value = value;
    e.dispatchEvent(new Event("input", { bubbles: true }));
    e.dispatchEvent(new Event("change", { bubbles: true }));
    return e.value === value ? "done" : "none";
  }
  e.focus();
  if (typeof e.select === "function") e.select();
  else getSelection().selectAllChildren(e);
  document.execCommand("delete");
  return "type";
}
