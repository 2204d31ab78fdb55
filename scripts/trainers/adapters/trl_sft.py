"""TRL: `SFTTrainer._prepare_dataset` (conversion, tokens, labels, truncation), without a model."""

import pathlib
import types

PACKAGES = ["trl", "transformers", "datasets"]
STUBBED = "the trainer object: three fields that _prepare_dataset reads; no model is loaded"
STRICT = pathlib.Path(__file__).resolve().parents[3] / "fixtures" / "chat_templates" / "strict_alternation.jinja"
MODES = {
    "default": {},
    # TRL swaps its own templates in only for those that it knows to the letter: its copy of Qwen3's is one of them.
    "assistant-only-loss": {"assistant_only_loss": True, "own_template": "qwen3.jinja"},
    "strict-template": {"template": STRICT},
}


def make(mode, tokenizer_folder):
    import trl
    from transformers import AutoTokenizer
    from trl import SFTConfig
    from trl.chat_template_utils import get_training_chat_template, has_generation_markers
    from trl.trainer.sft_trainer import SFTTrainer
    from adapters import Outcome, data_set, refused

    settings = MODES[mode]
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    if "template" in settings:
        tokenizer.chat_template = settings["template"].read_text(encoding="utf-8")
        tokenizer.bos_token = tokenizer.bos_token or "<|endoftext|>"
    if "own_template" in settings:
        folder = pathlib.Path(trl.__file__).parent / "chat_templates"
        tokenizer.chat_template = (folder / settings["own_template"]).read_text(encoding="utf-8")
    only = settings.get("assistant_only_loss", False)
    # The template as SFTTrainer.__init__ chooses it.
    training_template = None
    if only and not has_generation_markers(tokenizer.chat_template):
        training_template = get_training_chat_template(tokenizer)
    trainer = types.SimpleNamespace(_tokenizer=tokenizer, chat_template=training_template, completion_only_loss=False)

    def encode(record, max_length=None):
        config = SFTConfig(output_dir="unused", max_length=max_length, assistant_only_loss=only, use_cpu=True, bf16=False,
                           report_to="none", shuffle_dataset=False)
        try:
            prepared = SFTTrainer._prepare_dataset(
                trainer, data_set(record), tokenizer, config, False, None, "train")
        except Exception as error:
            return refused(error)
        if len(prepared) == 0:
            return Outcome("dropped", "all labels are masked")
        return Outcome("accepted", "", prepared[0]["input_ids"], prepared[0]["labels"])

    return encode
