"""The trajectory of a coding agent: an issue, a search, failing tests, two edits, tests that pass, a commit."""

from .dice import pad
from .languages import LANGUAGES, failure, logs, test_run
from .trace import Trace, tool
from .words import VERBS, Names, coined, plural

SYSTEMS = (
    "You are a software engineer who works in a terminal. You get an issue and a repository and change the source so that "
    "the issue is gone. Look before you edit. Run the tests that cover what you changed, before and after. Do not change "
    "tests to make them pass. Keep to the style of the file. When you are done, say what was wrong and what you changed.",
    "You are {0}, a coding agent with access to a sandbox.\n\n# Rules\n- One or more tool calls per turn; wait for their results.\n"
    "- Paths are absolute or relative to {1}.\n- Never push to main, never rewrite history.\n- Commands that print a lot are cut "
    "to 30,000 characters.\n- If the same command fails twice, think about why before you try again.\n\n# Finishing\nCommit "
    "with a message that says why, then answer with a short report: cause, change, evidence.",
    "You are a helpful assistant that can interact with a computer shell to solve programming tasks.",
)
TOOLS = [
    tool("terminal", "Run a shell command in the sandbox and return its output.", command="string: the command",
         timeout="integer?: seconds until it is stopped"),
    tool("read_file", "Read a file with line numbers.", path="string: the file", offset="integer?: first line",
         limit="integer?: number of lines"),
    tool("search_files", "Search file contents with a regular expression.", pattern="string: the expression",
         path="string?: folder to search in"),
    tool("edit_file", "Replace one exact occurrence of a text in a file.", path="string: the file",
         old="string: the text as it is", new="string: the text as it shall be"),
]
LOOK = (
    "Let me look at `{0}` next, it calls `{1}`.", "`{1}` shows up in `{0}` too; I want to see how it is used there.",
    "Before I change anything I want to know who relies on `{1}`.", "Now `{0}`.", "", "",
    "The {2} handling in `{0}` might be affected as well.", "I need the context around `{1}`.",
    "Still not clear where the {2} comes from. Reading `{0}`.", "Checking `{0}` for the same pattern.",
)
THINK = (
    "The {2} is set in `{1}` but `{0}` reads it earlier. If that is so, the order of the calls matters, not the value.",
    "Two candidates: `{0}` and `{1}`. The traceback points to the first, the {2} in it was made by the second.",
    "I should not trust the name here. `{1}` sounds pure but writes the {2}.",
    "The user wants the smallest change. A fix in `{0}` touches one line; a fix in `{1}` would touch every {2}.",
)
CONSTRAINTS = (
    "One more thing: leave the signature of `{0}` as it is, {1} depends on it.", "Please don't touch {2}, {1} is rewriting it this week.",
    "Also, no new dependencies. And mention {3} in the commit message.",
    "I forgot to say: it has to keep working with the old {4} format, {1} still has {5} of those in production.",
    "Can you make sure that it stays below {5} ms? The gate in {3} fails otherwise.",
)


CALLERS = pad([
    "        {0} = self.@({1}, {2})", "        return self.@({0})", "    {0}.@({1}.{4})", "        self.{4} = {0}.@({1})",
    "    {5}.@({0}, {3})", "        {0} = {1}.@({2}, {3})", "            self.@({0}.{1}, {7})",
])


class Project:
    """A repository that does not exist: its files come into being when they are first read."""

    def __init__(self, dice):
        self.dice, self.lang = dice, dice.pick(LANGUAGES)
        self.names = Names(dice, self.lang.style)
        self.name = coined(dice, 1)[0]
        self.root = dice.pick(("/workspace/{0}", "/testbed", "/home/dev/{0}", "/repo", "/srv/build/{0}")).format(self.name)
        source = self.lang.source_dir + ("/" + self.name if self.lang.name == "python" else "")
        areas = dice.some(self.names.nouns, dice.n(2, 5))
        stems = dice.some(self.names.nouns + self.names.fresh, dice.n(8, 40))
        self.paths = sorted({f"{source}/{dice.pick(areas)}/{stem}.{self.lang.ext}" for stem in stems})
        self.files = {}
        self.rows = [
            f"-rw-r--r-- 1 dev dev {dice.n(300, 60000):>6} {dice.date()} {dice.n(0, 23):02d}:{dice.n(0, 59):02d} {path}" for path in self.paths
        ]

    def file(self, path):
        """The lines of a file and the starts of its functions."""
        if path not in self.files:
            functions = self.dice.some(self.names.functions, self.dice.n(3, 14))
            self.files[path] = self.lang.file(self.dice, self.names, functions, 8)
        return self.files[path]

    def numbered(self, path, offset=1, limit=2000):
        lines = self.file(path)[0][offset - 1 : offset - 1 + limit]
        return "\n".join(map("%6d\t%s".__mod__, enumerate(lines, offset)))

    def listing(self, folder=""):
        return "\n".join(row for row in self.rows if folder in row)

    def grep(self, pattern, count):
        """Matches in several files; where a file was read, its real lines."""
        dice, out = self.dice, []
        for path in dice.some(self.paths, dice.n(2, 6)):
            if path in self.files:
                out += [f"{path}:{i}:{s}" for i, s in enumerate(self.files[path][0], 1) if pattern in s][:count]
            else:
                number = 0
                owner = "this" if self.lang.name == "typescript" else "self"
                end = "" if self.lang.name == "python" else ";"
                for text in dice.fill(CALLERS, self.names, dice.n(1, 4)):
                    number += dice.n(4, 60)
                    out.append(f"{path}:{number}:" + text.replace("@", pattern).replace("self", owner) + end)
        return "\n".join(out) or "no matches"


class Fault:
    """One line that is wrong, in a file that the agent will read."""

    def __init__(self, project, dice, path):
        lang, names = project.lang, project.names
        lines, starts = project.file(path)
        self.path, self.function = path, dice.pick(list(starts))
        self.caller = dice.pick(names.functions)
        wrong, right, error, message, self.symptom = dice.pick(lang.bugs)
        a, b = dice.picks(names.local, 2)
        number, word = dice.n(2, 60), dice.pick(names.nouns)
        slots = dict(n=number, n1=number + 1, w=word, ws=plural(word), t=next(dice.picks(names.types, 1)), h=dice.hex(8))
        self.wrong, self.right = wrong.format(a, b, **slots), right.format(a, b, **slots)
        self.error, self.message = error.format(**slots), message.format(**slots)
        self.symptom = self.symptom.format(**slots)
        # after the signature and its documentation, before the first statement
        self.line = starts[self.function] + 2
        # Python documents below the signature, the others above it
        self.signature = self.line - (2 if lang.name == "python" else 1)
        lines.insert(self.line - 1, self.wrong)
        for name, start in starts.items():
            if start >= self.line:
                starts[name] = start + 1
        stem = path.rsplit("/", 1)[1].partition(".")[0]
        self.test_file = lang.test_file.format(stem)
        self.tests = [f"test_{self.function}_{word}", f"test_{stem}_{self.function}"]
        if lang.name == "typescript":
            self.tests = [f"{self.function} > keeps the {word}", f"{stem} > {self.function}"]
        self.command = lang.test_command.format(self.test_file if lang.name != "rust" else stem)

    def run(self, project, dice, total, failed):
        failures = []
        for name in self.tests[:failed]:
            frames = [
                (self.test_file, dice.n(10, 300), name, f"{self.caller}({dice.n(1, 99)})"),
                (self.path, self.line + dice.n(20, 90), self.caller, f"self.{self.function}({dice.pick(project.names.local)})"),
                (self.path, self.line, self.function, self.wrong),
            ]
            failures.append((name, failure(dice, project.lang, self.path, self.line, self.wrong, name, self.error, self.message, frames)))
        return test_run(dice, project.lang, project.names, self.test_file, total, failures)

    def context(self, project, before=3, after=3):
        lines = project.file(self.path)[0]
        return lines[max(0, self.line - 1 - before) : self.line - 1], lines[self.line : self.line + after]

    def diff(self, project, dice):
        above, below = self.context(project)
        body = [" " + s for s in above] + ["-" + self.wrong, "+" + self.right] + [" " + s for s in below]
        return (
            f"diff --git a/{self.path} b/{self.path}\nindex {dice.hex(9)}..{dice.hex(9)} 100644\n--- a/{self.path}\n+++ b/{self.path}\n"
            f"@@ -{self.line - 3},7 +{self.line - 3},7 @@ {self.function}\n" + "\n".join(body)
        )

    def fix(self, project, trace, text):
        above, below = self.context(project, 1, 1)
        old, new = "\n".join(above + [self.wrong] + below), "\n".join(above + [self.right] + below)
        trace.step(text, ("edit_file", {"path": f"{project.root}/{self.path}", "old": old, "new": new},
                          f"edited {project.root}/{self.path}: 1 replacement at line {self.line}"))
        project.file(self.path)[0][self.line - 1] = self.right


def probe(project, trace, dice, fault):
    """Prints a value on the way to the fault, runs the tests, and takes the print out again."""
    path, value = f"{project.root}/{fault.path}", dice.hex(8)
    line = project.file(fault.path)[0][fault.line - 1]
    spaces = line[: len(line) - len(line.lstrip())]
    printing = spaces + {"python": 'print("PROBE", self)', "rust": 'eprintln!("PROBE {self:?}");', "typescript": "console.log('PROBE', this);"}[project.lang.name]
    trace.step(f"What does `{fault.function}` really get? I print it.", ("edit_file", {"path": path, "old": line, "new": f"{printing}\n{line}"}, f"edited {path}: 1 replacement at line {fault.line}"))
    fixed = line == fault.right
    trace.step("", ("terminal", {"command": f"cd {project.root} && {fault.command} 2>&1 | grep -A3 PROBE"}, "\n".join(f"PROBE {dice.pick(project.names.words)}:{value} {dice.n(1, 999)}" for _ in range(dice.n(2, 9)))))
    trace.step(f"`{value}` in every line, so it {'is right now' if fixed else 'comes from the caller'}. Taking the print out again.",
               ("edit_file", {"path": path, "old": f"{printing}\n{line}", "new": line}, f"edited {path}: 1 replacement at line {fault.line}"))


def explore(project, trace, dice, room, fault):
    """One step of looking around, not longer than there is room."""
    names, path = project.names, dice.pick(project.paths)
    function, word = dice.pick(names.functions), dice.pick(names.nouns)
    text = dice.pick(LOOK).format(path, function, word)
    think = dice.pick(THINK).format(path, function, word)
    terminal = lambda command, output: trace.step(text, ("terminal", {"command": command}, output), think=think)
    kind = dice.n(0, 14)
    if kind < 5:
        lines = len(project.file(path)[0])
        limit = min(lines, max(20, room // 40))
        offset = dice.n(1, max(1, lines - limit)) if limit < lines else 1
        arguments = {"path": f"{project.root}/{path}"}
        if limit < lines:
            arguments.update(offset=offset, limit=limit)
        trace.step(text, ("read_file", arguments, project.numbered(path, offset, limit)), think=think)
    elif kind < 7:
        trace.step(text, ("search_files", {"pattern": function, "path": project.root}, project.grep(function, 8)), think=think)
    elif kind == 7:
        other = dice.pick(project.paths)
        calls = [("read_file", {"path": f"{project.root}/{p}", "limit": 60}, project.numbered(p, 1, 60)) for p in (path, other)]
        trace.step(text, *calls, think=think)
    elif kind == 8:
        count = max(5, min(dice.size(60, 0.9, 5, 400), room // 75))
        output = logs(dice, names, count)
        terminal(f"tail -n {count} /var/log/{project.name}/{word}.log", output)
    elif kind == 9:
        count = dice.n(6, 25)
        commits = [
            f"{dice.hex(9)} {dice.pick(VERBS).title()} the {w} of {t} (#{dice.n(100, 9999)})"
            for w, t in zip(dice.picks(names.words, count), dice.picks(names.types, count))
        ]
        terminal(f"git log --oneline -{count} -- {path}", "\n".join(commits))
        chosen, _, subject = dice.pick(commits).partition(" ")
        author = dice.pick(names.fresh)
        above = "\n".join(f" {s}" for s in project.file(path)[0][20:40])
        trace.step(f"Commit {chosen} looks related.", ("terminal", {"command": f"git show {chosen}"},
                   f"commit {chosen}{dice.hex(31)}\nAuthor: {author.title()} <{author}@{project.name}.dev>\nDate:   {dice.date()}\n\n    "
                   f"{subject}\n\n--- a/{path}\n+++ b/{path}\n@@ -21,20 +21,21 @@\n{above}\n+{dice.fill(project.lang.body, names, 1)[0].partition(chr(10))[0]}"))
    elif kind == 10:
        port, pid = dice.n(3000, 9999), dice.n(2000, 60000)
        terminal(f"./scripts/serve --port {port} & sleep 2; echo started", f"[1] {pid}\nstarted")
        rows = dice.n(3, max(4, min(60, room // 120)))
        body = ", ".join(
            f'{{"id": "{h}", "{word}": "{w}", "{function}": {dice.n(1, 99999)}}}'
            for h, w in zip([dice.hex(12) for _ in range(rows)], dice.picks(names.words, rows))
        )
        trace.step("", ("terminal", {"command": f"curl -s localhost:{port}/v1/{word}?limit={rows}"}, f'{{"items": [{body}], "total": {rows}}}'))
        trace.step(f"The service on port {port} answers. I stop it again.",
                   ("terminal", {"command": f"kill {pid}; jobs"}, f"[1]+  Terminated              ./scripts/serve --port {port}"))
    elif kind == 11:
        rows = "\n".join(f"{p}:{dice.n(1, 300)}:{dice.n(1, 60)}: {c}{dice.n(100, 999)} {w} is never used"
                         for p, c, w in zip(dice.some(project.paths, 12), "EFWCNSBUEFWC", dice.picks(names.local, 12)))
        terminal("make lint", f"\x1b[1;31m{rows}\x1b[0m\nFound {dice.n(3, 12)} problems." if dice.chance(0.4) else rows)
    elif kind == 12:
        rows = "\n".join(f"{w:<24}{dice.n(0, 9)}.{dice.n(0, 30)}.{dice.n(0, 12)}" for w in dice.some(names.fresh + names.nouns, dice.n(8, 50)))
        terminal({"python": "pip list", "typescript": "npm ls --depth 0", "rust": "cargo tree --depth 1"}[project.lang.name], rows)
    elif kind == 13:
        probe(project, trace, dice, fault)
    else:
        terminal(f"wc -l {path} && ls -la {path.rsplit('/', 1)[0]}", f"{len(project.file(path)[0])} {path}\n" + project.listing(path.rsplit("/", 1)[0]))


def trajectory(dice, record_id, target):
    """A coding trajectory of about `target` characters."""
    project = Project(dice)
    names, root = project.names, project.root
    number = dice.n(100, 9999)
    trace = Trace(dice, record_id or f"{project.name}__{project.name}-{number}", dice.pick(("mini-agent", "sandbox-agent")),
                  dice.pick(SYSTEMS).format(coined(dice, 1)[0].title(), root), TOOLS)
    first_path, second_path = dice.some(project.paths, 2) if len(project.paths) > 1 else project.paths * 2
    fault, other = Fault(project, dice, first_path), Fault(project, dice, second_path)
    total = dice.n(12, 180)
    trace.human(
        f"Repository: {root} ({project.lang.name}). Issue #{number}:\n\n**`{fault.function}` {fault.symptom}**\n\nSince release "
        f"{dice.n(0, 9)}.{dice.n(0, 30)}.{dice.n(0, 9)} we see `{fault.error}: {fault.message}` whenever the {dice.pick(names.nouns)} has no "
        f"{dice.pick(names.nouns)}. Request id of one case: `{dice.hex(16)}`.\n\nExpected: `{fault.function}` handles it as before. Please find the "
        f"cause and fix it. The public interface must stay the same, and {other.test_file} has to pass as well."
    )
    small = target < 9000
    trace.step("I start with an overview of the repository.", ("terminal", {"command": f"cd {root} && find . -name '*.{project.lang.ext}' | xargs ls -la"}, project.listing()[: 400 if small else 20000]))
    trace.step(f"Where is `{fault.function}` defined?", ("search_files", {"pattern": fault.function, "path": root},
               f"{fault.path}:{fault.signature}:{project.file(fault.path)[0][fault.signature - 1]}\n" + project.grep(fault.function, 4)[: 200 if small else 4000]))
    offset = max(1, fault.line - (8 if small else 60))
    trace.step("", ("read_file", {"path": f"{root}/{fault.path}", "offset": offset, "limit": 16 if small else 160}, project.numbered(fault.path, offset, 16 if small else 160)),
               think=f"`{fault.function}` is in {fault.path}. I read it whole before I judge.")
    trace.step("Let me see the failure with my own eyes.", ("terminal", {"command": f"cd {root} && {fault.command}"}, fault.run(project, dice, total, 2)))
    end = target - 2600
    asked = 0
    while trace.size < end * 0.6:
        explore(project, trace, dice, end - trace.size, fault)
        if asked < 2 and dice.chance(0.03):
            asked += 1
            trace.say(f"So far: the error comes from `{fault.function}` ({fault.path}:{fault.line}). I have not changed anything yet.")
            trace.human(dice.pick(CONSTRAINTS).format(fault.function, project.name + "-" + dice.pick(names.nouns), dice.pick(project.paths),
                        f"{project.name.upper()[:4]}-{dice.n(100, 9999)}", dice.pick(names.nouns), dice.n(20, 900)))
    fault.fix(project, trace, f"Found it: line {fault.line} of `{fault.path}` {fault.symptom}. I change only that line.")
    trace.step("", ("terminal", {"command": f"cd {root} && {fault.command} && {other.command}"},
               fault.run(project, dice, total, 0) + "\n" + other.run(project, dice, total // 2 + 4, 1)))
    while trace.size < end:
        explore(project, trace, dice, end - trace.size, fault)
    other.fix(project, trace, f"The remaining failure is another case of it: `{other.function}` {other.symptom}.")
    trace.step("Both files now.", ("terminal", {"command": f"cd {root} && {fault.command} && {other.command}"},
               fault.run(project, dice, total, 0) + "\n" + other.run(project, dice, total // 2 + 4, 0)))
    branch, commit = f"fix/{number}-{fault.function.replace('_', '-')}", dice.hex(9)
    trace.step("", ("terminal", {"command": f"cd {root} && git checkout -b {branch} && git diff"}, f"Switched to a new branch '{branch}'\n"
               + fault.diff(project, dice) + "\n" + other.diff(project, dice)))
    trace.step("The diff is what I meant.", ("terminal", {"command": f"cd {root} && git commit -am 'Fix {fault.function}: it {fault.symptom} (#{number})'"},
               f"[{branch} {commit}] Fix {fault.function}: it {fault.symptom} (#{number})\n 2 files changed, 2 insertions(+), 2 deletions(-)"))
    trace.say(
        f"Fixed in {commit} on `{branch}`.\n\n- Cause: `{fault.function}` ({fault.path}:{fault.line}) {fault.symptom}, hence `{fault.error}`.\n"
        f"- Change: `{fault.right.strip()}`, and the same in `{other.function}` ({other.path}:{other.line}).\n"
        f"- Evidence: {fault.test_file} ({total} tests) and {other.test_file} ({total // 2 + 4} tests) pass."
    )
    return trace


def dump(dice, target):
    """A pasted log of about `target` characters, for turns that are too big for any budget."""
    return logs(dice, Names(dice), max(10, target // 72))
