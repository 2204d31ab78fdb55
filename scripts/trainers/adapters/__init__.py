"""What each trainer does with one record, by its own code: one module a trainer, loaded in the environment of that trainer.

A module has `PACKAGES` (whose versions count), `STUBBED` (what is not real), `MODES` (settings that change the outcome) and
`make(mode, tokenizer_folder)`, which returns `encode(record, max_length) -> Outcome`.
"""

import dataclasses

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
    return Outcome("refused", f"{type(error).__name__}: {error}")


def own_columns(record):
    """The record without its id, and without columns of nothing, as a data set of such records has it."""
    return {key: value for key, value in record.items() if key not in ("id", "compression_metrics")}


def is_sharegpt(record):
    return "conversations" in record
