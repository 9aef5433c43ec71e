"""Shared by all tests: the data sets' folder, the counting of data tests, the sanitised core."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.sanitized_core import use_core_of_environment

settings.register_profile("hedgerow", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("hedgerow")

_data_tests_passed = 0


use_core_of_environment()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("HEDGEROW_DATA"):
        return
    skip = pytest.mark.skip(reason="HEDGEROW_DATA is not set")
    for item in items:
        if "data" in item.keywords:
            item.add_marker(skip)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    global _data_tests_passed  # noqa: PLW0603 - pytest's hooks share nothing else
    if report.when == "call" and report.passed and "data" in report.keywords:
        _data_tests_passed += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    is_worker = hasattr(session.config, "workerinput")
    is_whole = session.config.getoption("markexpr") in ("", "not slow")
    required = os.environ.get("HEDGEROW_REQUIRE_DATA") and is_whole and not is_worker
    if required and not _data_tests_passed:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        reporter.write_line("No test that needs HEDGEROW_DATA passed, and some must.", red=True)


@pytest.fixture(autouse=True)
def _warnings_are_given_again() -> None:
    from hedgerow.errors import forget_warnings

    forget_warnings()


@pytest.fixture
def data_folder() -> Path:
    return Path(os.environ["HEDGEROW_DATA"])
