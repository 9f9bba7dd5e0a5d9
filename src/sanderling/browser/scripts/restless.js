// Begins to watch which elements change while nothing is triggered; or ends it, and says which they are. From then on
// what they say does not count. `known` are those that were found before the page was loaded again.
(begins, known, most) => {
  const restless = globalThis.sanderlingRestless;
  if (!restless) return [];
  const mark = (element) => {
    restless.add(element);
    for (const each of element.querySelectorAll("*")) restless.add(each);
  };
  for (const selector of known) for (const element of document.querySelectorAll(selector)) mark(element);
  if (begins) {
    globalThis.sanderlingChanged = new Set();
    return [];
  }
  const path = (element) => {
    const parts = [];
    for (let at = element; at && at !== document.body; at = at.parentElement) {
      const same = [...(at.parentElement?.children ?? [])].filter((each) => each.tagName === at.tagName);
      parts.unshift(`${CSS.escape(at.tagName.toLowerCase())}:nth-of-type(${same.indexOf(at) + 1})`);
    }
    return ["body", ...parts].join(">");
  };
  const found = [];
  for (const element of globalThis.sanderlingChanged ?? []) {
    // A large part that changes is the page itself, which is late.
    if (!element.isConnected || element === document.body || element.textContent.length > most) continue;
    mark(element);
    found.push(path(element));
  }
  globalThis.sanderlingChanged = undefined;
  return found;
}
