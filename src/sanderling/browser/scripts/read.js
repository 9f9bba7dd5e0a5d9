// The DOM as HTML, cut at a number of characters. What is in open shadow roots becomes part of it, and so does what
// scripts put into style sheets and drew on canvases (`canvases.js`), which is in no element.
(limit) => {
  const root = document.documentElement;
  if (!root) return { html: "", cut: false, base: "" };
  const roots = [], marked = [], drawn = globalThis.sanderlingDrawn;
  const rules = (sheet) => {
    try {
      return Array.from(sheet.cssRules, (rule) => rule.cssText).join("\n").replaceAll("</", "<\\/");
    } catch {
      return ""; // of another origin
    }
  };
  const mark = (element, attribute, text) => {
    if (!text) return;
    element.setAttribute("data-sanderling", marked.length);
    marked.push([element, attribute + ">" + text]);
  };
  const collect = (within) => {
    for (const element of within.querySelectorAll("*"))
      if (element.shadowRoot) {
        roots.push(element.shadowRoot);
        collect(element.shadowRoot);
      }
    for (const style of within.querySelectorAll("style"))
      if (style.sheet?.cssRules.length && !style.textContent.trim()) mark(style, "", rules(style.sheet));
    if (drawn)
      for (const canvas of within.querySelectorAll("canvas"))
        if (drawn.get(canvas)?.still) mark(canvas, ` data-sanderling-picture="${drawn.get(canvas).picture}"`, " ");
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
  marked.forEach(([element]) => element.removeAttribute("data-sanderling"));
  if (marked.length) html = html.replace(/ data-sanderling="(\d+)">/g, (found, number) => marked[number]?.[1] ?? found);
  const adopted = document.adoptedStyleSheets.map(rules).join("\n").trim();
  if (adopted) html = html.replace("</head>", () => `<style>${adopted}</style></head>`);
  // What is only for browsers without scripts is not on the page.
  html = "<!DOCTYPE html>" + html.replace(/<noscript\b[^>]*>[^]*?<\/noscript>/gi, "");
  // Links of a page that changed its address are relative to the new one.
  const base = document.querySelector("base[href]") ? "" : document.baseURI.split("#")[0];
  return { html: html.slice(0, limit), cut: html.length > limit, base };
}
