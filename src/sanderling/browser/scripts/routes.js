// The links that lead to another fragment of this document and look like routes of an application.
() => {
  const here = location.href.split("#")[0], found = new Map();
  for (const link of document.querySelectorAll("a[href*='#/'],a[href*='#!']")) {
    const [document, ...rest] = link.href.split("#"), fragment = rest.join("#");
    if (document === here && /^[/!]./.test(fragment) && !found.has(fragment))
      found.set(fragment, (link.textContent ?? "").replace(/\s+/g, " ").trim().slice(0, 100));
    if (found.size >= 5000) break;
  }
  return [...found];
}
