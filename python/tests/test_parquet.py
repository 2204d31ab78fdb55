"""Parquet and Arrow in and out of the program: what other libraries write it reads, and what it writes they read."""

import json
import signal
import subprocess
import time

import datasets
import duckdb
import polars
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from conftest import FIXTURE, ROOT, environment

MESSAGES = ROOT / "fixtures" / "agent_runs_messages.jsonl"
BUDGET = ["--max-tokens", "15250", "--quiet"]


def records(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def chats():
    """Chat messages with tool calls whose arguments are objects, each tool's of its own; contents are texts."""
    rows = records(MESSAGES)
    for row in rows:
        for message in row["messages"]:
            if isinstance(message.get("content"), list):
                message["content"] = "\n".join(part["text"] for part in message["content"])
            for call in message.get("tool_calls") or []:
                call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return rows


DATA = {"sharegpt": lambda: records(FIXTURE), "messages": chats}


def without_nulls(value):
    """A value as the program reads it: nulls that a common type brings are no keys."""
    if isinstance(value, dict):
        is_message = "role" in value and "content" in value
        kept = {key: without_nulls(member) for key, member in value.items()}
        return {key: member for key, member in kept.items() if member is not None or (is_message and key == "content")}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def bare(value):
    """A value without any null."""
    if isinstance(value, dict):
        return {key: bare(member) for key, member in value.items() if member is not None}
    return [bare(item) for item in value] if isinstance(value, list) else value


def write_lines(rows, path):
    """JSON Lines, written as the program writes rows: without spaces."""
    lines = [json.dumps(without_nulls(row), ensure_ascii=False, separators=(",", ":")) for row in rows]
    path.write_text("".join(line + "\n" for line in lines))


def with_pyarrow(rows, path):
    pq.write_table(pa.Table.from_pylist(rows), path)


def with_datasets(rows, path):
    datasets.Dataset.from_list(rows).to_parquet(path)


def with_polars(rows, path):
    polars.DataFrame(rows, infer_schema_length=None).write_parquet(path)


def with_duckdb(rows, path):
    lines = path.with_suffix(".duck.jsonl")
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    duckdb.sql(f"copy (select * from read_json('{lines}', sample_size=-1, maximum_depth=-1)) to '{path}' (format parquet)")
    lines.unlink()


def with_feather(rows, path):
    pyarrow.feather.write_feather(pa.Table.from_pylist(rows), str(path))


def with_stream(rows, path):
    table = pa.Table.from_pylist(rows)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)


WRITERS = {
    "pyarrow": (with_pyarrow, "in.parquet"),
    "datasets": (with_datasets, "in.parquet"),
    "polars": (with_polars, "in.parquet"),
    "duckdb": (with_duckdb, "in.parquet"),
    "feather": (with_feather, "in.feather"),
    "stream": (with_stream, "in.arrow"),
}


def read(path):
    """The rows of a file that is Parquet or Arrow."""
    with open(path, "rb") as file:
        start = file.read(6)
    if start.startswith(b"PAR1"):
        return pq.read_table(path)
    if start == b"ARROW1":
        return pa.ipc.open_file(path).read_all()
    return pa.ipc.open_stream(path).read_all()


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("writer", WRITERS)
def test_a_file_is_fitted_as_its_lines_are(writer, data, run, command, tmp_path):
    write, name = WRITERS[writer]
    write(DATA[data](), tmp_path / name)
    lines = tmp_path / "lines.jsonl"
    rows = read(tmp_path / name)
    write_lines(rows.to_pylist(maps_as_pydicts="strict"), lines)
    out = "out" + (tmp_path / name).suffix
    for inputs, outputs in [(name, out), ("lines.jsonl", "fitted.jsonl")]:
        ended = run(command, "compress", inputs, "-o", outputs, *BUDGET)
        assert ended.returncode == 0, ended.stderr
    fitted = read(tmp_path / out)
    assert [without_nulls(row) for row in fitted.to_pylist(maps_as_pydicts="strict")] == without_nulls(records(tmp_path / "fitted.jsonl"))
    assert fitted.schema.names == rows.schema.names
    assert {path.suffix for path in tmp_path.glob("out*")} == {".csv", ".json", (tmp_path / out).suffix}
    # Rows that stay have their values to the last null.
    kept = [index for index, (old, new) in enumerate(zip(records(lines), records(tmp_path / "fitted.jsonl"))) if old == new]
    assert 0 < len(kept) < rows.num_rows
    assert fitted.take(kept).to_pylist() == rows.take(kept).to_pylist()


def test_other_columns_keep_their_values_and_types(run, command, tmp_path):
    rows = records(FIXTURE)
    count = len(rows)
    table = pa.table(
        {
            "conversations": [row["conversations"] for row in rows],
            "decimal": pa.array([None, *range(1, count)], pa.decimal128(12, 3)),
            "time": pa.array(range(count), pa.timestamp("us", "Europe/Berlin")),
            "bytes": pa.array([bytes([index, 255]) for index in range(count)]),
            "vector": pa.array([[index / 3, float("nan")] for index in range(count)], pa.list_(pa.float32(), 2)),
            "kind": pa.array(["a", "b"] * (count // 2)).dictionary_encode(),
            "map": pa.array([[("k", index)] for index in range(count)], pa.map_(pa.string(), pa.int16())),
            "large": pa.array(["é" * index for index in range(count)], pa.large_string()),
        },
        metadata={"huggingface": "{}", "a": "b"},
    )
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=7)
    ended = run(command, "compress", "in.parquet", "-o", "out.parquet", *BUDGET)
    assert ended.returncode == 0, ended.stderr
    fitted = pq.read_table(tmp_path / "out.parquet")
    others = table.schema.names[1:]
    assert fitted.select(others).schema.equals(pq.read_table(tmp_path / "in.parquet").select(others).schema)
    assert fitted.schema.metadata[b"a"] == b"b" and fitted.schema.metadata[b"huggingface"] == b"{}"
    for name in others:
        assert str(fitted[name].to_pylist()) == str(table[name].to_pylist()), name


def test_json_text_is_kept_as_it_is_written(run, command, tmp_path):
    rows = records(MESSAGES)
    texts = [json.dumps(row["messages"], separators=(" , ", " : "), ensure_ascii=index % 2 == 0) for index, row in enumerate(rows)]
    table = pa.table({"id": [row["id"] for row in rows], "messages": texts})
    pq.write_table(table, tmp_path / "in.parquet")
    ended = run(command, "compress", "in.parquet", "-o", "out.parquet", *BUDGET)
    assert ended.returncode == 0, ended.stderr
    fitted = pq.read_table(tmp_path / "out.parquet")
    assert fitted.schema.equals(table.schema)
    status = [line.split(",")[4] for line in (tmp_path / "out.metrics.csv").read_text().splitlines()[1:]]
    assert {"compressed", "under_target"} == set(status)
    for old, new, how in zip(texts, fitted["messages"].to_pylist(), status):
        assert (new == old) == (how == "under_target")
        assert json.loads(new)[-1] == json.loads(old)[-1]


def test_what_it_writes_other_libraries_read(run, command, tmp_path):
    write_lines(chats(), tmp_path / "in.jsonl")
    ended = run(command, "compress", "in.jsonl", "-o", "out.parquet", "--metrics", "m.parquet", *BUDGET)
    assert ended.returncode == 0, ended.stderr
    assert run(command, "compress", "in.jsonl", "-o", "lines.jsonl", *BUDGET).returncode == 0
    expected = records(tmp_path / "lines.jsonl")
    path = tmp_path / "out.parquet"
    loaded = datasets.load_dataset("parquet", data_files=str(path), split="train", cache_dir=str(tmp_path / "cache"))
    read = [
        pq.read_table(path).to_pylist(),
        polars.read_parquet(path).to_dicts(),
        duckdb.sql(f"select * from '{path}'").to_arrow_table().to_pylist(),
        loaded.to_list(),
    ]
    for rows in read:
        assert bare(rows) == bare(expected)
    metrics = duckdb.sql(f"select sum(original_tokens), bool_or(was_compressed) from '{tmp_path / 'm.parquet'}'").fetchall()
    csv = duckdb.sql(f"select sum(original_tokens), bool_or(was_compressed) from '{tmp_path / 'lines.metrics.csv'}'").fetchall()
    assert metrics == csv
    types = {field.name: str(field.type) for field in pq.read_schema(tmp_path / "m.parquet")}
    assert types["original_tokens"] == types["original_rendered_tokens"] == "int64"
    assert (types["was_compressed"], types["compression_ratio"], types["source"]) == ("bool", "double", "string")


def test_turns_of_many_types_become_json_text(run, command, tmp_path):
    """Contents that are texts in some messages and lists in others have no type in common."""
    assert run(command, "compress", MESSAGES, "-o", "out.parquet", *BUDGET).returncode == 0
    assert run(command, "compress", MESSAGES, "-o", "lines.jsonl", *BUDGET).returncode == 0
    assert run(command, "compress", "out.parquet", "-o", "again.jsonl", *BUDGET).returncode == 0
    rows = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert bare([{**row, "messages": json.loads(row["messages"])} for row in rows]) == bare(records(tmp_path / "lines.jsonl"))
    assert bare(records(tmp_path / "again.jsonl")) == bare(records(tmp_path / "lines.jsonl"))


@pytest.mark.parametrize("words", [["count", "--per-record"], ["check"], ["lint", "--trainer", "trl"], ["show"], ["explain"]], ids=lambda words: words[0])
def test_commands_that_read_say_the_same_of_rows_and_lines(words, run, command, tmp_path):
    with_pyarrow(chats(), tmp_path / "in.parquet")
    rows = pq.read_table(tmp_path / "in.parquet").to_pylist()
    write_lines(rows, tmp_path / "in.jsonl")
    ran = [run(command, *words, f"in.{ending}") for ending in ("parquet", "jsonl")]
    assert ran[0].returncode == ran[1].returncode
    assert ran[0].stdout
    assert ran[0].stdout.replace(b"in.parquet", b"in.jsonl") == ran[1].stdout


def test_unrolled_records_keep_the_columns_of_their_trajectory(run, command, tmp_path):
    rows = [{**row, "n": index} for index, row in enumerate(chats())]
    with_pyarrow(rows, tmp_path / "in.parquet")
    for out in ("out.parquet", "lines.jsonl"):
        ended = run(command, "unroll", "in.parquet", "-o", out, "--max-tokens", "8000", "--quiet")
        assert ended.returncode in (0, 3), ended.stderr
    unrolled = [without_nulls(row) for row in pq.read_table(tmp_path / "out.parquet").to_pylist()]
    assert len(unrolled) > len(rows)
    assert unrolled == [without_nulls(row) for row in records(tmp_path / "lines.jsonl")]
    ended = run(command, "check", "out.parquet", "--unrolled-from", "in.parquet")
    assert ended.returncode == 0, ended.stderr + ended.stdout


def test_conversions_change_the_columns(run, command, tmp_path):
    with_pyarrow(records(FIXTURE), tmp_path / "in.parquet")
    ended = run(command, "compress", "in.parquet", "-o", "out.parquet", "--output-format", "messages", *BUDGET)
    assert ended.returncode in (0, 3), ended.stderr
    names = pq.read_schema(tmp_path / "out.parquet").names
    assert "messages" in names and "conversations" not in names


def test_directories_merged_files_and_shards(run, command, tmp_path):
    rows = records(FIXTURE)
    folder = tmp_path / "in"
    folder.mkdir()
    with_pyarrow(rows[:25], folder / "a.parquet")
    with_pyarrow(rows[25:], folder / "b.parquet")
    assert run(command, "compress", "in", "-o", "out", *BUDGET).returncode == 0
    words = ["compress", "in/a.parquet", "in/b.parquet"]
    assert run(command, *words, "-o", "one.parquet", "--metrics", "one-rows.parquet", *BUDGET).returncode == 0
    parts = [pq.read_table(tmp_path / "out" / name) for name in ("a.parquet", "b.parquet")]
    one = pq.read_table(tmp_path / "one.parquet")
    assert pa.concat_tables(parts).equals(one)
    for number in (1, 2, 3):
        named = ["-o", f"part-{number}.parquet", "--metrics", f"rows-{number}.parquet"]
        ended = run(command, *words, "--shard", f"{number}/3", *named, *BUDGET)
        assert ended.returncode == 0, ended.stderr
    shards = [f"part-{number}.parquet" for number in (1, 2, 3)]
    ended = run(command, "merge", *shards, "-o", "merged.parquet")
    assert ended.returncode == 0, ended.stderr
    assert pq.read_table(tmp_path / "merged.parquet").equals(one)
    timeless = [name for name in pq.read_schema(tmp_path / "one-rows.parquet").names if name != "duration_ms"]
    one, merged = (pq.read_table(tmp_path / name, columns=timeless) for name in ("one-rows.parquet", "merged.metrics.parquet"))
    assert merged.equals(one)
    totals = [json.loads((tmp_path / f"{name}.summary.json").read_text()) for name in ("one", "merged")]
    assert totals[0]["records_by_status"] == totals[1]["records_by_status"]


def test_rejected_rows_are_left_out(run, command, tmp_path):
    table = pa.table({"n": [0, 1, 2], "conversations": [[{"from": "human", "value": "Hi"}], None, [{"from": "human", "value": "Ho"}]]})
    pq.write_table(table, tmp_path / "in.parquet")
    assert run(command, "compress", "in.parquet", "-o", "out.parquet", "--quiet").returncode == 3
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == table.take([0, 2]).to_pylist()
    assert len(records(tmp_path / "out.rejects.jsonl")) == 1


def test_a_killed_run_ends_with_the_same_bytes(run, command, tmp_path):
    rows = records(FIXTURE) * 25
    pq.write_table(pa.Table.from_pylist([{**row, "n": index} for index, row in enumerate(rows)]), tmp_path / "in.parquet")
    words = ["compress", "in.parquet", "--metrics", "m.parquet", "--jobs", "1", *BUDGET]
    assert run(command, *words, "-o", "whole.parquet").returncode == 0
    whole = (tmp_path / "whole.parquet").read_bytes()
    (tmp_path / "m.parquet").rename(tmp_path / "whole_m.parquet")
    killed = 0
    for wait in (0.3, 0.8, 1.5, 2.0, 2.3, 2.6):
        # The end of a run, where rows are made of lines, is killed as well.
        resume = ["--resume"] if (tmp_path / "out.checkpoint").exists() else []
        child = subprocess.Popen([command, *words, *resume, "-o", "out.parquet"], cwd=tmp_path, env=environment(), stderr=subprocess.PIPE)
        started = time.monotonic()
        while child.poll() is None and time.monotonic() - started < wait and not (tmp_path / "out.parquet.rows").exists():
            time.sleep(0.005)
        if child.poll() is None:
            child.send_signal(signal.SIGKILL)
            killed += 1
        child.communicate()
    assert killed > 1
    ended = run(command, *words, "-o", "out.parquet", "--resume")
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "out.parquet").read_bytes() == whole
    left = {path.name for path in tmp_path.glob("*") if not path.name.startswith(("in", "whole"))}
    assert left == {"out.parquet", "out.summary.json", "m.parquet"}
    timeless = [name for name in pq.read_schema(tmp_path / "m.parquet").names if name != "duration_ms"]
    assert pq.read_table(tmp_path / "m.parquet", columns=timeless).equals(pq.read_table(tmp_path / "whole_m.parquet", columns=timeless))


def test_what_cannot_be_read_or_written_is_said_before_the_run(run, command, program, tmp_path):
    with_pyarrow(records(FIXTURE)[:2], tmp_path / "a.parquet")
    pq.write_table(pa.table({"conversations": [1]}), tmp_path / "b.parquet")
    ended = run(command, "compress", "a.parquet", "b.parquet", "-o", "out.parquet")
    assert ended.returncode == 2 and b'column "conversations" of b.parquet' in ended.stderr
    ended = run(command, "count", "-", input=(tmp_path / "a.parquet").read_bytes())
    assert ended.returncode == 2 and b"name the file" in ended.stderr
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:-100])
    ended = run(command, "count", "cut.parquet")
    assert ended.returncode != 0 and b"cut.parquet" in ended.stderr
    # The program of the default build has no code for it.
    for words in (["count", "a.parquet"], ["compress", FIXTURE, "-o", "x.parquet"], ["compress", FIXTURE, "-o", "x.jsonl", "--metrics", "m.parquet"]):
        ended = run(program, *words)
        assert ended.returncode == 2 and b"--features parquet" in ended.stderr, ended.stderr
