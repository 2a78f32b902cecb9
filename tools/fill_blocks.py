"""Put generated tables into hand-written pages, so that no figure there is typed by hand.

    python tools/fill_blocks.py docs/evidence.md docs/auto.md README.md

A page has blocks of the form

    <!-- from results/report/summary.md -->
    ... replaced by the content of that file, without its heading ...
    <!-- end -->
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"(<!-- from (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(page: str) -> str:
    """Return a page with its blocks up to date."""

    def content(match: re.Match[str]) -> str:
        text = (ROOT / match[2]).read_text(encoding="utf-8")
        body = re.sub(r"\A#+ .*\n+", "", text).strip()
        return f"{match[1]}{body}\n{match[3]}"

    return BLOCK.sub(content, page)


def main() -> None:
    for name in sys.argv[1:]:
        path = Path(name)
        before = path.read_text(encoding="utf-8")
        after = filled(before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(f"filled {name}")


if __name__ == "__main__":
    main()
