// Runs in a world of its own, where the page cannot see it: when the text or the elements last changed. Elements that
// change without an event, such as a clock, do not count when they are known (`restless.js`).
(() => {
  let last = performance.now();
  globalThis.sanderlingRestless = new WeakSet();
  const observer = new MutationObserver((records) => {
    const restless = globalThis.sanderlingRestless, changed = globalThis.sanderlingChanged;
    for (const { target, removedNodes, type } of records) {
      const element = type === "characterData" ? target.parentElement : target;
      if (element && restless.has(element)) continue;
      last = performance.now();
      if (!changed) return;
      // What is only added is more of the page.
      if (element && (type === "characterData" || removedNodes.length)) changed.add(element);
    }
  });
  observer.observe(document, { childList: true, characterData: true, subtree: true });
  globalThis.sanderlingQuiet = () => performance.now() - last;
})();
