"""The whole page: one file that opens from disk, makes no request and runs one script, which is its own."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from rankproof.report import Report
from rankproof.reports.html.markup import chart_styles, escaped, paragraph
from rankproof.reports.html.queries import queries_section
from rankproof.reports.html.sections import (
    SIGNS,
    differences_section,
    failures_section,
    foundation_section,
    groups_section,
    measures_section,
    ranks_section,
    tiles,
    verdict_section,
)

_BADGES = {"pass": "pass", "worse": "worse", "not measured": "not measured", None: "measured"}
_PAGE_BYTES = 970_000
"""What a page about a thousand queries keeps to; a megabyte, less the words of its head."""


def report_html(report: Report) -> str:
    """The report as one HTML document; the same report gives the same bytes."""
    style, script = _resource("page.css"), _resource("page.js")
    measures, bars = measures_section(report)
    differences, forest = differences_section(report)
    ranks, ranked = ranks_section(report)
    failures, shares = failures_section(report)
    sections = {
        "Rules": verdict_section(report),
        "Measures": measures,
        "Groups": groups_section(report),
        "Differences": differences,
        "Ranks and depth": ranks,
        "Failures": failures,
        "Foundation": foundation_section(report),
    }
    charts = chart_styles([*bars, *forest, *ranked, *shares])
    taken = sum(len(part.encode()) for part in (style, script, charts, *sections.values()))
    sections["Queries"] = queries_section(report, _PAGE_BYTES - taken)
    present = {name: markup for name, markup in sections.items() if markup}
    body = "\n".join(present.values())
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_policy(script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{escaped(report.title)} · rankproof report</title>
<style>
{charts}
{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
{_header(report, present)}
<main id="main" tabindex="-1">
{body}
</main>
<script>{script}</script>
</body>
</html>
"""


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    own = f"script-src 'sha256-{digest}'"
    return f"default-src 'none'; {own}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def _resource(name: str) -> str:
    # Checked out on Windows the file may have other line ends; the page has the same everywhere.
    return files("rankproof.reports.html").joinpath(name).read_text(encoding="utf-8").replace("\r\n", "\n")


def _header(report: Report, present: dict[str, str]) -> str:
    said = _BADGES[report.outcome]
    sign = SIGNS.get(said, "●")
    badge = f'<p class="badge {said.replace(" ", "-")}"><span aria-hidden="true">{sign} </span>{said}</p>'
    links = "".join(f'<a href="#{_anchor(markup)}">{name}</a>' for name, markup in present.items())
    # A p-value does not break over lines.
    first, *others = [sentence.replace("p = ", "p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}") for sentence in report.words]
    return f"""<header>
<div class="top"><p class="brand">rankproof report</p><nav aria-label="Sections">{links}</nav></div>
<div class="verdict"><div class="name">{badge}<h1>{escaped(report.title)}</h1></div>
{paragraph(first, "words")}{"".join(map(paragraph, others))}
{tiles(report)}</div>
</header>"""


def _anchor(markup: str) -> str:
    return markup.partition('id="')[2].partition('"')[0]
