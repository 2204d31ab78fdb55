"""The vocabulary: common words, words nobody has seen, and the names of one record made of both."""

from .dice import pad

NOUNS = """account address agent alias anchor archive artifact asset attempt audit backend badge balance batch bucket
budget buffer bundle cache cell channel chunk client cluster codec column command commit config connection consumer
container context cookie counter cursor customer dataset deadline delta device digest document domain driver edge
element encoder endpoint entry envelope epoch event factory feature feed fetch field filter fixture flag folder
forecast fragment frame gateway graph group handle handler hash header heap host hook identity image index input
invoice item job journal key label lane layer layout ledger lease level license limit line link listener loader locale
lock log lookup manifest margin marker mask matrix merge message metric migration mirror model module monitor node
notice object offset operation option order origin output owner packet page parcel parser partition patch path payload
peer period permission pipeline plan plugin point policy pool port prefix preset price probe process product profile
project prompt provider proxy queue quota range rate reader record region registry relation release report request
reservation resource response result retry review role route row rule sample scanner schedule schema scope section
segment sensor sequence server session shard shipment signal site slot snapshot socket source span stage state step
stock storage store stream strategy subject summary supplier table tag target task template tenant thread ticket timer
token topic trace track transfer trigger tunnel update upload user validator value vector vendor version view volume
wallet warehouse weight widget window worker workspace wrapper writer zone""".split()
VERBS = """accept add adjust allocate append apply assign attach build cancel check claim clean close collect compare
compute convert copy count create decode delete derive detach dispatch drain drop emit encode ensure evict expand expire
extract fetch find flush format freeze gather generate group handle hydrate infer init insert inspect join list load
locate lock lookup map mark match merge move normalize notify open pack parse patch persist poll prepare prune publish
pull push queue read rebuild receive record reduce refresh register reject release remove render replay reset resolve
restore resume retry rotate route run sample save scan schedule seal select send serialize split stage start store
submit sync tail trim unpack update upsert validate verify wait walk wrap write""".split()
ADJECTIVES = """active atomic bare binary blank bounded broken cached clean closed cold common compact current custom deep
default deferred dirty distinct draft dry early empty exact expired external fast final fixed fresh full global hidden
idle inner internal invalid known large last lazy legacy local locked lost main manual merged missing mixed native nested
next old open optional outer partial pending plain previous primary private public quiet raw ready recent remote safe
secondary shared short silent simple single slow small sorted stale static strict total trusted unique unknown unused
valid verified wide""".split()
FIRST = """Aaliyah Amara Anders Aoife Beatriz Bogdan Callum Chidi Dalia Daniel Eleni Emeka Farid Femke Gianni Greta Hana Henrik
Ines Ivan Jamal Jiho Katya Kwame Lena Liam Linnea Mateo Mei Milos Nadia Noor Olga Omar Pablo Priya Quentin Rania Rosa
Sanjay Sofia Tariq Tomasz Uma Veronika Wanjiru Xavier Yara Yusuf Zoltan""".split()
CITIES = [("Austin", "TX", "787"), ("Denver", "CO", "802"), ("Columbus", "OH", "432"), ("Seattle", "WA", "981"),
          ("Tampa", "FL", "336"), ("Portland", "OR", "972"), ("Boston", "MA", "021"), ("Tucson", "AZ", "857"),
          ("Madison", "WI", "537"), ("Newark", "NJ", "071"), ("Omaha", "NE", "681"), ("Reno", "NV", "895")]

_ONSETS = "b br c d dr f g gr h j k l l m m n n p pr r r s sh st t t tr v w z b d".split()
_VOWELS = "a a a e e e i i o o o u u ai ea io".split()
_CODAS = ["", "", "", "", "", "l", "l", "m", "n", "n", "r", "r", "s", "x", "nd", "ck"]
_O, _V, _C = pad(_ONSETS), pad(_VOWELS), pad(_CODAS)


def coined(dice, count):
    """Words that exist nowhere, two or three syllables each."""
    out = []
    for _ in range(count):
        b = dice.bytes(9)
        word = _O[b[0]] + _V[b[1]] + _C[b[2]] + _O[b[3]] + _V[b[4]]
        if b[8] < 60:
            word += _O[b[6]] + _V[b[7]]
        word += _C[b[5]]
        out.append(word)
    return out


class Names:
    """The identifiers of one record: mostly common words in pairs and threes, the rest coined for it."""

    def __init__(self, dice, style="snake"):
        fresh = coined(dice, 40)
        common = dice.some(NOUNS, 70)
        self.fresh, self.nouns = fresh, common
        stems = pad(common + common + common + fresh[:16])
        heads = pad(dice.some(VERBS, 60) + dice.some(ADJECTIVES, 50) + fresh[:3])
        pairs = list(zip(dice.picks(heads, 96), dice.picks(stems, 96), dice.picks(stems, 96)))
        if style == "snake":
            made = [f"{a}_{b}" for a, b, _ in pairs[:72]] + [f"{a}_{b}_{c}" for a, b, c in pairs[72:]]
        else:
            made = [a + b.title() for a, b, _ in pairs[:72]] + [a + b.title() + c.title() for a, b, c in pairs[72:]]
        self.functions = made
        self.local = made + stems[:120] + made[:40]
        self.types = pad([b.title() + c.title() for _, b, c in pairs[:48]])
        self.words = pad(common + common + fresh[:16])


def plural(noun):
    """The plural of a noun of the lists above."""
    if noun[-1] == "y" and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun[-1] in "sxh" else "s")
