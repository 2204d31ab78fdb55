"""Spark: order, bytes, reports, and a Python worker that is killed."""

import json
import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import trajfit
import trajfit.spark
from engine_run import BUDGET, Killing, Program, input_lines, same_reports, write_lines
from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Two workers; a task that fails is tried four times.
    session = (
        SparkSession.builder.master("local[2, 4]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "6")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture
def lines(tmp_path):
    lines = input_lines()
    write_lines(tmp_path / "in.jsonl", lines)
    return lines


def frame(spark, lines, partitions):
    """Lines in partitions that keep their order."""
    return spark.createDataFrame(spark.sparkContext.parallelize([(line,) for line in lines], partitions), "value string")


def written(df, folder):
    """The lines of the text files that Spark writes, in the order of their names."""
    df.write.text(str(folder))
    return [line for path in sorted(folder.glob("part-*")) for line in path.read_bytes().splitlines()]


def test_lines_are_those_of_the_program_in_their_order(spark, tmp_path, lines):
    program = Program(tmp_path)
    fitted = trajfit.spark.fit(frame(spark, lines, 5), trajfit.Fitter(max_tokens=BUDGET), column="value")
    assert written(fitted.data, tmp_path / "out") == program.records()
    rejects = fitted.rejects.collect()
    assert len(rejects) == 1 and rejects[0].value.endswith("cut")
    assert rejects[0].reason.startswith("invalid_json")
    report = fitted.report(tmp_path / "reports")
    same_reports(program, report, tmp_path / "reports")
    compressed = fitted.metrics.where("status = 'compressed'").count()
    assert compressed == report["records_by_status"]["compressed"] > 10
    fitted.unpersist()


def test_rows_keep_columns_and_types(spark, tmp_path):
    records = [json.loads(line) for line in input_lines() if not line.endswith("cut")]
    conversations = pa.Table.from_pylist([{"c": record["conversations"]} for record in records]).column("c")
    table = pa.table({"n": pa.array(range(len(records)), pa.int16()), "conversations": conversations})
    pq.write_table(table, tmp_path / "in.parquet")
    program = Program(tmp_path, source="in.parquet", output="out.parquet")
    df = spark.read.parquet(str(tmp_path / "in.parquet"))
    fitted = trajfit.spark.fit(df, trajfit.Fitter(max_tokens=BUDGET))
    assert fitted.data.schema == df.schema
    fitted.data.write.parquet(str(tmp_path / "out"))
    rows = pq.read_table(tmp_path / "out")
    assert rows.to_pylist() == pq.read_table(program.output).to_pylist()
    assert rows.schema.field("n").type == pa.int16()


def test_a_killed_worker_is_replaced_and_nothing_is_paid_twice(spark, tmp_path, lines):
    killing = Killing(tmp_path)
    fitter = trajfit.Fitter(max_tokens=BUDGET, **killing.keys)
    fitted = trajfit.spark.fit(frame(spark, lines, 6), fitter, column="value", cache=str(tmp_path / "cache"))
    assert written(fitted.data, tmp_path / "out") == killing.program.records()
    killing.check(workers=2)
    same_reports(killing.program, fitted.report(tmp_path / "reports"), tmp_path / "reports")


def test_what_is_broken_is_no_reject(spark):
    df = frame(spark, ["no record"], 1)
    fitted = trajfit.spark.fit(df, trajfit.Fitter(on_invalid="fail"), column="value")
    with pytest.raises(Exception, match="invalid_json"):
        fitted.data.count()
    with pytest.raises(trajfit.TrajfitError, match='no column "text"; they have value'):
        trajfit.spark.fit(df, trajfit.Fitter(), column="text")
    columns = trajfit.spark.fit(
        spark.createDataFrame([([("human", "Hi")],)], "conversations array<struct<from:string,value:string>>"),
        trajfit.Fitter(per_trajectory="all"),
    )
    with pytest.raises(Exception, match='a column "compression_metrics"'):
        columns.data.count()
