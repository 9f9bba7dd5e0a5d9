// A button that begins something long says so at once, and cannot be pressed twice.
addEventListener("submit", ({ submitter }) => {
  if (submitter?.dataset.busy) setTimeout(() => {  // after its value was taken into the form
    submitter.disabled = true;
    submitter.textContent = submitter.dataset.busy;
  });
});
// Who goes back finds the page as it was left.
addEventListener("pageshow", ({ persisted }) => persisted && document.querySelector("[data-busy]:disabled") && location.reload());
