#!/usr/bin/env python3
"""Trains the small tokenizers of fixtures/tokenizers, one of every kind.

Usage: make_tokenizers.py [FOLDER]        (pip install tokenizers==0.23.2 tiktoken==0.14.0)

They are trained on the texts of fixtures/agent_runs.jsonl and on the phrases below, in eight scripts.
The byte-level files come out the same each time; for three the library breaks ties by chance, so that a few of
their tokens differ, and tests must not depend on which. The folder kimi/ is as Kimi K2's: ranks and special
tokens; its counts.json says what OpenAI's library counts with these ranks and each known split pattern.
"""

import base64

import json
import pathlib
import random
import sys

import tiktoken
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors,
                        trainers)

ROOT = pathlib.Path(__file__).resolve().parent.parent

PHRASES = [
    "The quick test of a small file: read it, change it, run it again. Don't we'll they've I'm HTTPServer fooBar",
    "Überprüfung der Größe: déjà vu, naïve façade, señor, źdźbło, čeština, Việt Nam",
    "Проверка файла прошла успешно, но тест всё ещё падает. Ошибка в строке 12",
    "文件已经修改，请重新运行测试。错误在第十二行。中文分词与计数",
    "ファイルを変更しました。テストをもう一度実行してください。エラーがあります",
    "파일을 수정했습니다. 테스트를 다시 실행하세요. 오류가 있습니다",
    "تم تعديل الملف، شغّل الاختبار مرة أخرى من فضلك. هناك خطأ في السطر",
    "फ़ाइल बदल दी गई है, कृपया परीक्षण फिर से चलाएँ। पंक्ति में त्रुटि है",
    "แก้ไขไฟล์แล้ว กรุณารันการทดสอบอีกครั้ง มีข้อผิดพลาดในบรรทัด",
    "Το αρχείο άλλαξε, τρέξε ξανά τη δοκιμή. Σφάλμα στη γραμμή",
]

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
QWEN35 = QWEN2.replace(r"\p{L}+", r"[\p{L}\p{M}]+").replace(r"[^\s\p{L}\p{N}]", r"[^\s\p{L}\p{M}\p{N}]")
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
TEKKEN = (rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*"
          r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = (TEKKEN.replace(f"{LOWER}+|", f"{LOWER}+{CONTRACTIONS}|").replace(f"{LOWER}*|", f"{LOWER}*{CONTRACTIONS}|")
         .replace(r"|\p{N}|", r"|\p{N}{1,3}|"))
DEEPSEEK = [
    r"\p{N}{1,3}",
    "[一-龥\u3040-ゟ゠-ヿ]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
]
HAN_UPPER, HAN_LOWER = (letters[:-1] + r"&&[^\p{Han}]]" for letters in (UPPER, LOWER))
KIMI = (r"[\p{Han}]+|" + O200K.replace(UPPER, HAN_UPPER).replace(LOWER, HAN_LOWER)).replace("[\\r\\n/]*", "[\\r\\n]*")
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

PARTS = ("a The fooBar HTTPServer Don't we'LL 'ſ x1 1234567 3.14 // -- __ () Größe cafe\u0301 Проверка 文件已经修改 中a A中 1〇 〇1 ⺀ .⺀ "
         " 中⺀文 々 〻 ファイル か\u3099 파일을 تم شغّل फ़ाइल แก้ไข 👩\u200d👩 ² Ⅷ ٣ \u0301 \u0000 [BOS] [EO S] <|im_end|> <|im_ end|> "
         "<|reserved_token_1509|> <|endoftext|> \U00016ff0 \U00020000").split(" ")
BLANKS = [" ", "  ", "\t", "\n", "\r\n", "\n\n", "\u00a0", "\u3000"]


def texts():
    """What is learnt from: the same in every run."""
    for line in (ROOT / "fixtures" / "agent_runs.jsonl").read_text("utf-8").splitlines()[:12]:
        for turn in json.loads(line)["conversations"]:
            yield turn["value"][:4000]
    for phrase in PHRASES:
        yield from [phrase] * 40


def splits(patterns, behavior="isolated", invert=False):
    parts = [pre_tokenizers.Split(Regex(pattern), behavior, invert=invert) for pattern in patterns]
    return pre_tokenizers.Sequence([*parts, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def byte_level(pre_tokenizer, normalizer=None, size=1500, **model):
    tokenizer = Tokenizer(models.BPE(**model))
    tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(texts(), trainer)
    return tokenizer


def qwen():
    tokenizer = byte_level(splits([QWEN2]), normalizers.NFC())
    tokenizer.add_special_tokens(["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    tokenizer.add_tokens([AddedToken(token, normalized=False) for token in ["<tool_call>", "</tool_call>", "<think>"]])
    tokenizer.add_tokens([AddedToken("café", normalized=True), AddedToken("<tool_call><think>", normalized=False)])
    return tokenizer


def llama3():
    """As a converter from ranks writes it: every pair that makes a token is a merge, in the order of the
    tokens; a piece that is in the vocabulary is one token even where no merge makes it."""
    tokenizer = byte_level(splits([LLAMA3]))
    state = json.loads(tokenizer.to_str())
    vocabulary = state["model"]["vocab"]
    for token in ["Donaudampfschiff", "xyzzyq", "ĠĊx", "ĠDonaudampfschiff", "测试测试", "ðŁĳ©âĢį"]:
        vocabulary.setdefault(token, len(vocabulary))
    merges = []
    for token in [token for token, _ in sorted(vocabulary.items(), key=lambda item: item[1])][:1500]:
        pairs = [(token[:cut], token[cut:]) for cut in range(1, len(token))]
        known = [pair for pair in pairs if pair[0] in vocabulary and pair[1] in vocabulary]
        merges += sorted(known, key=lambda pair: (vocabulary[pair[0]], vocabulary[pair[1]]))
    state["model"].update(merges=merges, ignore_merges=True)
    tokenizer = Tokenizer.from_str(json.dumps(state))
    tokenizer.add_special_tokens(["<|begin_of_text|>", "<|eot_id|>"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<|begin_of_text|> $A", special_tokens=[("<|begin_of_text|>", tokenizer.token_to_id("<|begin_of_text|>"))])
    return tokenizer


def deepseek():
    tokenizer = byte_level(splits(DEEPSEEK), normalizers.Sequence([]))
    tokenizer.add_special_tokens([AddedToken("<｜begin▁of▁sentence｜>", normalized=False, special=True)])
    tokenizer.add_tokens([AddedToken("<think>", normalized=True), AddedToken("<|EOT|>", normalized=True, special=True)])
    return tokenizer


def gpt_oss():
    tokenizer = byte_level(splits([O200K]))
    tokenizer.add_special_tokens(["<|start|>", "<|end|>", "<|channel|>"])
    return tokenizer


def gpt4o():
    return byte_level(splits([O200K], "removed", True))


def tekken():
    return byte_level(splits([TEKKEN]))


def qwen35():
    return byte_level(splits([QWEN35]), normalizers.NFC())


def gpt2():
    tokenizer = byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False))
    tokenizer.add_special_tokens(["<|endoftext|>", AddedToken("<mask>", lstrip=True), AddedToken("<end>", rstrip=True)])
    return tokenizer


def command_r():
    """As Cohere has it: every number apart, then split as GPT-2."""
    parts = [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    tokenizer = byte_level(pre_tokenizers.Sequence(parts), normalizers.NFC())
    tokenizer.add_special_tokens(["<BOS_TOKEN>", "<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>"])
    return tokenizer


def gemma2():
    """As `sentencepiece`, with no token for the byte of a tab, which is a token itself."""
    state = json.loads(sentencepiece().to_str())
    vocabulary = state["model"]["vocab"]
    vocabulary["\t"] = vocabulary.pop("<0x09>")
    return Tokenizer.from_str(json.dumps(state))


def sentencepiece():
    """As Gemma 3 has it: spaces are written out, unknown characters become their bytes."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    special = ["<pad>", "<unk>", *(f"<0x{byte:02X}>" for byte in range(256))]
    words = (word for text in texts() for word in text.replace(" ", " \0").split("\0"))
    trainer = trainers.BpeTrainer(vocab_size=2000, special_tokens=special, limit_alphabet=300, show_progress=False)
    tokenizer.train_from_iterator(words, trainer)
    state = json.loads(tokenizer.to_str())
    state["added_tokens"] = [token for token in state["added_tokens"] if not token["content"].startswith("<0x")]
    tokenizer = Tokenizer.from_str(json.dumps(state))
    tokenizer.add_special_tokens(["<start_of_turn>", "<end_of_turn>"])
    return tokenizer


def unigram():
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=1500, special_tokens=["<unk>", "</s>"], unk_token="<unk>",
                                      show_progress=False)
    tokenizer.train_from_iterator(texts(), trainer)
    return tokenizer


def word_piece():
    """Truncates and pads, as the file of a sentence encoder does: neither is to count."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(vocab_size=2000, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"],
                                        show_progress=False)
    tokenizer.train_from_iterator(texts(), trainer)
    tokenizer.enable_truncation(128)
    tokenizer.enable_padding(length=128)
    return tokenizer


def write_ranks(folder):
    """A folder like that of Kimi K2, and what OpenAI's library counts with its ranks."""
    tokenizer = byte_level(splits([KIMI]))
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [byte for byte in range(256) if byte not in plain]
    byte_of = {chr(byte): byte for byte in plain} | {chr(256 + place): byte for place, byte in enumerate(rest)}
    ranks = {bytes(byte_of[character] for character in token): rank for token, rank in tokenizer.get_vocab().items()}
    lines = [b"%s %d\n" % (base64.b64encode(token), rank) for token, rank in sorted(ranks.items(), key=lambda i: i[1])]
    kimi = folder / "kimi"
    kimi.mkdir(exist_ok=True)
    (kimi / "tiktoken.model").write_bytes(b"".join(lines))
    special = {len(ranks): "[BOS]", len(ranks) + 1: "[EOS]", len(ranks) + 2: "<|im_end|>"}
    entry = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True}
    config = {"added_tokens_decoder": {id: {"content": content, **entry} for id, content in special.items()},
              "tokenizer_class": "TikTokenTokenizer"}
    (kimi / "tokenizer_config.json").write_text(json.dumps(config, indent=1) + "\n", "utf-8")

    # As the class of the model names them; the others have those of the file alone.
    reserved = {special.get(id, f"<|reserved_token_{id}|>"): id for id in range(len(ranks), len(ranks) + 256)}
    named = {content: id for id, content in special.items()}
    patterns = {"kimi_k2": (KIMI, reserved), "o200k_base": (O200K, named), "cl100k_base": (LLAMA3, named), "gpt2": (GPT2, named)}
    encodings = {name: tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=tokens)
                 for name, (pattern, tokens) in patterns.items()}
    dice = random.Random(7)
    made = ["".join(dice.choice(PARTS + BLANKS * 2) for _ in range(dice.randrange(9))) for _ in range(500)]
    unique = sorted({*made, *PARTS, *PHRASES})
    counts = [{"text": text, **{name: len(encoding.encode(text, allowed_special="all")) for name, encoding in encodings.items()}}
              for text in unique]
    lines = ",\n".join(json.dumps(count, ensure_ascii=False) for count in counts)
    (kimi / "counts.json").write_text(f"[\n{lines}\n]\n", "utf-8")
    print(f"{kimi}: {len(ranks):,} tokens, {len(counts):,} texts counted")


KINDS = [qwen, qwen35, llama3, deepseek, gpt_oss, gpt4o, tekken, gpt2, command_r, sentencepiece, gemma2, unigram, word_piece]


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "fixtures" / "tokenizers"
    folder.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        path = folder / f"{kind.__name__}.json"
        text = kind().to_str()
        path.write_text(text + "\n", "utf-8")
        print(f"{path}: {path.stat().st_size:,} bytes, {len(json.loads(text)['model']['vocab']):,} tokens")
    write_ranks(folder)


if __name__ == "__main__":
    main()
