"""Fitted records, rows, rejects, totals and reports are those of the program."""

import csv
import json

import pytest
from conftest import FIXTURE, ROOT
import trajfit

DATA = sorted((ROOT.parent / "shared" / "data").glob("*.jsonl"))
QUIRKS = sorted((ROOT / "fixtures" / "quirks").glob("*.jsonl"))

# Columns that differ from run to run.
OF_THE_RUN = {"duration_ms"}


def cell(value):
    """A value as the CSV of the metrics shows it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def rows_of(results):
    return [{k: cell(v) for k, v in row.items() if k not in OF_THE_RUN} for result in results for row in result.rows]


def rows_in(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [{k: v for k, v in row.items() if k not in OF_THE_RUN} for row in csv.DictReader(file)]


def records_in(path):
    """Lines that hold a record, as the program reads them: blank lines hold none."""
    lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return [(number, line.removesuffix(b"\r")) for number, line in enumerate(lines, 1) if line.strip()]


def compared(path, run, program, tmp_path, flags, unroll=None):
    """Runs the program and the package over one file, and compares all that they write."""
    name = "compress" if unroll is None else "unroll"
    words = [f"--{key.replace('_', '-')}={value}" for key, value in {**flags, **(unroll or {})}.items()]
    ran = run(program, name, path, "-o", "out.jsonl", "--quiet", *words)
    assert ran.returncode in (0, 3), ran.stderr
    fitter = trajfit.Fitter(**flags)
    numbered = records_in(path)
    records = [line for _, line in numbered]
    stream = fitter.fit(records, source=str(path)) if unroll is None else fitter.unroll(records, source=str(path), **unroll)
    results = list(stream)
    assert len(results) == len(records)
    written = [record for result in results for record in result.records]
    assert written == [line for _, line in records_in(tmp_path / "out.jsonl")]
    expected = rows_in(tmp_path / "out.metrics.csv")
    # The package counts records where the program counts lines.
    lines = {str(number): str(line) for number, (line, _) in enumerate(numbered, 1)}
    rows = [{**row, "line": lines[row["line"]]} for row in rows_of(results)]
    assert rows == expected
    rejects = tmp_path / "out.rejects.jsonl"
    reasons = [json.loads(line) for line in rejects.read_bytes().splitlines()] if rejects.exists() else []
    told = [f"{reject['reason']}: {reject['reason_detail']}" if reject["reason_detail"] else reject["reason"] for reject in reasons]
    assert [result.rejected for result in results if result.rejected is not None] == told
    summary = json.loads((tmp_path / "out.summary.json").read_bytes())
    report = stream.report()
    for key in ("timing", "sources", "outputs", "worst_grounded"):
        summary.pop(key, None), report.pop(key, None)
    for key in ("--limit", "--sample", "--seed"):
        del summary["configuration"][key]
    assert report == summary
    return results


@pytest.mark.parametrize("path", [FIXTURE, *QUIRKS, *DATA], ids=lambda path: path.stem)
def test_fitted_files(path, run, program, tmp_path):
    if path.name in ("byte_order_mark_only.jsonl", "cr_between_tokens.jsonl"):
        pytest.skip("its lines are those of the file reader")
    budget = "8000" if path in DATA or path == FIXTURE else "600"
    compared(path, run, program, tmp_path, {"max_tokens": budget})


@pytest.mark.parametrize("unroll", [{}, {"trigger": "0.5", "overlap": "none"}, {"engine": "openhands"}], ids=str)
def test_unrolled_files(unroll, run, program, tmp_path):
    compared(FIXTURE, run, program, tmp_path, {"max_tokens": "12000"}, unroll)


def test_fitted_files_of_other_settings(run, program, tmp_path):
    for number, flags in enumerate([
        {"strategy": "mask", "per_trajectory": "all"},
        {"output_format": "messages", "sanitize": "true", "over_limit": "reject"},
        {"tokenizer": "cl100k_base", "summary_placement": "merge", "jobs": "1"},
        {"summarizer": "command", "command": f"python3 {ROOT}/tests/it/support/program.py"},
    ]):
        folder = tmp_path / str(number)
        folder.mkdir()
        here = lambda *arguments: run("sh", "-c", 'cd "$0" && exec "$@"', folder, *arguments)
        compared(FIXTURE, here, program, folder, {"max_tokens": "9000", **flags})


@pytest.mark.parametrize("name", ["count", "check", "lint"])
def test_reports(name, run, program):
    keys = {"max_tokens": 9000, "trainer": "axolotl"} if name != "lint" else {"trainer": "axolotl"}
    words = [f"--{key.replace('_', '-')}={value}" for key, value in keys.items()]
    ran = run(program, name, FIXTURE, "--json", "--quiet", *words)
    expected = json.loads(ran.stdout)
    fitter = trajfit.Fitter(**keys)
    assert getattr(fitter, name)(FIXTURE.open("rb"), source=str(FIXTURE)) == expected
