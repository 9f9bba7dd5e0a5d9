// Reads a page while the fields without a label carry the text that people see beside them: in front of it in the
// same row or above it, behind it for radio buttons and checkboxes. The page is left as it was.
(read) => {
  const NAME = "data-sanderling-label", MOST_FIELDS = 300, MOST_TEXTS = 5000, FAR = 300, HIGH = 60, SLACK = 3, LONGEST = 100;
  const CONTROLS = "input:not([type=hidden]), select, textarea, button";
  for (const element of document.querySelectorAll(`[${NAME}]`)) element.removeAttribute(NAME); // only we write it
  const boxOf = (thing) => thing.getBoundingClientRect();
  const isSeen = (box) => box.width > 1 && box.height > 1;
  const isLabelled = (field) =>
    [...(field.labels ?? [])].some((label) => label.textContent.trim()) ||
    ["aria-label", "placeholder", "title"].some((name) => field.getAttribute(name)?.trim());
  const isField = (field) => field.matches("select, textarea") || !/^(submit|image|button|reset)$/.test(field.type);
  const controls = [...document.querySelectorAll(CONTROLS)].slice(0, MOST_FIELDS)
    .map((field) => ({ field, box: boxOf(field) })).filter(({ box }) => isSeen(box));
  const wanted = controls.filter(({ field }) => field.form && isField(field) && !isLabelled(field));

  // All of what a block says, if no field is in it: a label may consist of several elements.
  const blockOf = (node) => {
    let block = node.parentElement;
    while (block.parentElement && getComputedStyle(block).display.startsWith("inline")) block = block.parentElement;
    return block.querySelector(CONTROLS) ? node : block;
  };
  const textsOf = () => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = new Map();
    for (let count = 0; count < MOST_TEXTS && walker.nextNode(); ) {
      const node = walker.currentNode, parent = node.parentElement;
      if (!node.data.trim() || parent.closest("option, button, textarea, script, style, noscript")) continue;
      if (parent.closest("label")?.control) continue; // the label of another field
      count++;
      if (!parent.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      const block = blockOf(node);
      if (found.has(block)) continue;
      const range = document.createRange();
      range.selectNodeContents(block);
      const box = boxOf(range);
      if (isSeen(box)) found.set(block, { text: block.textContent.replace(/\s+/g, " ").trim(), box });
    }
    return [...found.values()];
  };
  const overlap = (a, b, from, to) => Math.min(a[to], b[to]) - Math.max(a[from], b[from]) > 0;
  // How far something is from a field in one direction, or Infinity if it does not stand there.
  const within = (gap, most) => (gap >= -SLACK && gap <= most ? Math.max(0, gap) : Infinity);
  const before = (box, field) => (overlap(box, field, "top", "bottom") ? within(field.left - box.right, FAR) : Infinity);
  const behind = (box, field) => (overlap(box, field, "top", "bottom") ? within(box.left - field.right, FAR) : Infinity);
  const above = (box, field) => (overlap(box, field, "left", "right") ? within(field.top - box.bottom, HIGH) : Infinity);
  // Labels above their fields begin where these begin. A heading above a table of fields does not.
  const closeAbove = (box, field) =>
    Math.abs(box.left - field.left) < 9 && field.top - box.bottom < field.height ? above(box, field) : Infinity;
  const nearest = (things, far) =>
    things.reduce((best, thing) => (far(thing) < best.far ? { far: far(thing), thing } : best), { far: Infinity });

  const marked = [];
  const texts = wanted.length && document.body ? textsOf() : [];
  for (const { field, box } of wanted) {
    const others = controls.filter((each) => each.field !== field);
    for (const direction of /^(radio|checkbox)$/.test(field.type) ? [behind] : [closeAbove, before, above]) {
      const far = (thing) => direction(thing.box, box);
      const label = nearest(texts, far);
      // What stands on the other side of another field belongs to that one.
      if (!label.thing || nearest(others, far).far < label.far) continue;
      marked.push([field, label.thing.text.slice(0, LONGEST)]);
      break;
    }
  }
  for (const [field, text] of marked) field.setAttribute(NAME, text);
  try {
    return read();
  } finally {
    for (const [field] of marked) field.removeAttribute(NAME);
  }
}
