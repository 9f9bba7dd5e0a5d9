// Where the page is after an event: its address as soon as it is another one, and how many entries its history has.
async (before, patience) => {
  const until = performance.now() + patience;
  while (location.href === before && performance.now() < until) await new Promise((done) => setTimeout(done, 5));
  return [location.href, history.length];
}
