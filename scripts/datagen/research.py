"""The trajectory of a research agent: a question, searches, pages in several languages, notes, an answer with sources."""

import json

from .prose import LANGUAGES, Vocabulary
from .trace import Trace, tool
from .words import Names, coined

TOOLS = [
    tool("web_search", "Search the web; returns title, address and an excerpt of each hit.", query="string: what to look for", limit="integer?: number of hits"),
    tool("open_page", "Fetch a page as plain text.", url="string: its address", page="integer?: part of a long page"),
    tool("find_in_page", "Lines of an opened page that hold a text.", url="string: its address", text="string: what to find"),
    tool("save_note", "Keep a finding; returns the id of the note.", text="string: the finding", source="string: its address"),
    tool("calculate", "Evaluate an arithmetic expression.", expression="string: digits and + - * / ( )"),
]
SYSTEM = (
    "You are a research assistant. Answer from sources that you have opened, never from memory. Search in the language in which the answer is "
    "likely to be written. Keep every figure as a note with its source, and cite the addresses at the end. Today is {0}.",
    "You research questions on the web with the tools given. Two independent sources for every number. If they disagree, say so and say which one "
    "you trust and why. Answer in the language of the question. Session {1}.",
)


class Topic:
    """What is asked about: a name, and a figure that changes a little every year."""

    def __init__(self, dice, names):
        self.dice, self.names = dice, names
        self.name = f"{dice.pick(names.fresh).title()} {coined(dice, 1)[0].title()}"
        self.base = dice.n(40, 9000)
        self.vocabularies = {}

    def vocabulary(self, prose):
        if prose.language not in self.vocabularies:
            self.vocabularies[prose.language] = Vocabulary(self.dice, prose)
        return self.vocabularies[prose.language]


class Page:
    """A page that does not exist; its address, title and the one figure that matters."""

    def __init__(self, dice, prose, topic):
        self.prose, self.topic, self.words = prose, topic, topic.vocabulary(prose)
        self.year = dice.n(2008, 2025)
        self.title = dice.pick(prose.titles).format(topic.name, dice.pick(self.words.types), self.year)
        names = topic.names
        self.url = (f"https://{dice.pick(('www.', '', 'archive.', 'data.'))}{dice.pick(names.fresh)}.{dice.pick(prose.domains)}"
                    f"/{dice.n(self.year, 2026)}/{dice.pick(names.nouns)}-{dice.digits(5)}")
        self.figure = round(topic.base * (0.8 + (self.year - 2008) * 0.03 + dice.random() * 0.1), 1)
        self.fact = prose.fact.format(topic.name, self.figure, self.year)

    def text(self, dice, size):
        """About `size` characters of prose, the figure somewhere in the middle."""
        count = max(3, size // self.prose.sentence)
        sentences = dice.fill(self.prose.sentences, self.words, count)
        sentences.insert(count // 2, self.fact)
        paragraphs, start = [], 0
        while start < len(sentences):
            stop = start + dice.n(3, 8)
            paragraphs.append(self.prose.join.join(sentences[start:stop]))
            start = stop
        return f"# {self.title}\n\n" + "\n\n".join(paragraphs)


def search(trace, dice, prose, topic, count, speech):
    pages = [Page(dice, prose, topic) for _ in range(count)]
    excerpts = dice.fill(prose.sentences, topic.vocabulary(prose), count * 2)
    hits = [{"title": p.title, "url": p.url, "excerpt": prose.join.join(excerpts[2 * i : 2 * i + 2])} for i, p in enumerate(pages)]
    query = dice.pick(prose.queries).format(topic.name, dice.pick(topic.names.fresh), dice.n(2008, 2025))
    trace.step(speech[0], ("web_search", {"query": query, "limit": count}, json.dumps(hits, ensure_ascii=False)), think=speech[1].format(topic.name, query))
    return pages


def trajectory(dice, record_id, target):
    """A research trajectory of about `target` characters."""
    names = Names(dice)
    asked = LANGUAGES["en"] if dice.chance(0.6) else LANGUAGES[dice.pick(("de", "zh", "ja", "ru"))]
    topic = Topic(dice, names)
    trace = Trace(dice, record_id or f"research-{dice.hex(8)}", "research", dice.pick(SYSTEM).format(dice.date(2026), dice.hex(8)), TOOLS)
    trace.human(asked.question.format(topic.name, dice.n(2008, 2014), dice.n(2020, 2025), dice.pick(topic.vocabulary(asked).types)))
    notes, opened = [], set()
    pages = search(trace, dice, asked, topic, 3 if target < 8000 else dice.n(4, 9), (asked.start.format(topic.name), asked.thought))
    while trace.size < target - 1500 or not notes:
        room = target - trace.size
        fresh = [page for page in pages if page.url not in opened]
        if not fresh or dice.chance(0.15):
            foreign = dice.chance(0.35) and room > 4000
            prose = LANGUAGES[dice.pick(tuple(LANGUAGES))] if foreign else asked
            pages = fresh = search(trace, dice, prose, topic, max(2, min(dice.n(4, 9), room // 500)), (asked.again.format(topic.name), asked.thought))
        page = dice.pick(fresh)
        opened.add(page.url)
        size = min(dice.size(5000, 0.9, 300, 60000), max(300, room - 1500))
        # a character of Chinese or Japanese says more than a Latin letter
        size = size // 2 if page.prose.join == "" else size
        if dice.chance(0.08):
            trace.step("", ("open_page", {"url": page.url}, f"HTTP 403 Forbidden: {page.url} (ray {dice.hex(16)})"))
            continue
        if dice.chance(0.12) and len(fresh) > 1:
            other = next(p for p in fresh if p is not page)
            opened.add(other.url)
            trace.step(asked.both.format(page.url), ("open_page", {"url": page.url}, page.text(dice, size // 2)), ("open_page", {"url": other.url}, other.text(dice, size // 2)))
        else:
            trace.step(asked.read.format(page.title), ("open_page", {"url": page.url}, page.text(dice, size)), think=asked.thought.format(topic.name, page.url))
        if dice.chance(0.1):
            trace.step("", ("find_in_page", {"url": page.url, "text": str(page.figure)}, page.fact))
        if dice.chance(0.5) or not notes:
            note = f"N-{dice.hex(6)}"
            trace.step(asked.keep.format(page.figure, page.year), ("save_note", {"text": page.fact, "source": page.url}, f'{{"note_id": "{note}"}}'))
            notes.append((page.year, page.figure, note, page.url))
        if len(notes) > 1 and dice.chance(0.1):
            first, second = notes[-2][1], notes[-1][1]
            trace.step("", ("calculate", {"expression": f"{second} / {first}"}, f"{second / first:.4f}"))
        if dice.chance(0.03):
            trace.say(asked.between.format(len(notes), notes[-1][1]))
            trace.human(asked.follow.format(dice.n(1990, 2007), dice.pick(topic.vocabulary(asked).types)))
    cited = sorted(notes[:2] + notes[-4:] if len(notes) > 6 else notes)
    trace.say(asked.answer.format(topic.name, cited[-1][1]) + "\n\n" + "\n".join(f"- {year}: {figure} ({note}), {url}" for year, figure, note, url in cited))
    return trace
