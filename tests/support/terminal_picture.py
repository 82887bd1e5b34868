"""What a terminal shows, as SVG that loads nothing: neither fonts nor styles."""

from __future__ import annotations

import io
import re

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

COLUMNS = 104
# Black on white would glare on a dark page, and a dark terminal looks right on both.
_THEME = TerminalTheme(
    background=(22, 27, 34),
    foreground=(230, 237, 243),
    normal=[
        (72, 79, 88),
        (255, 123, 114),
        (63, 185, 80),
        (210, 153, 34),
        (88, 166, 255),
        (188, 140, 255),
        (57, 197, 207),
        (177, 186, 196),
    ],
)


def terminal_svg(title: str, printed: str) -> str:
    """Return a picture of a terminal.

    Args:
        title: The text above the picture, and what a screen reader says of it.
        printed: The output of commands, with ANSI colors.
    """
    console = Console(
        record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    console.print(Text.from_ansi(printed))
    svg = console.export_svg(title=title, theme=_THEME, unique_id="terminal")
    svg = re.sub(r"@font-face \{.*?\}\n|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code", "ui-monospace, SFMono-Regular, Menlo, Consolas")
    return "".join(f"{line.rstrip()}\n" for line in svg.splitlines() if line.strip())
