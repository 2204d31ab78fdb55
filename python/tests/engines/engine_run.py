"""A run of the program over lines, which engines are held against, and a summarizer that kills the worker that asks it."""

import csv
import json
import subprocess
import sys

from conftest import FIXTURE, environment

BUDGET = 8000

# Lines that JSON libraries would write otherwise, and one that is no record.
ODD = [
    '{ "n": 1.50, "note": "caf\\u00e9 \u2028 \U0001f642", "conversations" : [ {"from":"human","value":"Hi"}, {"from":"gpt","value":"Ho"} ] }',
    '{"id": 12345678901234567890123, "empty": {}, "nothing": null, "conversations": [{"value":"A \\/ b","from":"human"},{"from":"gpt","value":"c"}]}',
    '{"conversations": [{"from": "human", "value": "cut',
]

# A summarizer that writes down when it starts and what it answers. At the request that the file of victims names, it kills its
# parent, once.
SUMMARIZER = '''
import json, os, signal, sys
log, victim = sys.argv[1:]
def note(line):
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, (line + "\\n").encode())
    os.close(file)
note("start")
for line in sys.stdin:
    request = json.loads(line)
    if os.path.exists(victim) and open(victim).read() == request["id"]:
        os.unlink(victim)
        os.kill(os.getppid(), signal.SIGKILL)
        sys.exit()
    note(request["id"])
    print(json.dumps({"id": request["id"], "summary": "They worked on it: " + request["id"]}), flush=True)
'''

# Columns that say how a run went and not what became of a record.
OF_THE_RUN = {"duration_ms", "source", "cached_summary", "summarization_api_calls"}


def input_lines():
    """The demo, each record once as it is and once under another id, with odd lines between."""
    lines = []
    for number, line in enumerate(FIXTURE.read_text(encoding="utf-8").splitlines()):
        lines += [line, line.replace('{"id": "', '{"id": "again-', 1)]
        if number % 8 == 0:
            lines.append(ODD[number // 8 % len(ODD)])
    return lines


def write_lines(path, lines):
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())


class Program:
    """The program's run over `in.jsonl` of a folder."""

    def __init__(self, folder, *flags, source="in.jsonl", output="out.jsonl"):
        self.folder, self.output = folder, folder / output
        command = [sys.executable, "-m", "trajfit", "compress", source, "-o", output, "--max-tokens", str(BUDGET)]
        ran = subprocess.run([*command, *flags, "--quiet"], cwd=folder, env=environment(), capture_output=True)
        assert ran.returncode in (0, 3), ran.stderr

    def records(self):
        return self.output.read_bytes().splitlines()

    def beside(self, ending):
        return self.output.with_suffix(ending)

    def report(self):
        return without_run(json.loads(self.beside(".summary.json").read_bytes()))


def without_run(report):
    """A report without what names files, and what depends on how often a run was interrupted."""
    names = ("timing", "sources", "outputs", "summarization_api_calls", "cached_summaries")
    report = {key: value for key, value in report.items() if key not in names}
    report["configuration"] = {
        key: value for key, value in report["configuration"].items() if key not in ("--limit", "--sample", "--seed")
    }
    for record in report.get("worst_grounded", []):
        record.pop("source")
    return report


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [{key: value for key, value in row.items() if key not in OF_THE_RUN} for row in csv.DictReader(file)]


def rejects(path):
    if not path.exists():
        return []
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    return [{key: value for key, value in record.items() if key != "source"} for record in records]


def same_reports(program, report, folder):
    """Holds the gathered files and totals against those of the program."""
    assert rows(folder / "metrics.csv") == rows(program.beside(".metrics.csv"))
    assert rejects(folder / "rejects.jsonl") == rejects(program.beside(".rejects.jsonl"))
    assert without_run(json.loads((folder / "summary.json").read_bytes())) == without_run(report)
    expected, report = program.report(), without_run(report)
    differing = {key: (expected.get(key), report.get(key)) for key in {**expected, **report} if expected.get(key) != report.get(key)}
    assert not differing, differing


class Killing:
    """A program's run with a summarizer, and the same summarizer as one that kills a worker in the middle."""

    def __init__(self, folder):
        self.log, self.victim, script = folder / "asked.log", folder / "victim", folder / "summarizer.py"
        script.write_text(SUMMARIZER)
        words = [sys.executable, script, self.log, self.victim]
        self.keys = {"summarizer": "command", "command": " ".join(f"'{word}'" for word in words), "timeout": 60}
        self.program = Program(folder, *[f"--{key}={value}" for key, value in self.keys.items()])
        self.requests = self.asked()
        self.log.unlink()
        self.victim.write_text(self.requests[len(self.requests) // 2])

    def asked(self):
        return [line for line in self.log.read_text().split() if line != "start"]

    def starts(self):
        return self.log.read_text().split().count("start")

    def check(self, workers):
        """One worker was killed, each made its fitter once, and no answer was paid twice."""
        assert not self.victim.exists()
        assert 0 < self.starts() <= workers + 1
        assert sorted(self.asked()) == sorted(self.requests)
