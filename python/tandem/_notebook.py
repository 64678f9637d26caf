"""Where progress is shown: on this program's terminal by `tandem` itself, elsewhere line by line."""

import html
import sys
from typing import Callable, List, Optional

Show = Optional[Callable[[str], None]]
_LINES = 12


def display_here(quiet: bool) -> Show:
    """What is told each line; None: `tandem` writes to the terminal itself."""
    if not quiet and _in_notebook():
        from IPython.display import HTML, display  # type: ignore[import-not-found]
        lines: List[str] = []
        handle = display(HTML("<pre></pre>"), display_id=True)

        def update(line: str) -> None:
            lines.append(line)
            handle.update(HTML(f"<pre>{html.escape(''.join(lines[-_LINES:]))}</pre>"))

        return update
    if not quiet and _is_descriptor_2():
        return None

    def write(line: str) -> None:
        if not quiet:
            sys.stderr.write(line)

    return write


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    here = shell.get_ipython() if shell else None
    return here is not None and hasattr(here, "kernel")


def _is_descriptor_2() -> bool:
    """Somebody looks at it: what `tandem` writes there is seen, and as a table that updates."""
    try:
        return sys.stderr.fileno() == 2 and sys.stderr.isatty()
    except (AttributeError, OSError, ValueError):
        return False
