"""NeMo AutoModel: `ChatDataset`, and the agent data set's `_format_example` (both with TRL's training template too)."""

import json
import pathlib
import tempfile

PACKAGES = ["nemo-automodel", "transformers"]
STUBBED = "nothing of the data code; no model is loaded"
# Masks by rendering prefixes need a template that renders a turn the same wherever it stands: Qwen3's own is none.
MODES = {"default": {}, "training-template": {"training": True}, "agent-chat": {"agent": True, "training": True},
         "truncate": {"training": True, "truncation": True}}


def make(mode, tokenizer_folder):
    from nemo_automodel.components.datasets.llm import agent_chat
    from nemo_automodel.components.datasets.llm.chat_dataset import ChatDataset
    from transformers import AutoTokenizer
    from adapters import Outcome, refused

    settings = dict(MODES[mode])
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    if settings.pop("training", False):
        import trl
        template = pathlib.Path(trl.__file__).parent / "chat_templates" / "qwen3_training.jinja"
        tokenizer.chat_template = template.read_text(encoding="utf-8")
    make_sample = settings.pop("agent", False)

    def chat(row, max_length):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "records.jsonl")
            path.write_text(json.dumps(row) + "\n", encoding="utf-8")
            return ChatDataset([str(path)], tokenizer, seq_length=max_length, **settings)[0]

    def agent(row, max_length):
        return agent_chat._format_example(row, tokenizer, tokenizer.eos_token_id, tokenizer.pad_token_id, seq_length=max_length)

    def encode(record, max_length=None):
        row = {key: value for key, value in record.items() if key != "id"}
        try:
            sample = (agent if make_sample else chat)(row, max_length)
        except Exception as error:
            return refused(error)
        # The labels are shifted: the first token has none, the last is only a label.
        ids = sample["input_ids"] + [sample["labels"][-1] if sample["labels"][-1] != -100 else tokenizer.eos_token_id]
        return Outcome("accepted", "", ids, [-100, *sample["labels"]])

    return encode
