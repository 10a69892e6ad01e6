"""What the tests share. A summary line counts checks as the other tests of the project do."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest


@pytest.fixture(scope="session")
def program():
    """The path of the program that the package is compared with."""
    path = os.environ.get("SADDLE_PROGRAM") or shutil.which("saddle")
    if path is None:
        pytest.skip("there is no saddle program: name it in SADDLE_PROGRAM")
    return path


@pytest.fixture(scope="session")
def in_two_processes():
    """A function that runs `run.py` of a directory in two processes of a job. Where no job starts,
    this is waited for once."""
    launcher = os.environ.get("SADDLE_MPIRUN") or "mpirun"
    if shutil.which(launcher) is None:
        pytest.skip("there is no mpirun")
    job = [launcher, "-n", "2", sys.executable, "-B"]
    subprocess.run([*job, "-c", ""], timeout=120, check=True)

    def run(directory):
        output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        done = subprocess.run([*job, "run.py"], cwd=directory, timeout=120, check=False, **output)
        if "needs a module" in done.stdout:
            pytest.skip("this build has no MPI")
        return done

    return run


@pytest.fixture(scope="session")
def rows():
    """400 labelled rows of 8 features."""
    generator = np.random.default_rng(5)
    X = generator.normal(size=(400, 8))
    return X, np.where(
        X @ generator.normal(size=8) + 0.3 * generator.normal(size=400) > 0, 1.0, -1.0
    )


def pytest_terminal_summary(terminalreporter):
    stats = terminalreporter.stats
    failed = len(stats.get("failed", [])) + len(stats.get("error", []))
    for report in stats.get("skipped", []):
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        terminalreporter.write_line(f"skip: {report.nodeid}: {why}")
    terminalreporter.write_line(f"checks: {len(stats.get('passed', []))} passed, {failed} failed")
