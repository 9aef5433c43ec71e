"""The layout of help pages: options in groups, examples at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import rich_click as click

__all__ = ["help_page"]


def help_page(
    command: str,
    groups: Mapping[str, Sequence[str]],
    examples: Sequence[str],
    verbs: Sequence[str] = (),
) -> Callable[[Any], Any]:
    """Return a decorator that gives a command's help page its groups, verbs and examples."""
    panels = [{"name": name, "options": list(options)} for name, options in groups.items()]
    return click.rich_config(
        {
            "option_groups": {command: panels},
            "command_groups": {command: [{"name": "Commands", "commands": list(verbs)}]},
            "footer_text": "\n".join(["Examples:", *examples]),
            "style_footer_text": "",
            "style_options_panel_border": "dim",
            "style_commands_panel_border": "dim",
        }
    )
