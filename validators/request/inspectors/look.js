({ selector }) => {
  const visible = (e) => e.getClientRects().length > 0 && getComputedStyle(e).visibility === "visible";
  const all = selector === "" ? [document.body].filter(Boolean) : [...document.querySelectorAll(selector)];
  const seen = all.filter(visible);
  const [entry] = performance.getEntriesByType("navigation");
  return {
    count: all.length,
    visible: seen.length,
    text: seen.map((e) => ("value" in e && typeof e.value === "string" && e.value) || e.innerText || "").join("\n").slice(0, 200000),
    title: document.title.slice(0, 1000),
    status: (entry && entry.responseStatus) || 0,
    ready: document.readyState === "complete",
    at: location.href.slice(0, 2000),
  };
}
