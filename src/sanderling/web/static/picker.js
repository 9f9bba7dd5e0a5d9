// Takes the selector of the element that was clicked in the copy of the page.
const frame = document.querySelector("#copy");
const field = document.querySelector("#select");
if (frame && field) {
  const show = () => frame.contentWindow.postMessage({ watched: field.value.trim().split("\n").filter(Boolean).join(",") }, "*");
  addEventListener("message", ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    if (typeof data?.picked === "string") {
      field.value = data.picked.slice(0, 500);
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    show();
  });
  field.addEventListener("input", show);
}
