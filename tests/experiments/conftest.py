"""The summary line that counts checks as the other tests of the project do."""


def pytest_terminal_summary(terminalreporter):
    stats = terminalreporter.stats
    failed = len(stats.get("failed", [])) + len(stats.get("error", []))
    terminalreporter.write_line(f"checks: {len(stats.get('passed', []))} passed, {failed} failed")
