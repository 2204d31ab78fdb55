"""Ray Data: order, bytes, reports, and an actor that is killed."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import ray
import trajfit
import trajfit.ray
from engine_run import BUDGET, Killing, Program, input_lines, same_reports, write_lines


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, configure_logging=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


@pytest.fixture
def lines(tmp_path):
    lines = input_lines()
    write_lines(tmp_path / "in.jsonl", lines)
    return lines


def written(dataset, folder):
    """The lines of the files that are written, in the order of their names."""
    trajfit.ray.write_lines(dataset, str(folder))
    return [line for path in sorted(folder.iterdir()) for line in path.read_bytes().splitlines()]


def test_lines_are_those_of_the_program_in_their_order(tmp_path, lines):
    program = Program(tmp_path)
    fitter = trajfit.Fitter(max_tokens=BUDGET)
    dataset = trajfit.ray.read_lines(str(tmp_path / "in.jsonl")).repartition(7)
    fitted = trajfit.ray.fit(dataset, fitter, column="line", concurrency=2, batch_size=5)
    assert written(fitted.data, tmp_path / "out") == program.records()
    rejects = fitted.rejects.take_all()
    assert len(rejects) == 1 and rejects[0]["line"].endswith(b"cut")
    assert rejects[0]["reason"].startswith("invalid_json")
    report = fitted.report(tmp_path / "reports")
    same_reports(program, report, tmp_path / "reports")
    assert report["records"] == len(lines)
    # However many actors Ray starts.
    assert trajfit.ray.fit(dataset, fitter, column="line").report() == report
    statuses = [row["status"] for row in fitted.metrics.take_all()]
    assert statuses.count("compressed") == report["records_by_status"]["compressed"] > 10


def test_rows_keep_columns_and_types(tmp_path):
    records = [json.loads(line) for line in input_lines() if not line.endswith("cut")]
    table = pa.table(
        {
            "n": pa.array(range(len(records)), pa.int16()),
            "conversations": pa.Table.from_pylist([{"c": record["conversations"]} for record in records]).column("c"),
        }
    )
    pq.write_table(table, tmp_path / "in.parquet")
    program = Program(tmp_path, source="in.parquet", output="out.parquet")
    dataset = ray.data.read_parquet(str(tmp_path / "in.parquet")).repartition(5)
    fitted = trajfit.ray.fit(dataset, trajfit.Fitter(max_tokens=BUDGET), concurrency=2, batch_size=7)
    rows = pa.concat_tables(list(fitted.data.iter_batches(batch_format="pyarrow", batch_size=None)))
    expected = pq.read_table(program.output)
    assert rows.schema.equals(expected.schema) and rows.equals(expected)


def test_a_killed_actor_is_replaced_and_nothing_is_paid_twice(tmp_path, lines):
    killing = Killing(tmp_path)
    fitter = trajfit.Fitter(max_tokens=BUDGET, **killing.keys)
    dataset = trajfit.ray.read_lines(str(tmp_path / "in.jsonl")).repartition(8)
    fitted = trajfit.ray.fit(dataset, fitter, column="line", concurrency=2, batch_size=4, cache=str(tmp_path / "cache"))
    assert written(fitted.data, tmp_path / "out") == killing.program.records()
    killing.check(workers=2)
    same_reports(killing.program, fitted.report(tmp_path / "reports"), tmp_path / "reports")


def test_what_is_broken_is_raised():
    dataset = ray.data.from_items([{"text": "no record"}])
    with pytest.raises(Exception, match="invalid_json"):
        trajfit.ray.fit(dataset, trajfit.Fitter(on_invalid="fail"), column="text")
    with pytest.raises(TypeError, match="must be a trajfit.Fitter"):
        trajfit.ray.fit(dataset, {"max_tokens": 1000})
