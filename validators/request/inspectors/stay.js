window.open = () => null;
const stay = (event) => {
  const opener = event.target.closest?.("[target],[formtarget]");
  opener?.removeAttribute("target");
  opener?.removeAttribute("formtarget");
};
addEventListener("click", stay, true);
addEventListener("submit", stay, true);
