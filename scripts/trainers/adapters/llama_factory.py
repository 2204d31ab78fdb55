"""LLaMA-Factory: converter (`align_dataset`) and `SupervisedDatasetProcessor` with its own template `qwen3`."""

import logging
import types

PACKAGES = ["llamafactory", "transformers", "datasets"]
STUBBED = "torchaudio (an empty module: the plug-in for audio imports it); no model is loaded"
MODES = {"default": {}}

TAGS = {
    "sharegpt": {"role_tag": "from", "content_tag": "value", "user_tag": "human", "assistant_tag": "gpt",
                 "function_tag": "function_call", "system_tag": "system"},
    "openai": {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant",
               "observation_tag": "tool", "function_tag": "function_call", "system_tag": "system"},
}


class Log(logging.Handler):
    """The warnings that tell why a record is skipped."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


def entry(record):
    """The entry of `dataset_info.json` that fits the record best: only one name can stand for a tool's turns."""
    if "messages" in record:
        form, column = "openai", "messages"
        tags = TAGS[form]
    else:
        form, column = "sharegpt", "conversations"
        roles = {turn.get("from") for turn in record["conversations"]}
        tags = {**TAGS[form], "observation_tag": "tool" if "tool" in roles else "observation"}
    columns = {"messages": column, **{name: name for name in ("system", "tools") if name in record}}
    return {"formatting": form, "columns": columns, "tags": tags}


def make(mode, tokenizer_folder):
    import stubs
    stubs.empty("torchaudio")
    from llamafactory.data.converter import align_dataset
    from llamafactory.data.parser import DatasetAttr
    from llamafactory.data.processor import SupervisedDatasetProcessor
    from llamafactory.data.template import get_template_and_fix_tokenizer
    from llamafactory.hparams import DataArguments
    from transformers import AutoTokenizer
    from adapters import Outcome, data_set, refused

    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    template = get_template_and_fix_tokenizer(tokenizer, DataArguments(template="qwen3"))
    log = Log()
    for name in ("llamafactory.data.converter", "llamafactory.data.processor.supervised"):
        logging.getLogger(name).addHandler(log)
        logging.getLogger(name).propagate = False
    arguments = types.SimpleNamespace(local_process_index=0, should_log=False)

    def encode(record, max_length=None):
        log.lines.clear()
        attributes = DatasetAttr("file", dataset_name="records")
        attributes.join(entry(record))
        data = DataArguments(template="qwen3", cutoff_len=max_length or 1 << 20, overwrite_cache=True)
        try:
            aligned = align_dataset(data_set(record), attributes, data, arguments)
            processor = SupervisedDatasetProcessor(template=template, tokenizer=tokenizer, processor=None, data_args=data)
            encoded = aligned.map(processor.preprocess_dataset, batched=True, remove_columns=aligned.column_names)
        except Exception as error:
            return refused(error)
        if len(encoded) == 0:
            reason = next((line.split(" in ")[0] for line in log.lines if line.startswith("Invalid")), "")
            return Outcome("dropped", f"{reason}: Skipping this abnormal example.")
        return Outcome("accepted", "", encoded[0]["input_ids"], encoded[0]["labels"])

    return encode
