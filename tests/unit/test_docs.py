"""What the documentation shows is what happens."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import hedgerow

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = [
    m.name for m in pkgutil.walk_packages(hedgerow.__path__, "hedgerow.") if "_core" not in m.name
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_come_out_as_written(page):
    result = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_to_files_that_are_there(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    local = [link.partition("#")[0] for link in links if "://" not in link]
    assert [link for link in local if link and not (page.parent / link).exists()] == []


def test_every_page_is_named_in_the_readme():
    readme = PAGES[0].read_text(encoding="utf-8")
    assert [page.name for page in PAGES[1:] if f"(docs/{page.name})" not in readme] == []


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_docstring_come_out_as_written(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_public_name_can_be_imported_and_has_a_docstring():
    for name in hedgerow.__all__:
        value = getattr(hedgerow, name)
        assert name == "__version__" or value.__doc__, name
    assert set(hedgerow.__all__) <= set(dir(hedgerow))


def test_importing_hedgerow_imports_nothing_heavy():
    import subprocess
    import sys

    code = "import sys, hedgerow; print([m for m in ('numpy', 'sklearn', 'click') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_versions_agree():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == hedgerow.__version__
