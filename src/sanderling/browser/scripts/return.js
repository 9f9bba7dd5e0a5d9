// Brings an application back to the address that it had before an event. `added` says whether the event made an entry of
// the history; else it replaced one. The answer is whether the page is there again.
async (before, added, patience) => {
  if (location.href === before) return true;
  if (added) history.back();
  else {
    history.replaceState(null, "", before);
    dispatchEvent(new PopStateEvent("popstate", { state: null }));
  }
  const until = performance.now() + patience;
  while (location.href !== before && performance.now() < until) await new Promise((done) => setTimeout(done, 5));
  await new Promise((done) => setTimeout(() => setTimeout(done, 20), 0));
  return location.href === before;
}
