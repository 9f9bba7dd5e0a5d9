"""Tables and plots for a terminal, and plots as SVG, or as PNG if matplotlib is installed."""

from collections.abc import Mapping, Sequence
from html import escape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from sanderling.errors import UsageError

Series = Mapping[str, Sequence[tuple[float, float]]]

_MARKS = "*o+x#@%&=~"


def table(rows: Sequence[Sequence[object]], header: Sequence[str]) -> str:
    """Formats a table. Columns with numbers are aligned to the right, others to the left."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(line[k]) for line in [list(header), *cells]) for k in range(len(header))]
    right = [all(isinstance(row[k], int | float) for row in rows) for k in range(len(header))]
    lines = [list(header), ["-" * width for width in widths], *cells]
    return "\n".join(
        "  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(line, widths, right, strict=True)).rstrip()
        for line in lines
    )


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4f}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def plot(series: Series, x_label: str, y_label: str) -> str:
    """Draws a plot with characters. Each series has its own mark; later series cover earlier
    ones."""
    points = [point for line in series.values() for point in line]
    if not points:
        return "(nothing to plot)"
    width, height = 64, 16
    xs, ys = [x for x, _ in points], [y for _, y in points]
    left, right, low, high = min(xs), max(xs), min(ys), max(ys)
    grid = [[" "] * width for _ in range(height)]
    for mark, line in zip(_marks(len(series)), series.values(), strict=True):
        for x, y in line:
            column = round((x - left) / ((right - left) or 1) * (width - 1))
            row = round((high - y) / ((high - low) or 1) * (height - 1))
            grid[row][column] = mark
    lines = [y_label]
    for k, cells in enumerate(grid):
        edge = f"{high - (high - low) * k / (height - 1):9.4g}" if k in (0, height - 1) else " " * 9
        lines.append(f"{edge} |{''.join(cells).rstrip()}")
    lines.append(" " * 10 + "+" + "-" * width)
    lines.append(f"{' ' * 11}{left:<.4g}{f'{x_label}  {right:.4g}'.rjust(width - len(f'{left:<.4g}'))}")
    lines.append("  ".join(f"{mark} {name}" for mark, name in zip(_marks(len(series)), series, strict=True)))
    return "\n".join(lines)


def _marks(count: int) -> str:
    return (_MARKS * (count // len(_MARKS) + 1))[:count]


def require_png(path: Path) -> None:
    """Raises UsageError, before a long experiment, if its plot could not be written."""
    if find_spec("matplotlib") is None:
        raise UsageError("a PNG needs the package matplotlib: install sanderling[lab]")
    if not path.parent.is_dir():
        raise UsageError(f"{path.parent} does not exist")


def save_png(series: Series, x_label: str, y_label: str, path: Path) -> bool:
    """Writes a PNG. Returns False and writes nothing if matplotlib is not installed."""
    try:
        figure = import_module("matplotlib.figure").Figure(figsize=(8, 5))
    except ImportError:
        return False
    axes = figure.add_subplot()
    for name, line in series.items():
        axes.plot([x for x, _ in line], [y for _, y in line], marker="o", label=name)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.legend()
    figure.savefig(path, dpi=120)
    return True


_COLOURS = ("#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#d68910", "#16a085", "#7f5539", "#555555")
# Points are marked where there are few of them.
_MARKED = 40


def save_svg(series: Series, x_label: str, y_label: str, path: Path) -> None:
    """Writes an SVG, which needs no further package. The names of the series stand on the right."""
    points = [point for line in series.values() for point in line] or [(0.0, 0.0)]
    left, right, low, high = (f(p[k] for p in points) for k in (0, 1) for f in (min, max))

    def place(x: float, y: float) -> tuple[float, float]:
        across, up = (x - left) / ((right - left) or 1), (y - low) / ((high - low) or 1)
        return round(60 + 500 * across, 1), round(320 - 290 * up, 1)

    drawn = ['<path d="M60 30V320H560" fill="none" stroke="#888"/>']
    labels = [
        (5, 36, f"{high:.3g}"),
        (5, 324, f"{low:.3g}"),
        (60, 338, f"{left:.4g}"),
        (530, 338, f"{right:.4g}"),
        (260, 338, x_label),
        (5, 20, y_label),
    ]
    for n, (name, line) in enumerate(series.items()):
        colour = _COLOURS[n % len(_COLOURS)]
        places = [place(x, y) for x, y in line]
        route = " ".join(f"{x},{y}" for x, y in places)
        drawn.append(f'<polyline points="{route}" fill="none" stroke="{colour}" stroke-width="2"/>')
        if len(places) <= _MARKED:
            drawn += [f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}"/>' for x, y in places]
        drawn.append(f'<text x="580" y="{40 + 18 * n}" fill="{colour}">{escape(name)}</text>')
    drawn += [f'<text x="{x}" y="{y}" fill="#444">{escape(text)}</text>' for x, y, text in labels]
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 350" font-family="sans-serif" font-size="12">'
    path.write_text(f"{head}{''.join(drawn)}</svg>\n", "utf-8")
