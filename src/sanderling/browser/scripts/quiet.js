// Runs in a world of its own, where the page cannot see it: when the text or the elements last changed.
(() => {
  let last = performance.now();
  const observer = new MutationObserver(() => (last = performance.now()));
  observer.observe(document, { childList: true, characterData: true, subtree: true });
  globalThis.sanderlingQuiet = () => performance.now() - last;
})();
