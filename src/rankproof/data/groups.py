"""Which group (persona, category, language …) each query belongs to."""

from __future__ import annotations

from rankproof.data.faults import Faults
from rankproof.data.files import PathLike, head, read_bytes, source_name
from rankproof.data.gold import GoldSet
from rankproof.data.lines import numbered_lines
from rankproof.errors import NothingToEvaluate


def read_groups(path: PathLike) -> dict[str, str]:
    """Query → group, from a TSV of two columns or from a gold set whose queries have groups."""
    source = source_name(path)
    groups = _read_tsv(path) if _is_plain_tsv(head(path)) else GoldSet.read(path).groups
    if not groups:
        raise NothingToEvaluate(f"{source}: no query in it has a group")
    return groups


def _is_plain_tsv(text: bytes) -> bool:
    lines = [line for _, line in numbered_lines(text)]
    return bool(lines) and lines[0].count(b"\t") == 1 and not lines[0].lstrip().startswith((b"{", b"["))


def _read_tsv(path: PathLike) -> dict[str, str]:
    faults = Faults(source_name(path))
    groups: dict[str, str] = {}
    for number, line in numbered_lines(read_bytes(path)):
        try:
            cells = [cell.strip() for cell in line.decode().split("\t")]
        except UnicodeDecodeError as exc:
            faults.add(f"byte {line[exc.start]:#04x} is not valid UTF-8; save the file as UTF-8", number)
            continue
        if len(cells) != 2 or not all(cells):
            faults.add(f"{len(cells)} columns where 2 belong (query, tab, group)", number)
        elif groups.setdefault(cells[0], cells[1]) != cells[1]:
            faults.add(f"query {cells[0]!r} is in two groups, {groups[cells[0]]!r} and {cells[1]!r}", number)
    faults.raise_any()
    return groups
