// Makes one event happen on an element, as a person would. Remembers the text of the element, which may change with it.
// The answer comes when the page has had time to do something about it, however busy the machine is.
(event, selector) => {
  const soon = () => new Promise((done) => setTimeout(() => setTimeout(() => done(true), 20), 0));
  if (event === "scroll") {
    const boxes = [...document.querySelectorAll("div,ul,ol,main,section,tbody")].slice(0, 3000);
    for (const box of [document.scrollingElement, ...boxes])
      if (box && box.scrollHeight > box.clientHeight + 10) box.scrollTop = box.scrollHeight;
    window.dispatchEvent(new Event("scroll"));
    globalThis.sanderlingOwn = undefined;
    return soon();
  }
  let element = null;
  try {
    element = selector.split(" >>> ").reduce((found, each) => (found === document ? found : found?.shadowRoot)?.querySelector(each), document);
  } catch {
    return false;
  }
  if (!element || !element.isConnected || element.disabled) return false;
  const hash = globalThis.sanderlingHash;
  const own = [element, ...element.querySelectorAll("*")].slice(0, 50).map((each) =>
    [...each.childNodes].filter((child) => child.nodeType === Node.TEXT_NODE).map((child) => child.data + " ").join("").replace(/\s+/g, " ").trim());
  globalThis.sanderlingOwn = hash ? new Set(own.filter(Boolean).map((text) => hash(text))) : undefined;
  element.scrollIntoView?.({ block: "center", behavior: "instant" });
  const box = element.getBoundingClientRect();
  const where = { bubbles: true, cancelable: true, composed: true, view: window, clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, button: 0 };
  const tell = (name, Type) => element.dispatchEvent(new Type(name, where));
  tell("pointerover", PointerEvent);
  tell("mouseover", MouseEvent);
  element.dispatchEvent(new MouseEvent("mouseenter", { ...where, bubbles: false }));
  if (event === "mouseover") return soon();
  for (let times = event === "dblclick" ? 2 : 1; times; times--) {
    tell("pointerdown", PointerEvent);
    tell("mousedown", MouseEvent);
    tell("pointerup", PointerEvent);
    tell("mouseup", MouseEvent);
    if (element.click) element.click();
    else tell("click", MouseEvent);
  }
  if (event === "dblclick") tell("dblclick", MouseEvent);
  return soon();
}
