// The elements on which an event may show more of the page. `heard` tells about elements with listeners of their own:
// for each of `elements` the kind of event and where its handler is defined. `hints` are events and selectors that the
// site names, with the number of their group: of those in a group, one is enough. With `only`, nothing else is found.
(function (heard, hints, only, ...elements) {
  const NEVER = /\b(buy|order|pay|check ?out|purchase|add to (cart|basket)|delete|remove|erase|destroy|log ?(out|off|in)|sign ?(out|in|up)|register|send|submit|post|publish|reply|accept|agree|allow|consent|subscribe|unsubscribe|follow|like|vote|rate|report|flag|share|print|download|upload|save|edit|contact|book|donate|install|call|e-?mail|kaufen|bestellen|löschen|abmelden|anmelden|senden|akzeptieren|zustimmen|acheter|commander|supprimer|envoyer|accepter|comprar|eliminar|borrar|enviar|aceptar)\b/i;
  const GROWS = /\b(more|load|expand|all|older|mehr|alle|plus|más|еще|ещё|更多)\b|更多|もっと/i;
  const ROLES = "button,[role=button],[role=tab],[role=menuitem],[role=link],[role=treeitem],summary,[onclick],[ondblclick],[onmouseover],a:not([href]),a[href^='#'],a[href^='javascript:'],[aria-expanded],[aria-controls],[data-toggle],[data-bs-toggle]";
  const OTHER = "li,div,span,td,tr,th,img,svg,p,h1,h2,h3,h4,h5,h6,dt,dd,label,section";
  // The document, and what components keep in open shadow roots.
  const roots = [document];
  for (const root of roots) for (const element of root.querySelectorAll("*")) if (element.shadowRoot) roots.push(element.shadowRoot);
  const all = (selector) => roots.flatMap((root) => [...root.querySelectorAll(selector)]);
  const listeners = new Map();
  let delegated = false;
  elements.forEach((element, index) => {
    const [event, handler] = heard[index];
    if (!(element instanceof Element) || element === document.documentElement || element === document.body) {
      delegated = true;
      return;
    }
    if (element.childElementCount > 0 && element.querySelector(OTHER + ",button,a")) delegated = true;
    const known = listeners.get(element) ?? [];
    known.push([event, handler]);
    listeners.set(element, known);
  });
  // In a shadow root it begins with that of its host: `#app>my-list >>> ul>li`.
  const selector = (element) => {
    const parts = [], root = element.getRootNode(), host = root.host ? `${selector(root.host)} >>> ` : "";
    for (let at = element; at && at !== document.body && at !== document.documentElement; at = at.parentElement) {
      if (at.id && root.querySelectorAll(`#${CSS.escape(at.id)}`).length === 1) {
        parts.unshift(`#${CSS.escape(at.id)}`);
        return host + parts.join(">");
      }
      const same = [...(at.parentNode?.children ?? [])].filter((each) => each.tagName === at.tagName);
      const tag = CSS.escape(at.tagName.toLowerCase());
      parts.unshift(same.length > 1 ? `${tag}:nth-of-type(${same.indexOf(at) + 1})` : tag);
    }
    return host ? host + parts.join(">") : ["body", ...parts].join(">");
  };
  const text = (element) => (element.innerText ?? element.textContent ?? "").replace(/\s+/g, " ").trim();
  const says = (element) => `${text(element)} ${element.getAttribute("aria-label") ?? ""} ${element.title ?? ""}`;
  const allowed = (element) => {
    if (element.closest("form,[contenteditable=true],[download],a[target=_blank],iframe,object,video,audio")) return false;
    if (/^(INPUT|TEXTAREA|SELECT|OPTION|LABEL|FORM|HTML|BODY)$/.test(element.tagName)) return false;
    if (element.disabled || element.getAttribute("aria-disabled") === "true") return false;
    const link = element.closest("a[href]");
    if (link) {
      const href = link.getAttribute("href");
      if (!/^(#|javascript:)/i.test(href)) return false;
      if (/^#[/!]./.test(href)) return false; // a route, which is a page
      // A place on this page.
      const name = href.startsWith("#") ? decodeURIComponent(href.slice(1)) : "";
      if (name && document.getElementById(name) && !listeners.has(link) && !link.matches("[role],[data-toggle]")) return false;
      if (href === "#" && !listeners.has(link) && !delegated && !link.matches("[role],[onclick]")) return false;
    }
    const words = says(element);
    if (words.length > 300 || NEVER.test(words.slice(0, 120))) return false;
    return element.checkVisibility?.({ checkVisibilityCSS: true }) ?? true;
  };
  const kind = (element) => {
    const data = [...element.attributes]
      .filter((each) => /^(data-(?!v-)|aria-controls|href|onclick|ondblclick|onmouseover|value|role)/.test(each.name))
      .map((each) => `${each.name}=${each.value}`);
    return [element.tagName, [...element.classList].sort().join("."), text(element).slice(0, 40), ...data].join("|");
  };
  const found = [];
  const seen = new Set();
  const groups = new Set();
  const take = (element, event, handlers, hinted = false, group = 0) => {
    const once = `${event} ${selector(element)}`;
    if (seen.has(once) || !allowed(element)) return;
    seen.add(once);
    if (groups.has(group)) return;
    if (group) groups.add(group);
    const grows = GROWS.test(says(element).slice(0, 80));
    found.push({ event, selector: selector(element), key: group ? `group ${group}` : `${event}|${handlers}|${kind(element)}`, grows, hinted, text: text(element).slice(0, 80) });
  };
  const EVENTS = { click: "click", mousedown: "click", pointerdown: "click", mouseup: "click", dblclick: "dblclick", mouseover: "mouseover", mouseenter: "mouseover", pointerenter: "mouseover" };
  const handlers = (element) => (listeners.get(element) ?? []).map(([, handler]) => handler).sort().join(",");
  for (const [event, selector, group] of hints)
    for (const element of [...document.querySelectorAll(selector)].slice(0, 100)) take(element, event, handlers(element), true, group);
  if (only) return found;
  for (const [element, known] of listeners)
    for (const event of new Set(known.map(([name]) => EVENTS[name])))
      if (event) take(element, event, handlers(element));
  for (const element of all(ROLES)) {
    const event = element.hasAttribute("ondblclick") ? "dblclick" : element.hasAttribute("onmouseover") && !element.hasAttribute("onclick") ? "mouseover" : "click";
    take(element, event, handlers(element));
    if (found.length > 1000) break;
  }
  if (delegated) {
    let looked = 0;
    for (const element of all(OTHER)) {
      if (++looked > 3000 || found.length > 1000) break;
      if (getComputedStyle(element).cursor !== "pointer") continue;
      if (element.parentElement && getComputedStyle(element.parentElement).cursor === "pointer") continue;
      take(element, "click", "delegated");
    }
  }
  // What only opens more of the same comes last: other events would have to be repeated on top of it.
  found.sort((one, other) => other.hinted - one.hinted || one.grows - other.grows);
  const page = document.scrollingElement;
  const scrolls = page && page.scrollHeight > innerHeight + 10;
  const boxes = [...document.querySelectorAll("div,ul,ol,main,section,tbody")].slice(0, 3000).filter((box) => box.scrollHeight > box.clientHeight + 10 && /auto|scroll/.test(getComputedStyle(box).overflowY));
  if (scrolls || boxes.length) found.push({ event: "scroll", selector: "", key: "scroll", grows: true, text: "" });
  return found;
})
