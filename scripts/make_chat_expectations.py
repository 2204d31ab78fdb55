#!/usr/bin/env python3
"""Writes what Python renders for chats and chat templates: fixtures/chat_templates/expected*.json.

Usage: make_chat_expectations.py [--templates FOLDER] [--tokenizers FOLDER]

    python3 -m venv chat-venv && chat-venv/bin/pip install transformers==5.23.0 jinja2==3.1.6 tokenizers==0.23.2
    scripts/fetch-templates.sh
    chat-venv/bin/python scripts/make_chat_expectations.py

Everything goes through `apply_chat_template` with `add_generation_prompt=False`; the clock stands still at noon of
26 July 2024. Templates: those of fixtures/chat_templates and what lies in the two folders (default: target/templates as
scripts/fetch-templates.sh fills it, target/tokenizers with a folder for each tokenizer). The former get their full
text, the others its length in characters and the first 16 digits of its SHA-256, in the order of chats.jsonl. A refusal stands as `!` and what the
template said, or `!` alone where the engine failed.
"""

import argparse
import datetime
import hashlib
import json
import pathlib
import sys
import time

PINNED = {"transformers": "5.23.0", "jinja2": "3.1.6", "tokenizers": "0.23.2"}
ROOT = pathlib.Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures" / "chat_templates"
# What templates that come without a tokenizer are given.
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
NOON = datetime.datetime(2024, 7, 26, 12, 0, 0)

try:
    import jinja2
    import tokenizers
    import transformers
    from transformers.utils import chat_template_utils
except ImportError as error:
    sys.exit(f"{error}\n{__doc__}")


class StandingClock(datetime.datetime):
    """A clock that always says the same."""

    @classmethod
    def now(cls, tz=None):
        return NOON


def check_versions():
    for module in (jinja2, tokenizers, transformers):
        if module.__version__ != PINNED[module.__name__]:
            wanted = " ".join(f"{name}=={version}" for name, version in PINNED.items())
            sys.exit(f"{module.__name__} is {module.__version__}; pip install {wanted}")


def bare_tokenizer():
    """A tokenizer of nothing but special tokens."""
    model = tokenizers.Tokenizer(tokenizers.models.WordLevel({"<unk>": 0}, unk_token="<unk>"))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=model, **SPECIAL)


def render(tokenizer, chat, template=None):
    """The text, or `!` and why there is none."""
    try:
        return tokenizer.apply_chat_template(
            chat["messages"],
            tools=chat.get("tools"),
            chat_template=template,
            add_generation_prompt=False,
            tokenize=False,
        )
    except jinja2.exceptions.TemplateError as error:
        raised = type(error) is jinja2.exceptions.TemplateError
        return f"!{error.message}" if raised else "!"
    except Exception:
        return "!"


def digest(text):
    """What stands for a long text."""
    if text.startswith("!"):
        return text
    return f"{len(text)} {hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def write(name, value):
    path = FIXTURES / name
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--templates", type=pathlib.Path, default=ROOT / "target" / "templates")
    parser.add_argument("--tokenizers", type=pathlib.Path, default=ROOT / "target" / "tokenizers")
    arguments = parser.parse_args()
    check_versions()
    chat_template_utils.datetime = StandingClock
    # %c and the like are the machine's; names of days and months must be English.
    time.tzset()
    lines = (FIXTURES / "chats.jsonl").read_text(encoding="utf-8").split("\n")
    chats = [json.loads(line) for line in lines if line]
    bare = bare_tokenizer()

    own = {}
    for path in sorted(FIXTURES.glob("*.jinja")):
        template = path.read_text(encoding="utf-8")
        own[path.name] = {chat["name"]: render(bare, chat, template) for chat in chats}
    write("expected.json", {"versions": PINNED, "templates": own})

    data, *snippets = (FIXTURES / "snippets.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    message = {"role": "user", "content": "", "data": json.loads(data)}
    prefix = "{%- set d = messages[0].data -%}"
    texts = [render(bare, {"messages": [message]}, prefix + snippet) for snippet in snippets]
    write("expected_snippets.json", {"versions": PINNED, "snippets": list(zip(snippets, texts))})

    real = {}
    for path in sorted(arguments.templates.glob("*/*.jinja")):
        # Windows line ends must reach the engine.
        template = path.read_bytes().decode("utf-8")
        sha256 = hashlib.sha256(template.encode("utf-8")).hexdigest()
        texts = [digest(render(bare, chat, template)) for chat in chats]
        real[f"{path.parent.name}/{path.name}"] = {"sha256": sha256, "chats": texts}
    for folder in sorted(arguments.tokenizers.glob("*")):
        config = folder / "tokenizer_config.json"
        if not config.exists() or "chat_template" not in json.loads(config.read_text(encoding="utf-8")):
            continue
        tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(str(folder))
        sha256 = hashlib.sha256(config.read_bytes()).hexdigest()
        texts = [digest(render(tokenizer, chat)) for chat in chats]
        real[f"tokenizers/{folder.name}"] = {"sha256": sha256, "chats": texts}
        named = json.loads(config.read_text(encoding="utf-8"))["chat_template"]
        for template in named if isinstance(named, list) else []:
            texts = [digest(render(bare, chat, template["template"])) for chat in chats]
            real[f"tokenizers/{folder.name}#{template['name']}"] = {"sha256": sha256, "chats": texts}
    write("expected_real.json", {"versions": PINNED, "templates": real})
    refused = sum(text.startswith("!") for one in real.values() for text in one["chats"])
    total = sum(len(one["chats"]) for one in real.values())
    print(f"{len(real)} real templates, {total} cases, {refused} of them refusals")


if __name__ == "__main__":
    main()
