// A button that starts a long action shows that at once, and cannot be pressed twice.
addEventListener("submit", ({ submitter }) => {
  if (submitter?.dataset.busy) setTimeout(() => {  // after the form has taken its value
    submitter.disabled = true;
    submitter.textContent = submitter.dataset.busy;
  });
});
// After "back", the browser shows the page with the disabled button, so it is loaded again.
addEventListener("pageshow", ({ persisted }) => persisted && document.querySelector("[data-busy]:disabled") && location.reload());
// Details that are open stay open when their part of the page renews itself.
const open = new Set();
addEventListener("toggle", ({ target }) => target.id && (target.open ? open.add(target.id) : open.delete(target.id)), true);
addEventListener("htmx:load", ({ detail }) => {
  for (const each of detail.elt.querySelectorAll("details[id]")) each.open ||= open.has(each.id);
});
// On a small screen, the row of tabs is scrolled to the current one.
for (const each of document.querySelectorAll(".tabs [aria-current]")) {
  const row = each.closest("ul");
  row.scrollLeft = each.offsetLeft - (row.clientWidth - each.offsetWidth) / 2;
}
