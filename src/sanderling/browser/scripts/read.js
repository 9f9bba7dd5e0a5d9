// The DOM as HTML, cut at a number of characters. What is in open shadow roots becomes part of it.
(limit) => {
  const root = document.documentElement;
  if (!root) return { html: "", cut: false, base: "" };
  const roots = [];
  const collect = (within) => {
    for (const element of within.querySelectorAll("*"))
      if (element.shadowRoot) {
        roots.push(element.shadowRoot);
        collect(element.shadowRoot);
      }
  };
  collect(document);
  let html = root.outerHTML;
  if (roots.length) {
    const whole = new DOMParser().parseFromString(document.documentElement.getHTML({ shadowRoots: roots }), "text/html");
    const flatten = (within) => {
      for (const template of within.querySelectorAll("template[shadowrootmode]")) {
        flatten(template.content);
        template.replaceWith(template.content);
      }
    };
    flatten(whole);
    for (const { name, value } of root.attributes) whole.documentElement.setAttribute(name, value);
    html = whole.documentElement.outerHTML;
  }
  // What is only for browsers without scripts is not on the page.
  html = "<!DOCTYPE html>" + html.replace(/<noscript\b[^>]*>[^]*?<\/noscript>/gi, "");
  // Links of a page that changed its address are relative to the new one.
  const base = document.querySelector("base[href]") ? "" : document.baseURI.split("#")[0];
  return { html: html.slice(0, limit), cut: html.length > limit, base };
}
