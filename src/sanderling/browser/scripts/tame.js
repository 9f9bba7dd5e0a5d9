// Runs in every document before its own scripts: the same page shows the same content in every visit, and nothing opens.
(() => {
  // The sequence begins anew with each document.
  let state = 0x2545f491;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  Math.random = () => next() / 4294967296;
  if (globalThis.crypto) {
    crypto.getRandomValues = (array) => {
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      for (let i = 0; i < bytes.length; i++) bytes[i] = next() >>> 7;
      return array;
    };
    crypto.randomUUID = () => {
      const hex = [next(), next(), next(), next()].map((n) => n.toString(16).padStart(8, "0")).join("");
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
    };
  }
  // The clock begins at the last midnight and runs on: "today" is right, and "three minutes ago" is the same in every
  // visit of a day.
  const Real = Date, DAY = 86400000;
  const started = Real.now(), behind = started % DAY;
  const now = () => Real.now() - behind;
  globalThis.Date = new Proxy(Real, {
    construct: (target, given, self) => Reflect.construct(target, given.length ? given : [now()], self),
    apply: () => new Real(now()).toString(),
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
  });
  Real.prototype.constructor = globalThis.Date;
  if (typeof window === "undefined") return;
  window.alert = window.print = () => undefined;
  window.confirm = () => false;
  window.prompt = window.open = () => null;
  // Without these, pages do what they do in browsers that do not have them.
  delete Navigator.prototype.serviceWorker;
  delete window.RTCPeerConnection;
  delete window.webkitRTCPeerConnection;
  delete window.SharedWorker;
})();
