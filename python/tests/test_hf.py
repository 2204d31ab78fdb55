"""Datasets of the library `datasets`: order, values and types, JSON as it was written, rejects, reports."""

import json
import sys
from pathlib import Path

import datasets
import pytest
import trajfit
import trajfit.hf

sys.path.append(str(Path(__file__).with_name("engines")))
from engine_run import BUDGET, Program, input_lines, same_reports, write_lines  # noqa: E402

datasets.disable_progress_bars()


@pytest.fixture
def fitter():
    return trajfit.Fitter(max_tokens=BUDGET)


@pytest.mark.parametrize("num_proc", [None, 2])
def test_json_in_a_column_is_kept_as_written(tmp_path, fitter, num_proc):
    lines = input_lines()
    write_lines(tmp_path / "in.jsonl", lines)
    program = Program(tmp_path)
    data = datasets.Dataset.from_dict({"n": range(len(lines)), "line": lines})
    fitted = trajfit.hf.fit(data, fitter, column="line", batch_size=9, num_proc=num_proc)
    assert [line.encode() for line in fitted.data["line"]] == program.records()
    assert fitted.data.features == data.features
    (rejected,) = fitted.rejects
    assert rejected["line"] == lines[rejected["n"]] and rejected["reason"].startswith("invalid_json")
    report = fitted.report(tmp_path / "reports")
    same_reports(program, report, tmp_path / "reports")
    assert fitted.metrics["status"].count("compressed") == report["records_by_status"]["compressed"]
    assert fitted.metrics.features["original_tokens"].dtype == "int64"


def test_rows_keep_features_and_values(tmp_path, fitter):
    records = [json.loads(line) for line in input_lines() if not line.endswith("cut")]
    rows = {"n": range(len(records)), "conversations": [record["conversations"] for record in records]}
    features = {"n": datasets.Value("uint16"), "conversations": datasets.List({"from": datasets.Value("string"), "value": datasets.Value("string")})}
    data = datasets.Dataset.from_dict(rows, features=datasets.Features(features))
    data.to_parquet(tmp_path / "in.parquet")
    program = Program(tmp_path, source="in.parquet", output="out.parquet")
    fitted = trajfit.hf.fit(data, fitter)
    assert fitted.data.features == data.features
    assert fitted.data.to_list() == datasets.Dataset.from_parquet(str(program.output), cache_dir=tmp_path / "cache").to_list()
    assert len(fitted.rejects) == 0 and len(fitted.metrics) == len(data)


def test_rows_that_are_rejected_stay_as_they_were(fitter):
    turns = [[{"from": "human", "value": "Hi"}], None, [{"from": "human", "value": "Ho"}], None]
    fitted = trajfit.hf.fit(datasets.Dataset.from_dict({"conversations": turns, "n": [1, 2, 3, 4]}), fitter, batch_size=3)
    assert fitted.data["n"] == [1, 3] and fitted.rejects["n"] == [2, 4]
    assert fitted.rejects["conversations"] == [None, None]


@pytest.mark.parametrize("column", [None, "line"])
def test_a_dataset_without_rows_stays_one(fitter, column):
    features = {"conversations": datasets.List({"from": datasets.Value("string"), "value": datasets.Value("string")})}
    features = datasets.Features({"n": datasets.Value("int64"), **features, "line": datasets.Value("string")})
    data = datasets.Dataset.from_dict({name: [] for name in features}, features=features)
    fitted = trajfit.hf.fit(data, fitter, column=column)
    assert fitted.data.features == data.features and len(fitted.data) == 0
    assert len(fitted.rejects) == 0 and fitted.rejects.column_names == [*features, "reason"]
    assert "status" in fitted.metrics.column_names and fitted.report()["records"] == 0


def test_a_second_call_is_answered_from_the_cache_of_datasets(tmp_path):
    log = tmp_path / "asked.log"
    script = tmp_path / "summarizer.py"
    script.write_text(
        "import json, sys\nfor line in sys.stdin:\n    open(sys.argv[1], 'a').write('asked\\n')\n"
        "    print(json.dumps({'summary': 'They worked.'}), flush=True)\n"
    )
    write_lines(tmp_path / "in.jsonl", [line for line in input_lines() if line.startswith('{"id": "')])
    data = datasets.Dataset.from_text(str(tmp_path / "in.jsonl"), cache_dir=tmp_path / "cache")
    answers = []
    for _ in range(2):
        fitter = trajfit.Fitter(max_tokens=BUDGET, summarizer="command", command=f"{sys.executable} {script} {log}")
        answers.append(trajfit.hf.fit(data, fitter, column="text").data["text"])
    assert list(answers[0]) == list(answers[1])
    paid = log.read_text().count("asked")
    assert paid > 0 and sum("They worked." in line for line in answers[0]) >= paid / 2
    trajfit.hf.fit(data, fitter, column="text")
    assert log.read_text().count("asked") == paid


def test_what_cannot_be_fitted_is_an_error_that_says_what_helps(fitter):
    data = datasets.Dataset.from_dict({"conversations": [[{"from": "human", "value": "Hi"}]]})
    with pytest.raises(TypeError, match="fit each split by itself"):
        trajfit.hf.fit(datasets.DatasetDict({"train": data}), fitter)
    with pytest.raises(trajfit.TrajfitError, match='no column "text"; they have conversations'):
        trajfit.hf.fit(data, fitter, column="text")
    with pytest.raises(trajfit.TrajfitError, match='a column "compression_metrics"'):
        trajfit.hf.fit(data, trajfit.Fitter(per_trajectory="all"))
    with pytest.raises(trajfit.StoppedError, match="invalid_json"):
        trajfit.hf.fit(datasets.Dataset.from_dict({"text": ["no record"]}), trajfit.Fitter(on_invalid="fail"), column="text")
