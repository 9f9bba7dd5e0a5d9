"""What keeps people from using a page, found in the browser's own account of it: no names, faint text, too wide."""

from typing import Any

from tests.browser.chromium import Browser

# The least contrast of text (WCAG 2.2, 1.4.3), and from where on it is large and may have less.
_CONTRAST = """(() => {
  const luminance = ([r, g, b]) => [r, g, b].map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const canvas = document.createElement('canvas'); canvas.width = canvas.height = 1;
  const draw = canvas.getContext('2d', {willReadFrequently: true});
  const parse = colour => { draw.clearRect(0, 0, 1, 1); draw.fillStyle = colour; draw.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = draw.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255] };
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3]));
  const ground = e => { const layers = [];
    for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3]) layers.push(c); if (c[3] === 1) break }
    return layers.reverse().reduce((below, top) => over(top, below), parse('Canvas').slice(0, 3)) };
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement, style = getComputedStyle(e);
    if (!walker.currentNode.data.trim() || !e.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
    if (e.closest('svg, .unseen, .skip, [aria-hidden=true], :disabled, option, script, style')) continue;
    const below = ground(e), text = over(parse(style.color), below);
    const [light, dark] = [luminance(text), luminance(below)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05), size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    if (ratio < least - 0.01) found.add(`${ratio.toFixed(2)} <${e.tagName.toLowerCase()} class="${e.className}"> ${walker.currentNode.data.trim().slice(0, 40)}`);
  }
  return [...found];
})()"""
_ONCE = """(() => { const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
  return ids.filter((id, i) => ids.indexOf(id) !== i) })()"""
_NAMED = {
    "button", "checkbox", "combobox", "dialog", "heading", "image", "link", "listbox", "menuitem", "meter", "option",
    "progressbar", "radio", "searchbox", "slider", "spinbutton", "switch", "tab", "textbox",
}  # fmt: skip


def findings(browser: Browser) -> list[str]:
    """Everything that is wrong with the page as it is shown now."""
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    shown = [each for each in nodes if not each.get("ignored")]
    roles = [_value(each, "role") for each in shown]
    found = [f"a {_value(each, 'role')} without a name" for each in shown
             if _value(each, "role") in _NAMED and not _value(each, "name").strip()]  # fmt: skip
    found += [f"no {role}" for role in ("main", "banner") if role not in roles]
    found += [f"faint: {each}" for each in browser.run(_CONTRAST)]
    found += [f"two elements with the id {each}" for each in browser.run(_ONCE)]
    wide, room = browser.run("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    if wide > room:
        found.append(f"{wide} pixels wide where there are {room}")
    if not browser.run("document.documentElement.lang && document.title"):
        found.append("no language or no title")
    return found


def _value(node: dict[str, Any], key: str) -> str:
    return str(node.get(key, {}).get("value", ""))
