"""What each trainer does with one record, by its own code: one module a trainer, loaded in the environment of that trainer.

A module has `PACKAGES` (whose versions count), `STUBBED` (what is not real), `MODES` (settings that change the outcome) and
`make(mode, tokenizer_folder)`, which returns `encode(record, max_length) -> Outcome`.
"""

import dataclasses
import json
import pathlib
import tempfile

# Name on the command line, environment under target/trainers, module here.
TRAINERS = {
    "datasets": ("trl", "load"),
    "llama-factory": ("llama-factory", "llama_factory"),
    "trl": ("trl", "trl_sft"),
    "axolotl": ("axolotl", "axolotl_chat"),
    "ms-swift": ("ms-swift", "ms_swift"),
    "verl": ("others", "verl_sft"),
    "openrlhf": ("others", "openrlhf_sft"),
    "torchtune": ("others", "torchtune_chat"),
    "unsloth": ("others", "unsloth_chat"),
    "nemo": ("others", "nemo_chat"),
}


@dataclasses.dataclass
class Outcome:
    """`accepted`, `dropped` (the trainer goes on without the record) or `refused` (the trainer's run ends)."""

    status: str
    message: str = ""
    ids: list = dataclasses.field(default_factory=list)
    labels: list = dataclasses.field(default_factory=list)


def refused(error):
    cause = f" ({error.__cause__})" if type(error).__name__ == "DatasetGenerationError" else ""
    return Outcome("refused", f"{type(error).__name__}: {error}{cause}")


def data_set(record):
    """A data set of this record alone, read from a file as trainers do: `datasets` decides what null and absent come to."""
    from datasets import load_dataset
    row = {key: value for key, value in record.items() if key != "id"}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "records.jsonl")
        path.write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
        return load_dataset("json", data_files=str(path), split="train", cache_dir=folder, keep_in_memory=True)
