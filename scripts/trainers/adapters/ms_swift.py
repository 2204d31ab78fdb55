"""ms-swift: `AutoPreprocessor` as `swift sft` calls it, and its template `qwen3` with the agent template that belongs to it."""

import json
import pathlib
import shutil
import tempfile

PACKAGES = ["ms-swift", "transformers", "datasets"]
STUBBED = "the model folder: a config.json that names Qwen3 beside the real tokenizer; no model is loaded"
MODES = {"default": {}, "truncate-right": {"truncation_strategy": "right"}}


def make(mode, tokenizer_folder):
    from swift.dataset import AutoPreprocessor
    from swift.model import get_processor
    from swift.template import get_template
    from swift.template.base import MaxLengthError
    from adapters import Outcome, data_set, refused

    folder = pathlib.Path(tempfile.mkdtemp(prefix="Qwen3-"))
    for file in pathlib.Path(tokenizer_folder).iterdir():
        shutil.copy(file, folder)
    (folder / "config.json").write_text(json.dumps({
        "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "torch_dtype": "bfloat16"}), encoding="utf-8")
    processor = get_processor(str(folder), model_type="qwen3")

    def encode(record, max_length=None):
        template = get_template(
            processor, template_type="qwen3", max_length=max_length or 1 << 20, loss_scale="default+ignore_empty_think",
            truncation_strategy=MODES[mode].get("truncation_strategy", "raise"))
        template.set_mode("train")
        try:
            rows = data_set(record)
        except Exception as error:
            return refused(error)
        try:
            data = AutoPreprocessor()(rows, load_from_cache_file=False, strict=True, enable_auto_mapping=True)
        except Exception as error:
            return Outcome("dropped", f"{type(error).__name__}: {error}")
        if len(data) == 0:
            return Outcome("dropped", "no messages")
        try:
            encoded = template.encode(data[0], return_length=True)
        except MaxLengthError as error:
            return Outcome("dropped", str(error))
        except Exception as error:
            # What the trainer calls deletes such a row, or takes another in its place (`strict` is false).
            return Outcome("dropped", f"{type(error).__name__}: {error}")
        return Outcome("accepted", "", list(encoded["input_ids"]), list(encoded["labels"]))

    return encode
