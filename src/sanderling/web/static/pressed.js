// A button that starts a long action shows that at once, and cannot be pressed twice.
addEventListener("submit", ({ submitter }) => {
  if (submitter?.dataset.busy) setTimeout(() => {  // after the form has taken its value
    submitter.disabled = true;
    submitter.textContent = submitter.dataset.busy;
  });
});
// After "back", the browser shows the page with the disabled button, so it is loaded again.
addEventListener("pageshow", ({ persisted }) => persisted && document.querySelector("[data-busy]:disabled") && location.reload());
