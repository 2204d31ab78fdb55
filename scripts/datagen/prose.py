"""Prose of invented pages in five languages: sentences with slots, and what an agent says in each of them."""

from .dice import Dice, pad
from .phrases import PHRASES
from .words import coined

_SYLLABLES = {
    "zh": "安北川东丰港光海和华江金康兰林龙明南宁平青泉山石松泰天文西新阳永云长州",
    "ja": "アイウエオカキクコサシスセタチツテトナニネノハヒフホマミムメモヤユヨラリルレロワン",
    "ru": "ба ва го да жи за ка ли мо на пе ро са ту фи ха че шо ра ни".split(),
}
_ENDINGS = {"zh": ("县", "市", "镇", "村", "山"), "ja": ("市", "町", "社", ""), "ru": ("ск", "во", "нь", "ль", "")}


def places(dice, language, count):
    """Names of places and people, coined in the language's script."""
    if language not in _SYLLABLES:
        return [word.title() for word in coined(dice, count)]
    syllables, endings = _SYLLABLES[language], _ENDINGS[language]
    low, high = (3, 5) if language == "ja" else (2, 3)
    made = ["".join(dice.pick(syllables) for _ in range(dice.n(low, high))) + dice.pick(endings) for _ in range(count)]
    return [name.capitalize() for name in made]


class Vocabulary:
    """What fills the slots of one record's pages in one language."""

    def __init__(self, dice, prose):
        made = places(dice, prose.language, 48)
        self.types = pad(made)
        self.local = pad(prose.nouns + made[:4])
        self.words = pad(prose.nouns)


class Prose:
    """One language: how its sentences are made, and the phrases of an agent that speaks it."""

    def __init__(self, language, domains, join, stop, nouns, openers, cores, tails, **phrases):
        self.language, self.domains, self.join, self.nouns = language, domains, join, nouns.split()
        made = [opener + core + tail + stop for opener in openers for core in cores for tail in tails]
        # only 256 fit behind a byte; each is used about equally often
        self.sentences = pad(Dice(len(made)).some(made, 256))
        self.sentences = [sentence[0].upper() + sentence[1:] for sentence in self.sentences]
        self.sentence = sum(map(len, self.sentences)) // 256
        self.__dict__.update(phrases)


LANGUAGES = {language: Prose(language, **entry) for language, entry in PHRASES.items()}
