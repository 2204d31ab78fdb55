"""torchtune: `chat_dataset`'s message transforms, `SFTTransform` and the tokenizer of Qwen 2.5."""

import json
import pathlib
import tempfile

PACKAGES = ["torchtune", "datasets"]
STUBBED = ("torchao (every name, none used by the data code); the vocabulary is Qwen3's, written as vocab.json and merges.txt; "
           "no model is loaded")
MODES = {"default": {}}


def make(mode, tokenizer_folder):
    import stubs
    stubs.anything("torchao")
    from torchtune.data import OpenAIToMessages, ShareGPTToMessages
    from torchtune.datasets._sft import SFTTransform
    from torchtune.models.qwen2_5._tokenizer import Qwen2_5Tokenizer
    from adapters import Outcome, data_set, refused

    model = json.loads((pathlib.Path(tokenizer_folder) / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "vocab.json").write_text(json.dumps(model["vocab"], ensure_ascii=False), encoding="utf-8")
    pairs = [pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]]
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(pairs) + "\n", encoding="utf-8")

    def encode(record, max_length=None):
        if "messages" in record:
            transform = OpenAIToMessages()
        else:
            transform = ShareGPTToMessages()
        try:
            row = data_set(record)[0]
            tokenizer = Qwen2_5Tokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"), max_seq_len=max_length)
            sample = SFTTransform(message_transform=transform, model_transform=tokenizer)(row)
        except Exception as error:
            return refused(error)
        return Outcome("accepted", "", list(sample["tokens"]), [int(label) for label in sample["labels"]])

    return encode
