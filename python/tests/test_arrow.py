"""Tables in and out of a fitter by the Arrow C stream interface."""

import json

import datasets
import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import trajfit
from conftest import FIXTURE
from test_parquet import BUDGET, bare, chats, records

FITTER = trajfit.Fitter(max_tokens=15250)


def table(rows):
    return pa.Table.from_pylist([{"n": index, **row} for index, row in enumerate(rows)])


@pytest.fixture(scope="module")
def sharegpt():
    return table(records(FIXTURE))


@pytest.fixture
def by_program(run, command, tmp_path, sharegpt):
    pq.write_table(sharegpt, tmp_path / "in.parquet")
    assert run(command, "compress", "in.parquet", "-o", "out.parquet", *BUDGET).returncode == 0
    return pq.read_table(tmp_path / "out.parquet")


def test_a_table_is_fitted_as_the_program_fits_its_file(sharegpt, by_program):
    fitted = pa.table(FITTER.fit(sharegpt))
    assert fitted.schema.equals(by_program.schema)
    assert fitted.equals(by_program)


def test_readers_data_frames_and_relations_are_tables(sharegpt, by_program, tmp_path):
    expected = by_program.to_pylist()
    reader = sharegpt.to_reader(max_chunksize=3)
    assert pa.table(FITTER.fit(reader)).to_pylist() == expected
    frame = polars.DataFrame(FITTER.fit(polars.from_arrow(sharegpt)))
    assert frame.to_dicts() == expected
    relation = duckdb.sql("select * from sharegpt order by n")
    fitted = pa.table(FITTER.fit(relation))
    assert duckdb.sql("select * from fitted order by n").to_arrow_table().to_pylist() == expected
    data = datasets.Dataset.from_list(sharegpt.to_pylist()).with_format("arrow")
    fitted = datasets.Dataset(pa.table(FITTER.fit(data[:])))
    assert fitted.to_list() == expected


def test_results_taken_one_by_one_leave_the_rest_for_the_table(sharegpt):
    results = FITTER.fit(sharegpt)
    first = next(results)
    rest = pa.table(results)
    assert rest.num_rows == sharegpt.num_rows - 1
    assert json.loads(first.record)["n"] == 0 and rest["n"].to_pylist()[0] == 1
    assert results.report()["records"] == sharegpt.num_rows
    # Batches whose results were all taken one by one are forgotten.
    batches = sharegpt.to_reader(max_chunksize=3)
    results = FITTER.fit(batches)
    for _ in range(7):
        next(results)
    assert pa.table(results)["n"].to_pylist() == list(range(7, sharegpt.num_rows))
    assert pa.table(results).num_rows == sharegpt.num_rows - 7
    taken = FITTER.fit(sharegpt)
    assert len(list(taken)) == sharegpt.num_rows and pa.table(taken).num_rows == 0


def test_a_library_may_ask_for_the_table_more_than_once(sharegpt):
    results = FITTER.fit(sharegpt)
    counts = duckdb.sql("select count(*), sum(n) from results").fetchall()
    assert counts == [(sharegpt.num_rows, sum(range(sharegpt.num_rows)))]
    assert pa.table(results).equals(pa.table(FITTER.fit(sharegpt)))


def test_records_that_are_no_table_become_one(sharegpt):
    lines = FIXTURE.read_bytes().splitlines()
    fitted = pa.table(FITTER.fit(lines))
    many = pa.table(FITTER.fit(lines[:1] * 3000))
    assert many.num_rows == 3000 and len(many.column(0).chunks) > 2
    assert bare(fitted.to_pylist()) == [json.loads(result.record) for result in FITTER.fit(lines)]


def test_nested_calls_and_json_text_are_kept():
    messages = table(chats())
    fitted = pa.table(FITTER.fit(messages))
    assert fitted.schema.equals(messages.schema)
    texts = pa.table({"messages": [json.dumps(row["messages"]) for row in chats()]})
    kept = pa.table(FITTER.fit(texts))
    assert kept.schema.equals(texts.schema)
    for old, result, new in zip(texts["messages"].to_pylist(), FITTER.fit(texts), kept["messages"].to_pylist()):
        assert (old == new) == result.is_unchanged


def test_rejected_rows_are_left_out_and_unrolled_ones_repeated(sharegpt):
    rows = pa.table({"n": [0, 1, 2], "conversations": [[{"from": "human", "value": "Hi"}], None, [{"from": "human", "value": "Ho"}]]})
    assert pa.table(FITTER.fit(rows)).equals(rows.take([0, 2]))
    unrolled = pa.table(trajfit.Fitter(max_tokens=8000).unroll(sharegpt))
    assert unrolled.num_rows > sharegpt.num_rows
    assert sorted(set(unrolled["n"].to_pylist())) == list(range(sharegpt.num_rows))


def test_other_methods_take_tables(sharegpt):
    lines = FIXTURE.read_bytes().splitlines()
    assert FITTER.count(sharegpt)["records"] == len(lines)
    assert FITTER.check(sharegpt)["records"] == len(lines)


def test_what_a_reader_raises_is_raised(sharegpt):
    def batches():
        yield from sharegpt.to_batches()
        raise RuntimeError("the source broke")

    reader = pa.RecordBatchReader.from_batches(sharegpt.schema, batches())
    with pytest.raises(trajfit.StoppedError, match="the source broke"):
        pa.table(FITTER.fit(reader))


def test_values_that_no_type_holds_are_an_error_that_names_the_column():
    rows = pa.table({"conversations": [[{"from": "human", "value": "Hi"}]], "compression_metrics": [1]})
    fitter = trajfit.Fitter(max_tokens=15250, per_trajectory="all")
    with pytest.raises(trajfit.StoppedError, match="compression_metrics"):
        pa.table(fitter.fit(rows))


def test_columns_without_values_categories_and_bytes_are_read():
    frame = polars.DataFrame({"conversations": [[{"from": "human", "value": "Hi"}]], "nothing": [None]})
    rows = frame.to_arrow()
    assert pa.table(FITTER.fit(rows)).to_pylist() == frame.to_dicts()
    # polars hands over such columns with a buffer, which Arrow has none for.
    with pytest.raises(trajfit.StoppedError, match="give columns without values a type"):
        pa.table(FITTER.fit(frame))
    turns = json.dumps([{"from": "human", "value": "Hi"}])
    for column in (pa.array([turns] * 2).dictionary_encode(), pa.array([turns.encode()] * 2)):
        rows = pa.table({"conversations": column})
        assert pa.table(FITTER.fit(rows)).equals(rows)
    category = polars.DataFrame({"conversations": polars.Series([turns, turns], dtype=polars.Categorical)})
    assert polars.DataFrame(FITTER.fit(category))["conversations"].to_list() == [turns, turns]


def test_a_summary_has_parts_where_a_column_has_them():
    rows = chats()
    for row in rows:
        for message in row["messages"]:
            if message.get("content") is not None:
                message["content"] = [{"type": "text", "text": message["content"]}]
    messages = table(rows)
    for placement in ("auto", "human", "merge"):
        fitted = pa.table(trajfit.Fitter(max_tokens=15250, summary_placement=placement).fit(messages))
        assert fitted.schema.equals(messages.schema)
        assert not fitted.equals(messages)
