"""OpenRLHF: `SFTDataset` with `--data.multiturn` and the tokenizer's chat template."""

import types

PACKAGES = ["openrlhf", "transformers", "datasets"]
STUBBED = "the strategy object: the three arguments that SFTDataset reads; no model is loaded"
MODES = {"default": {}}


def make(mode, tokenizer_folder):
    from openrlhf.datasets.sft_dataset import SFTDataset
    from transformers import AutoTokenizer
    from adapters import Outcome, data_set, refused

    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)

    def encode(record, max_length=None):
        column = "messages" if "messages" in record else "conversations"
        data = types.SimpleNamespace(input_key=column, output_key=None, apply_chat_template=True, tokenizer_chat_template=None)
        strategy = types.SimpleNamespace(args=types.SimpleNamespace(data=data))
        try:
            kept = SFTDataset(data_set(record), tokenizer, max_length or 1 << 20, strategy, num_processors=None, multiturn=True)
            if len(kept) == 0:
                return Outcome("dropped", "prompt or response is empty, or the prompt is too long")
            ids, _, mask = kept[0]
        except Exception as error:
            return refused(error)
        ids = ids[0].tolist()
        # The mask of a token says whether the next one is predicted.
        trained = [False] + [bool(on) for on in mask[0].tolist()[:-1]]
        return Outcome("accepted", "", ids, [token if on else -100 for token, on in zip(ids, trained)])

    return encode
