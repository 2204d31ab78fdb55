"""verl: `MultiTurnSFTDataset` on a Parquet file."""

import pathlib
import tempfile

PACKAGES = ["verl", "transformers", "datasets"]
STUBBED = ("verl's package files (`import verl` starts ray), verl.models.transformers.qwen2_vl (positions of images), tensordict; "
           "no model is loaded")
MODES = {"default": {}, "ignore-mismatch": {"ignore_input_ids_mismatch": True}}


def make(mode, tokenizer_folder):
    import stubs
    stubs.bare("verl", "utils", "models", "models.transformers", "utils.dataset", "utils.tokenizer")
    stubs.anything("verl.models.transformers.qwen2_vl")
    stubs.anything("tensordict")
    import sys
    sys.modules["verl.utils"].hf_tokenizer = None
    from verl.utils.dataset.multiturn_sft_dataset import MultiTurnSFTDataset
    import pyarrow
    from pyarrow import parquet
    from transformers import AutoTokenizer
    from adapters import Outcome, refused

    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)

    def encode(record, max_length=None):
        column = "messages" if "messages" in record else "conversations"
        config = {"messages_key": column, "max_length": max_length or 1 << 20, "pad_mode": "no_padding", **MODES[mode]}
        with tempfile.TemporaryDirectory() as folder:
            path = str(pathlib.Path(folder, "records.parquet"))
            try:
                parquet.write_table(pyarrow.Table.from_pylist([{key: record[key] for key in record if key != "id"}]), path)
                kept = MultiTurnSFTDataset(path, tokenizer, config)
                row = kept[0]
            except Exception as error:
                return refused(error)
        ids, mask = row["input_ids"].tolist(), row["loss_mask"].tolist()
        return Outcome("accepted", "", ids, [token if on else -100 for token, on in zip(ids, mask)])

    return encode
