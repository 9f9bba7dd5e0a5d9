// Runs in the copy of a page. Marks the element under the pointer, and tells the dashboard a
// selector of the one that is clicked.
(() => {
  const style = document.createElement("style");
  style.textContent = "[data-sanderling-over]{outline:3px solid #0b6477!important;outline-offset:2px!important;cursor:crosshair!important}" +
    "[data-sanderling-watched]{outline:3px solid #2c6e49!important;outline-offset:2px!important;background:#e4f1e7!important;color:#1c2a31!important}";
  document.head.append(style);
  const only = (selector, element) => {
    try { const found = document.querySelectorAll(selector); return found.length === 1 && found[0] === element; } catch { return false; }
  };
  const plain = (name) => /^[A-Za-z_][\w-]*$/.test(name) && !/\d{4}|[0-9a-f]{8}/i.test(name);
  const attributes = ["itemprop", "data-testid", "data-test", "name", "property"];
  const near = (element) => {
    const tag = element.localName, classes = [...element.classList].filter(plain);
    const found = element.id && plain(element.id) ? [`#${element.id}`] : [];
    found.push(...classes.map((each) => `.${each}`), ...classes.map((each) => `${tag}.${each}`));
    if (classes.length > 1) found.push("." + classes.join("."));
    for (const each of attributes) if (/^[\w-]+$/.test(element.getAttribute(each) ?? "")) found.push(`[${each}="${element.getAttribute(each)}"]`);
    found.push(tag);
    return found.find((each) => only(each, element));
  };
  const selector = (element) => {
    const found = near(element);
    if (found || element === document.body || !element.parentElement) return found ?? element.localName;
    const alike = [...element.parentElement.children].filter((each) => each.localName === element.localName);
    const place = alike.length > 1 ? `:nth-of-type(${alike.indexOf(element) + 1})` : "";
    return `${selector(element.parentElement)} > ${element.localName}${place}`;
  };
  const mark = (name, elements) => {
    for (const each of document.querySelectorAll(`[${name}]`)) each.removeAttribute(name);
    for (const each of elements) each.setAttribute(name, "");
  };
  const watched = (text) => { try { mark("data-sanderling-watched", text ? document.querySelectorAll(text) : []); } catch { /* half a selector */ } };
  addEventListener("mouseover", ({ target }) => target instanceof Element && mark("data-sanderling-over", [target]), true);
  addEventListener("click", (event) => {
    event.preventDefault();
    event.stopPropagation();
    mark("data-sanderling-over", []);
    mark("data-sanderling-watched", []);
    parent.postMessage({ picked: selector(event.target) }, "*");
  }, true);
  addEventListener("submit", (event) => event.preventDefault(), true);
  addEventListener("message", ({ source, data }) => source === parent && typeof data?.watched === "string" && watched(data.watched));
  parent.postMessage({ ready: true }, "*");
})();
