"""What the API promises beside the bytes: order, laziness, errors, pickling, threads and interrupts."""

import concurrent.futures
import itertools
import json
import multiprocessing
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest
import trajfit
from conftest import FIXTURE, environment

SHORT = b'{"conversations": [{"from": "human", "value": "Hello"}, {"from": "gpt", "value": "Hi."}]}'


def test_untouched_records_are_the_same_bytes_whatever_they_came_as(lines):
    fitter = trajfit.Fitter()
    as_bytes = [(result.record, result.is_unchanged) for result in fitter.fit(lines)]
    assert sum(unchanged for _, unchanged in as_bytes) == 21
    assert all(record == line for line, (record, unchanged) in zip(lines, as_bytes) if unchanged)
    forms = [
        [line + b"\r\n" for line in lines],
        [line.decode() + "\n" for line in lines],
        [bytearray(line) for line in lines],
    ]
    for form in forms:
        assert [(result.record, result.is_unchanged) for result in fitter.fit(form)] == as_bytes
    dicts = [json.loads(line) for line in lines]
    for record, result in zip(dicts, fitter.fit(dicts)):
        if result.is_unchanged:
            assert result.record == json.dumps(record, ensure_ascii=False).encode()
    lone_surrogate = {"conversations": [{"from": "human", "value": "\ud800"}]}
    assert next(fitter.fit([lone_surrogate])).record == json.dumps(lone_surrogate).encode()


def test_results_are_lazy_and_in_order():
    read = 0

    def endless():
        nonlocal read
        for number in itertools.count(1):
            read = number
            yield {"id": str(number), "conversations": json.loads(SHORT)["conversations"]}

    results = trajfit.Fitter().fit(endless(), source="endless")
    for number in range(1, 1001):
        row = next(results).row
        assert (row["id"], row["line"], row["source"]) == (str(number), number, "endless")
    assert read < 400_000


def test_a_record_is_asked_for_only_when_no_result_is_ready():
    # A source that waits for the result of its last record: read ahead, it would wait for ever.
    seen = []

    def waits():
        yield SHORT
        deadline = time.time() + 20
        while not seen and time.time() < deadline:
            time.sleep(0.01)
        yield SHORT

    threading.Timer(0.2, seen.append, [True]).start()
    assert len(list(trajfit.Fitter().fit(waits()))) == 2


def test_progress_is_told_to_the_end(lines):
    told = []
    results = trajfit.Fitter(max_tokens=8000).fit([*lines, b"no json"], progress=told.append)
    rejected = [result.rejected for result in results][-1]
    assert rejected.startswith("invalid_json: ")
    assert {key: told[-1][key] for key in ("records", "rejected")} == {"records": 41, "rejected": 1}
    assert told[-1]["compressed"] > 10 and told[-1]["seconds"] > 0


def test_an_exception_of_the_source_comes_after_the_results_before_it():
    def breaks():
        yield SHORT
        yield SHORT
        raise OSError("the disk is gone")

    results = trajfit.Fitter().fit(breaks())
    assert len([next(results), next(results)]) == 2
    with pytest.raises(OSError, match="gone"):
        next(results)
    with pytest.raises(TypeError, match="not int"):
        list(trajfit.Fitter().fit([SHORT, 5]))
    with pytest.raises(TypeError, match=r"\[record\]"):
        trajfit.Fitter().fit(SHORT)
    with pytest.raises(OSError):
        trajfit.Fitter().count(breaks())


def test_an_exception_of_the_callback_is_raised():
    def refuses(figures):
        raise LookupError(figures["records"])

    with pytest.raises(LookupError):
        list(trajfit.Fitter().fit([SHORT], progress=refuses))


def test_errors_have_types_and_help(tmp_path):
    cases = [
        (dict(max_token=5), "unknown key max_token"),
        (dict(max_tokens="many"), "target_max_tokens"),
        (dict(tokenizer=str(tmp_path / "none")), "none"),
        (dict(config=tmp_path / "none.yaml"), "none.yaml"),
        (dict(config={"compression": {"target_max_token": 1}}), "target_max_token"),
    ]
    for arguments, text in cases:
        with pytest.raises(trajfit.ConfigurationError, match=text) as raised:
            trajfit.Fitter(**arguments)
        assert isinstance(raised.value, trajfit.TrajfitError)
    with pytest.raises(trajfit.ConfigurationError) as raised:
        trajfit.Fitter(max_token=5)
    assert raised.value.help == "did you mean max_tokens?"
    with pytest.raises(trajfit.ConfigurationError, match="trigger"):
        trajfit.Fitter().unroll([SHORT], trigger=7)
    with pytest.raises(trajfit.StoppedError, match="invalid_json"):
        list(trajfit.Fitter(on_invalid="fail").fit([b"no json"]))


def test_settings_come_from_files_sections_and_keys(tmp_path, lines):
    file = tmp_path / "run.yaml"
    file.write_text("compression:\n  target_max_tokens: 9000\n")
    sections = {"compression": {"target_max_tokens": 9000}}
    budgets = [
        trajfit.Fitter(config=file),
        trajfit.Fitter(config=sections),
        trajfit.Fitter(max_tokens=9000),
        trajfit.Fitter(target_max_tokens="9k"),
        trajfit.Fitter(config=file, **{"compression.target_max_tokens": 9000}),
    ]
    for fitter in budgets:
        assert next(fitter.fit(lines)).row["target_max_tokens"] == 9000
    assert next(trajfit.Fitter(config=file, max_tokens=7000).fit(lines)).row["target_max_tokens"] == 7000


def test_results_keep_the_summarizer_of_a_fitter_that_is_gone(lines):
    program = FIXTURE.parents[1] / "tests" / "it" / "support" / "program.py"
    results = trajfit.Fitter(summarizer="command", command=f"python3 {program}", max_tokens=9000).fit(lines)
    rows = [result.row for result in results]
    compressed = [row for row in rows if row["was_compressed"]]
    assert len(compressed) > 10
    assert {row["summarizer"] for row in compressed} == {"command"}


def test_text_that_is_no_unicode_is_rejected_and_the_rest_goes_on(lines):
    results = list(trajfit.Fitter().fit(['{"conversations": "\ud800"}', lines[0]]))
    assert results[0].rejected and results[1].rejected is None


def test_what_is_no_configuration_and_no_iterable_is_named(lines):
    with pytest.raises(TypeError, match="not int"):
        trajfit.Fitter(config=5)
    with pytest.raises(TypeError, match="not NoneType"):
        trajfit.Fitter().fit(None)


def test_settings_without_effect_are_warned_about():
    with pytest.warns(UserWarning, match="model"):
        trajfit.Fitter(model="unused")


def fitted_bytes(fitter, lines):
    return [result.record for result in fitter.fit(lines)]


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_workers_get_a_fitter_of_their_own(start, lines):
    fitter = trajfit.Fitter(max_tokens=9000)
    expected = fitted_bytes(fitter, lines)
    assert fitted_bytes(pickle.loads(pickle.dumps(fitter)), lines) == expected
    context = multiprocessing.get_context(start)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        halves = pool.map(fitted_bytes, [fitter] * 2, [lines[:20], lines[20:]])
        assert sum(halves, []) == expected


def test_a_fork_has_threads_of_its_own(lines):
    fitter = trajfit.Fitter(max_tokens=9000)
    expected = fitted_bytes(fitter, lines)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=lambda: queue.put(fitted_bytes(fitter, lines)))
    child.start()
    assert queue.get(timeout=60) == expected
    child.join()


def test_other_threads_run_meanwhile(lines):
    ticks = 0
    done = threading.Event()

    def tick():
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    ticking = threading.Thread(target=tick)
    ticking.start()
    started = time.time()
    # One record that takes long: nothing returns to Python in between.
    long = json.dumps({"conversations": [{"from": "human", "value": "word " * 3_000_000}, {"from": "gpt", "value": "a"}]})
    assert next(trajfit.Fitter().fit([long])).row["still_over_limit"]
    seconds = time.time() - started
    done.set()
    ticking.join()
    assert ticks > 50 * seconds


@pytest.mark.parametrize("work", ["for _ in fitter.fit(endless()): pass", "fitter.count(endless())"])
def test_keyboard_interrupt_ends_the_work(work):
    script = f"""
import trajfit
lines = open({str(FIXTURE)!r}, "rb").readlines()
def endless():
    while True:
        yield from lines
fitter = trajfit.Fitter()
print("ready", flush=True)
{work}
"""
    child = subprocess.Popen(
        [sys.executable, "-c", script], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert child.stdout.readline() == b"ready\n"
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=30)
    assert b"KeyboardInterrupt" in errors and child.returncode == -signal.SIGINT


def test_a_notebook_shows_rows_as_a_table(lines):
    html = list(trajfit.Fitter().fit(lines[:2], source="<runs>"))[1]._repr_html_()
    assert html.startswith("<table>") and "&lt;runs&gt;" in html and "18,973" in html and "compressed" in html
