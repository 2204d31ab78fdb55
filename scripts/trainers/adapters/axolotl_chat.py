"""axolotl: `chat_template` strategy, `handle_long_seq_in_dataset` and the dropping of samples without a trained token."""

PACKAGES = ["axolotl", "transformers", "datasets"]
STUBBED = "nothing of the data code; no model is loaded"
MODES = {
    "default": {},
    "train-field": {"message_field_training": "train"},
    "truncate": {"excess_length_strategy": "truncate"},
}


def entry(record, settings):
    """The entry under `datasets:` that fits the record."""
    made = {"path": "records.jsonl", "type": "chat_template", "chat_template": "tokenizer_default",
            "field_messages": "messages", "message_property_mappings": {"role": "role", "content": "content"},
            "roles_to_train": ["assistant"], "train_on_eos": "turn"}
    if "conversations" in record:
        made |= {"field_messages": "conversations", "message_property_mappings": {"role": "from", "content": "value"}}
    if "message_field_training" in settings:
        made["message_field_training"] = settings["message_field_training"]
    return made


def make(mode, tokenizer_folder):
    from axolotl.datasets import wrap_dataset_for_tokenized_prompt
    from axolotl.prompt_strategies.chat_template import StrategyLoader
    from axolotl.utils.data.utils import handle_long_seq_in_dataset
    from axolotl.utils.dict import DictDefault
    from axolotl.utils.trainer import process_datasets_for_packing
    from transformers import AutoTokenizer
    from adapters import Outcome, data_set, refused

    settings = MODES[mode]
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    strategies = {}

    def strategy_of(config, made):
        key = (made["field_messages"], config.sequence_len)
        if key not in strategies:
            strategies[key] = StrategyLoader()(tokenizer, config, made)
        return strategies[key]

    def encode(record, max_length=None):
        config = DictDefault({
            "train_on_inputs": False, "sequence_len": max_length or 1 << 20, "min_sample_len": 2, "is_preprocess": True,
            "excess_length_strategy": settings.get("excess_length_strategy")})
        try:
            strategy = strategy_of(config, entry(record, settings))
            tokenized = wrap_dataset_for_tokenized_prompt(strategy, data_set(record))
            tokenized.prompt_tokenizer = None  # every filter copies it, tokenizer and all: a second a record
            kept = handle_long_seq_in_dataset(tokenized, config.sequence_len, config)
            if len(kept) == 0:
                return Outcome("dropped", "sequence outside the valid range of lengths")
            try:
                kept, _ = process_datasets_for_packing(config, kept, None)
            except ValueError as error:
                if "no samples left" not in str(error):
                    raise
                return Outcome("dropped", "no trainable tokens")
        except Exception as error:
            return refused(error)
        return Outcome("accepted", "", kept[0]["input_ids"], kept[0]["labels"])

    return encode
