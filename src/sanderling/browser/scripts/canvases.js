// Takes a picture of each canvas, for `read.js`; returns whether all show what they showed at the last call. An
// animation is another picture at each visit, so what does not come to rest is left out.
(most, mostOfAll) => {
  const drawn = (globalThis.sanderlingDrawn ??= new WeakMap());
  let still = true, room = mostOfAll;
  const look = (within) => {
    for (const element of within.querySelectorAll("*")) {
      if (element.shadowRoot) look(element.shadowRoot);
      if (!(element instanceof HTMLCanvasElement) || !element.width || !element.height) continue;
      let picture = "";
      try {
        const empty = Object.assign(document.createElement("canvas"), { width: element.width, height: element.height });
        picture = element.toDataURL("image/webp", 0.8);
        if (picture === empty.toDataURL("image/webp", 0.8) || picture.length > Math.min(most, room)) picture = "";
      } catch {
        continue; // it shows what is of another origin
      }
      room -= picture.length;
      const rests = drawn.get(element)?.picture === picture;
      drawn.set(element, { picture, still: rests && picture !== "" });
      still &&= rests;
    }
  };
  look(document);
  return still;
}
