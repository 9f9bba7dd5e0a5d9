// What a page says now, as a list of blocks: the own text of each element, and the targets of links. Remembers the
// blocks, and says how they differ from those of the call before; `fresh` are the hashes of what came. What changes
// without an event (`restless.js`) says nothing, and neither do a few blocks of which only digits changed.
(ignored) => {
  const COUNTERS = 3; // more of them are a table of numbers
  const SKIPPED = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE"]);
  // Two 32-bit hashes in one number (cyrb53).
  const hash = (text, seed = 0) => {
    let a = 0xdeadbeef ^ seed, b = 0x41c6ce57 ^ seed;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      a = Math.imul(a ^ code, 2654435761);
      b = Math.imul(b ^ code, 1597334677);
    }
    a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
    b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
    return 4294967296 * (2097151 & b) + (a >>> 0);
  };
  const blocks = new Map(); // hash: how often, and the hash without digits
  let whole = 0, count = 0;
  const add = (text) => {
    const one = hash(text), known = blocks.get(one);
    if (known) known[0]++;
    else blocks.set(one, [1, hash(text.replace(/\d+/g, "0"))]);
    whole = hash(`${one}`, whole | 0);
    count++;
  };
  const walk = (within) => {
    for (let node = within.firstElementChild; node; node = node.nextElementSibling) {
      if (SKIPPED.has(node.tagName) || (ignored && node.matches(ignored))) continue;
      if (globalThis.sanderlingRestless?.has(node)) continue;
      let own = "";
      for (let child = node.firstChild; child; child = child.nextSibling)
        if (child.nodeType === Node.TEXT_NODE) own += child.data + " ";
      own = own.replace(/\s+/g, " ").trim();
      if (own) add(own);
      const target = node.tagName === "A" && node.getAttribute("href");
      if (target) add(`-> ${node.href}`);
      if (node.shadowRoot) walk(node.shadowRoot);
      walk(node);
    }
  };
  if (document.body) walk(document.body);
  const before = globalThis.sanderlingBlocks;
  globalThis.sanderlingBlocks = blocks;
  let gained = 0, lost = 0, fresh = [];
  if (!before) fresh = [...blocks.keys()];
  else {
    // A counter that moves on is no loss: the same block with other digits is there.
    const renumbered = new Map();
    const counters = new Set(); // numbers in the element itself, such as "Like (3)": they say nothing new
    const others = new Set(); // those elsewhere, such as "Last action at 12:03"
    let moved = 0;
    for (const [one, [times, digitless]] of blocks) {
      const more = times - (before.get(one)?.[0] ?? 0);
      if (more > 0) {
        gained += more;
        fresh.push(one);
        renumbered.set(digitless, (renumbered.get(digitless) ?? 0) + more);
      }
    }
    for (const [one, [times, digitless]] of before) {
      let fewer = times - (blocks.get(one)?.[0] ?? 0);
      if (fewer <= 0) continue;
      const own = globalThis.sanderlingOwn?.has(one);
      const excused = Math.min(fewer, renumbered.get(digitless) ?? 0);
      renumbered.set(digitless, (renumbered.get(digitless) ?? 0) - excused);
      if (excused) (own ? counters : others).add(digitless);
      if (!own) moved += excused;
      if (!own) lost += fewer - excused;
      gained -= excused;
    }
    if (moved <= COUNTERS) for (const each of others) counters.add(each);
    fresh = fresh.filter((one) => !counters.has(blocks.get(one)[1]));
  }
  globalThis.sanderlingHash = hash;
  return { hash: `${whole}-${count}`, gained, lost, fresh, url: location.href };
}
