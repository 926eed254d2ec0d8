"""The few pieces of markup that the page is made of; whatever comes from data goes through `escaped`."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from rankproof.reports.text import printable

_CODE = re.compile(r"`([^`]+)`")
_STYLE = re.compile(r"<style>(.*?)</style>\n?", re.DOTALL)


def escaped(text: str) -> str:
    """The text so that nothing in it is taken for markup, in an element and in an attribute alike."""
    # Two code points that are no control characters are forbidden in documents all the same.
    return html.escape(printable(text).translate({0xFFFE: "�", 0xFFFF: "�"}))


def worded(text: str) -> str:
    """A sentence, with what stands between backticks as code."""
    return _CODE.sub(r"<code>\1</code>", escaped(text))


def capped(text: str, most: int) -> str:
    """The words on one line, as many characters as may be."""
    words = " ".join(text.split())
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"


def chart(svg: str, scrolls: str = "") -> str:
    """A chart inside the page: what a file of its own needs is left out, its style stands in the head once.

    A wide chart scrolls on a telephone, where its words would be too small; `scrolls` names the region.
    """
    inner = _STYLE.sub("", svg).replace(' xmlns="http://www.w3.org/2000/svg"', "", 1).strip()
    return f"<figure>{scrolling(scrolls, inner) if scrolls else inner}</figure>"


def chart_styles(svgs: Iterable[str]) -> str:
    """The style sheets of charts, each once."""
    return "".join(dict.fromkeys(style for svg in svgs for style in _STYLE.findall(svg)))


def section(name: str, title: str, *parts: str) -> str:
    """A section with its heading, which the contents link to."""
    body = "\n".join(part for part in parts if part)
    return f'<section id="{name}">\n<h2>{escaped(title)}</h2>\n{body}\n</section>'


def paragraph(text: str, kind: str = "") -> str:
    """A sentence or two."""
    look = f' class="{kind}"' if kind else ""
    return f"<p{look}>{worded(text)}</p>"


def listed(items: Iterable[str]) -> str:
    """A list of sentences."""
    return "<ul>" + "".join(f"<li>{worded(item)}</li>" for item in items) + "</ul>"


def folded(said: str, inner: str) -> str:
    """What is out of sight until somebody asks for it; on paper it is open."""
    return f'<details class="fold"><summary>{escaped(said)}</summary>{inner}</details>'


def scrolling(label: str, inner: str, kind: str = "scroll") -> str:
    """A region that scrolls by itself where it is wider than the page; the keyboard reaches it."""
    return f'<div class="{kind}" role="region" tabindex="0" aria-label="{escaped(label)}">{inner}</div>'


def table(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]], *, n_text: int = 1) -> str:
    """A table of markup: the first column heads its rows, the first ones are text, the others figures."""
    head = "".join(f'<th scope="col"{_kind(i, n_text)}>{cell}</th>' for i, cell in enumerate(header))
    body = "".join(f"<tr>{_row(row, n_text)}</tr>" for row in rows)
    inner = f"<table><caption>{escaped(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return scrolling(caption, inner)


def _row(cells: Sequence[str], n_text: int) -> str:
    first, *others = cells
    return f'<th scope="row">{first}</th>' + "".join(
        f"<td{_kind(i, n_text)}>{cell}</td>" for i, cell in enumerate(others, 1)
    )


def _kind(column: int, n_text: int) -> str:
    return "" if column < n_text else ' class="n"'


def figure(value: float, decimals: int = 4) -> str:
    """A number; whole ones beyond 1 without decimals."""
    return f"{value:,.0f}" if value == int(value) and abs(value) > 1 else f"{value:.{decimals}f}"


def signed(value: float, decimals: int = 4) -> str:
    """A difference with its sign, and no sign where it rounds to nothing."""
    rounded = round(value, decimals) + 0.0
    return f"{rounded:+.{decimals}f}".replace("-", "−") if rounded else f"{0:.{decimals}f}"


def change(value: float | None, decimals: int = 4) -> str:
    """A difference that says by its class whether it is for the better."""
    if value is None:
        return ""
    kind = "better" if round(value, decimals) > 0 else "worse" if round(value, decimals) < 0 else "same"
    return f'<span class="{kind}">{signed(value, decimals)}</span>'
