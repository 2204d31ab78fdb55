"""Unsloth: `standardize_data_formats` and `train_on_responses_only` around the tokenizer's chat template."""

PACKAGES = ["unsloth_zoo", "transformers", "datasets"]
STUBBED = ("unsloth_zoo's package file (it wants a GPU); the rendering between the two functions is the notebooks' formatting "
           "function, the cut at max_length a slice as in sft_prepare_dataset; no model is loaded")
MODES = {"default": {}}


def make(mode, tokenizer_folder):
    import stubs
    stubs.bare("unsloth_zoo")
    from unsloth_zoo.dataset_utils import standardize_data_formats, train_on_responses_only
    from transformers import AutoTokenizer
    from adapters import Outcome, data_set, refused

    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    mask = train_on_responses_only(
        None, instruction_part="<|im_start|>user\n", response_part="<|im_start|>assistant\n", tokenizer=tokenizer, return_function=True)

    def encode(record, max_length=None):
        try:
            row = standardize_data_formats(data_set(record))[0]
            turns = row.get("conversations") or row.get("messages")
            text = tokenizer.apply_chat_template(turns, tokenize=False)
            ids = tokenizer(text, add_special_tokens=False)["input_ids"][:max_length]
            labels = mask({"input_ids": [ids]})["labels"][0]
        except Exception as error:
            return refused(error)
        if all(label == -100 for label in labels):
            return Outcome("dropped", "all labels are masked")
        return Outcome("accepted", "", ids, [int(label) for label in labels])

    return encode
