// The fragments of this document that links lead to and that may be routes of an application, with the texts of the
// links. A fragment that names an element is a place on this page, and so is what follows a route (`#/page?id=place`).
() => {
  const here = location.href.split("#")[0], found = new Map();
  const names = (fragment) => {
    let name = fragment;
    try { name = decodeURIComponent(fragment); } catch {}
    return document.getElementById(fragment) || document.getElementById(name) || document.getElementsByName(name).length;
  };
  const roots = [document];
  for (const root of roots) for (const element of root.querySelectorAll("*")) if (element.shadowRoot) roots.push(element.shadowRoot);
  for (const link of roots.flatMap((root) => [...root.querySelectorAll("a[href*='#']")])) {
    const [document, ...rest] = link.href.split("#");
    if (document !== here || link.closest("[contenteditable=true]")) continue;
    const fragment = rest.join("#").replace(/(?<=[/!].*)#.*$/, "").replace(/\?id=[^&]*$/, "");
    if (fragment.length < 2 || /^(top|~|:~:)/.test(fragment)) continue;
    if (!/^[/!]/.test(fragment) && names(fragment)) continue;
    if (!found.has(fragment)) found.set(fragment, (link.textContent ?? "").replace(/\s+/g, " ").trim().slice(0, 100));
    if (found.size >= 5000) break;
  }
  return [...found];
}
