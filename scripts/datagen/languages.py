"""Source code of invented projects: line templates, faults to find, test runs, for three programming languages."""

from .dice import pad


class Language:
    """What a language's files look like. Slots of templates are those of `Dice.fill`."""

    def __init__(self, name, ext, style, head, open_, close, body, returns, bugs, test_file, test_command, source_dir):
        self.name, self.ext, self.style = name, ext, style
        self.head, self.body, self.close = head, pad(body), close
        self.open, self.returns = open_, pad(returns)
        self.bugs, self.test_file, self.test_command, self.source_dir = bugs, test_file, test_command, source_dir

    def function(self, dice, names, name, statements):
        """The lines of one function."""
        # a function speaks of few things, and of its arguments most
        few = list(dice.picks(names.local, 6))
        local = (few + few[:2]) * 32
        first = self.open.format(few[0], few[1], name, next(dice.picks(names.types, 1)), *dice.picks(names.words, 3))
        last = dice.fill(self.returns, names, 1, local)[0]
        text = first + "\n".join(dice.fill(self.body, names, statements, local)) + "\n" + last + self.close
        return text.split("\n")

    def file(self, dice, names, functions, statements):
        """The lines of a file, and where in it each function starts."""
        kind = next(dice.picks(names.types, 1))
        lines = self.head.format(*dice.picks(names.local, 3), kind, *dice.picks(names.words, 3)).split("\n")
        starts = {}
        for name in functions:
            starts[name] = len(lines) + 1
            lines += self.function(dice, names, name, max(3, dice.size(statements, 0.5, 3, 40)))
        if self.ext != "py":
            lines.append("}")
        return lines, starts


PYTHON = Language(
    "python", "py", "snake",
    '"""{4} {5}: what the {6} needs."""\n\nfrom __future__ import annotations\n\nimport logging\nfrom dataclasses import '
    "dataclass, field\n\nfrom .{0} import {1}\nfrom .{2} import {3}\n\nlogger = logging.getLogger(__name__)\n\n\n"
    "@dataclass\nclass {3}:\n    {0}: str\n    {1}: int = 0\n    {2}: dict = field(default_factory=dict)\n",
    '    def {2}(self, {0}, {1}: {3} | None = None):\n        """Return the {4} of this {5}, by {6}."""\n', "\n",
    [
        "        {0} = self.{1}({2})", "        self._{0} = {1}.{2}", '        {0} = {1}.get("{4}", {3})',
        "        if {0} is None:\n            return {1}", '        logger.debug("{4} %s after %d", {0}, {3})',
        "        for {0} in self.{1}:\n            {2}.append({0}.{4})", "        {0} += len({1}) * {3}",
        '        if {0} not in self._{1}:\n            raise {5}Error(f"no {4} for {{{0}!r}}")',
        "        with self._lock:\n            self.{0}[{1}] = {2}", "        {0} = [{1}.{4} for {1} in {2} if {1}]",
        "        try:\n            {0} = {1}.{2}()\n        except KeyError:\n            {0} = {5}({3})",
        "        # the {4} may be gone by now, see #{7}", "        assert isinstance({0}, {5}), {1}",
        "        {0}, {1} = {2}.split(\"/\", 1)", "        {0} = max({1}, {2} - {3})",
        "        yield from self.{0}({1}, {4}={2})", "        {0}.update({{\"{4}\": {1}, \"{2}\": {3}}})",
        "        while {0} < {7}:\n            {0} = self.{1}({0})", "        self.{4}_total += {0}.{1}",
        "        if len({0}) > {3}:\n            logger.warning(\"{4} is long: %d\", len({0}))",
        "        {0} = sorted({1}, key=lambda {2}: {2}.{4})", "        {0} = self.{1}({2}, limit={3})",
        "        {0} = {1} if {2} else self.{4}", "        {0}.{4} = {1}[\"{4}\"]", "        self._{4}s.pop({0}, None)",
    ],
    ["        return {0}", "        return {5}({0}, {1}, {2}={3})", "        return self.{0}({1})", "        return {0}.{4} or {1}",
     "        return [{5}({0}) for {0} in {1}]"],
    [
        ("        {0} = {1}[:{n}]", "        {0} = {1}[: {n} + 1]", "AssertionError", "assert {n} == {n1}",
         "drops the last {w}"),
        ("        if not {0}.{1}: raise {t}Error({0})", "        if {0}.{1} is None: raise {t}Error({0})", "{t}Error", "no {w} for '{h}'",
         "treats an empty {w} as missing"),
        ("        {0} = int({1})", "        {0} = float({1})", "ValueError",
         "invalid literal for int() with base 10: '{n}.5'", "refuses fractional {w} values"),
        ("        {0} = self._cache[{1}]", "        {0} = self._cache[({1}, self.{w})]", "KeyError", "('{h}', '{w}')",
         "shares cached values between {ws}"),
        ("        {0} = sorted({1})", "        {0} = sorted({1}, key=lambda item: item.{w})", "TypeError",
         "'<' not supported between instances of '{t}' and '{t}'", "fails when two {ws} have the same key"),
    ],
    "tests/test_{0}.py", "python -m pytest {0} -q", "src",
)
RUST = Language(
    "rust", "rs", "snake",
    "//! The {4} of a {5}, as the {6} sees it.\n\nuse std::collections::BTreeMap;\n\nuse crate::{0}::{3};\nuse "
    "crate::{1}::{{self, {2}}};\n\n#[derive(Debug, Clone, Default)]\npub struct {3} {{\n    {0}: String,\n    {1}: u64,\n"
    "    {2}: BTreeMap<String, u32>,\n}}\n\nimpl {3} {{",
    "    /// Returns the {4} of this {5}, or the {6} it was made of.\n    pub fn {2}(&self, {0}: &str, {1}: usize) -> "
    "Result<{3}, Error> {{\n", "\n    }\n",
    [
        "        let {0} = self.{1}({2})?;", "        let mut {0} = Vec::with_capacity({3});",
        "        if {0}.is_empty() {{\n            return Ok({5}::default());\n        }}", "        self.{0} = {1}.{2}();",
        "        let {0} = {1}.get(\"{4}\").copied().unwrap_or({3});", "        debug!(\"{4} {{}} after {3}\", {0});",
        "        for {0} in &self.{1} {{\n            {2}.push({0}.{4});\n        }}", "        {0} += {1}.len() * {3};",
        "        match {0} {{\n            Some({1}) => {1}.{2},\n            None => return Err(Error::{5}({3})),\n        }};",
        "        // The {4} may be gone by now, see #{7}.", "        let {0} = {1}.max({2} - {3});",
        "        self.{4}.insert({0}.to_owned(), {1});", "        debug_assert!({0} <= {7});",
        "        let ({0}, {1}) = {2}.split_once('/').ok_or(Error::{5}({3}))?;", "        drop({0});",
        "        while {0} < {7} {{\n            {0} = self.{1}({0})?;\n        }}",
        "        let {0}: Vec<_> = {1}.iter().filter(|{2}| {2}.{4} > {3}).collect();", "        self.{4} += 1;",
        "        let {0} = {1}.iter().map(|{2}| {2}.{4}).sum::<u64>();", "        {0}.sort_by_key(|{1}| {1}.{4});",
        "        if {0}.len() > {3} {{\n            warn!(\"{4} is long: {{}}\", {0}.len());\n        }}",
    ],
    ["        Ok({0})", "        Ok({5}::new({0}, {1}))", "        self.{0}({1})", "        {0}.ok_or(Error::{5}({3}))"],
    [
        ("        let {0} = &{1}[..{n}];", "        let {0} = &{1}[..={n}];", "panicked",
         "assertion `left == right` failed\n  left: {n}\n right: {n1}", "drops the last {w}"),
        ("        let {0} = self.{1}.unwrap();", "        let {0} = self.{1}.ok_or(Error::{t}({n}))?;", "panicked",
         "called `Option::unwrap()` on a `None` value", "panics when there is no {w}"),
        ("        let {0} = {1} - {n};", "        let {0} = {1}.saturating_sub({n});", "panicked",
         "attempt to subtract with overflow", "panics for a {w} below {n}"),
        ("        let {0} = &self.{1}[{n}];", "        let {0} = self.{1}.get({n}).ok_or(Error::{t}({n}))?;", "panicked",
         "index out of bounds: the len is {n} but the index is {n}", "reads one {w} too many"),
    ],
    "tests/{0}.rs", "cargo test --test {0}", "src",
)
TYPESCRIPT = Language(
    "typescript", "ts", "camel",
    "/** The {4} of a {5}, as the {6} sees it. */\nimport {{ {1} }} from '../{0}';\nimport type {{ {3} }} from './{2}';\n\n"
    "export interface {3}Options {{\n  {0}?: string;\n  {1}: number;\n  {2}: Record<string, unknown>;\n}}\n\nexport class {3} {{",
    "  /** Returns the {4} of this {5}, by {6}. */\n  async {2}({0}: string, {1}?: {3}): Promise<{3}> {{\n", "\n  }\n",
    [
        "    const {0} = await this.{1}({2});", "    let {0} = {1}.{2} ?? {3};", "    this.{0} = {1}.{2};",
        "    if (!{0}) {{\n      return {1};\n    }}", "    logger.debug(`{4} ${{{0}}} after {3} ms`);",
        "    for (const {0} of this.{1}) {{\n      {2}.push({0}.{4});\n    }}", "    {0} += {1}.length * {3};",
        "    if ({0} === undefined) {{\n      throw new {5}Error(`no {4} for ${{{1}}}`);\n    }}", "    delete {0}.{4};",
        "    const {{ {0}, {1} }} = {2};", "    // the {4} may be gone by now, see #{7}",
        "    const {0} = {1}.filter(({2}) => {2}.{4} > {3});", "    {0}.set('{4}', {1});",
        "    await Promise.all({0}.map(({1}) => this.{2}({1})));",
        "    const {0} = Math.max({1}, {2} - {3});", "    while ({0} < {7}) {{\n      {0} = this.{1}({0});\n    }}",
        "    {0}.sort((a, b) => a.{4} - b.{4});", "    const {0} = {1}.reduce((sum, {2}) => sum + {2}.{4}, {3});",
        "    if ({0}.length > {3}) {{\n      logger.warn(`{4} is long: ${{{0}.length}}`);\n    }}",
    ],
    ["    return {0};", "    return new {5}({0}, {{ {1}: {3} }});", "    return this.{0}({1});", "    return {0}?.{4} ?? {1};"],
    [
        ("    const {0} = {1}.slice(0, {n});", "    const {0} = {1}.slice(0, {n} + 1);", "AssertionError",
         "expected {n} to be {n1} // Object.is equality", "drops the last {w}"),
        ("    const {0} = {1}.{w}.length;", "    const {0} = {1}.{w}?.length ?? 0;", "TypeError",
         "Cannot read properties of undefined (reading 'length')", "fails when the {w} is absent"),
        ("    if ({0} == {n}) return {1};", "    if (Number({0}) === {n}) return {1};", "AssertionError",
         "expected '{n}' to deeply equal {n}", "compares a {w} as text"),
        ("    this.{0}({1});", "    await this.{0}({1});", "Error",
         "Test timed out in 5000ms ({w} {h} still open)", "does not wait for the {w}"),
    ],
    "test/{0}.spec.ts", "npx vitest run {0}", "packages/core/src",
)
LANGUAGES = (PYTHON, PYTHON, PYTHON, RUST, TYPESCRIPT)

LOGS = pad([
    "INFO  [{0}] {4} {6} accepted in {3} ms", "INFO  [{0}] {1} {4} done: {7} rows, {3} skipped",
    "DEBUG [{0}] {5}.{1}: {2}={7}", "DEBUG [{1}] cache miss for {4}:{6}", "INFO  [http] GET /v1/{4}/{7} 200 {3}ms id={6}",
    "INFO  [http] POST /v1/{4} 201 {3}ms id={6}", "WARN  [{0}] {4} {6} is {3} s old, {1} it again",
    "INFO  [{1}] worker-{3} took {4} {6} ({7} bytes)", "WARN  [http] GET /v1/{4}/{7} 404 {3}ms id={6}",
    "DEBUG [{2}] {0} -> {1} ({3} of {7})", "INFO  [scheduler] next {4} at +{3}s", "DEBUG [sql] select {4} from {0} where id={7}",
    "INFO  [{0}] connected to 10.4.{3}.17:{7}", "ERROR [{0}] {5}Error: {4} {6} rejected after {3} attempts",
])


def logs(dice, names, count):
    """Log lines with a running clock."""
    clock = dice.n(0, 80000)
    day = dice.date()
    stamps = []
    for step in dice.bytes(count):
        clock += step
        stamps.append(f"{day} {clock // 3600 % 24:02d}:{clock // 60 % 60:02d}:{clock % 60:02d}.{(clock * 37) % 1000:03d} ")
    return "\n".join(map(str.__add__, stamps, dice.fill(LOGS, names, count)))


def failure(dice, lang, path, line_no, source, test, error, message, callers):
    """The traceback of one failed test, as the language's runner prints it."""
    if lang.name == "python":
        frames = "\n".join(f"{p}:{n}: in {f}\n    {s.strip()}" for p, n, f, s in callers[:-1])
        return (
            f"_____________ {test} _____________\n\n{frames}\n{path}:{line_no}: in {callers[-1][2]}\n    {source.strip()}\n"
            f"E   {error}: {message}\n"
        )
    if lang.name == "rust":
        return (
            f"---- {test} stdout ----\n\nthread '{test}' ({dice.n(10000, 99999)}) panicked at {path}:{line_no}:9:\n{message}\n"
            "stack backtrace:\n"
            + "\n".join(f"   {i}: {f}\n             at ./{p}:{n}:13" for i, (p, n, f, _) in enumerate(callers, 2))
            + "\nnote: run with `RUST_BACKTRACE=full` for a verbose backtrace.\n"
        )
    frames = "\n".join(f"    at {f} ({p}:{n}:{dice.n(5, 40)})" for p, n, f, _ in callers)
    return f" FAIL  {test}\n{error}: {message}\n ❯ {path}:{line_no}:{dice.n(5, 30)}\n{frames}\n"


def test_run(dice, lang, names, target, total, failures):
    """A whole run of the tests; `failures` are `(test name, traceback)`."""
    failed = len(failures)
    shown = dice.some(sorted(set(names.local)), min(total - failed, 24))
    seconds = dice.n(60, 4000) / 100
    blocks = "\n".join(text for _, text in failures)
    if lang.name == "python":
        dots = "".join("." * dice.n(5, 30) + "F" for _ in failures) + "." * max(1, total - failed * 18)
        rows = [dots[i : i + 72] for i in range(0, len(dots), 72)]
        if not failed:
            return "\n".join(rows) + f"\n{total} passed in {seconds}s"
        short = "\n".join(f"FAILED {target}::{name}" for name, _ in failures)
        return (
            "\n".join(rows) + "\n\n=================================== FAILURES ===================================\n"
            f"{blocks}=========================== short test summary info ============================\n{short}\n"
            f"{failed} failed, {total - failed} passed in {seconds}s"
        )
    if lang.name == "rust":
        rows = "".join(f"test {name} ... ok\n" for name in shown) + "".join(f"test {n} ... FAILED\n" for n, _ in failures)
        end = "FAILED" if failed else "ok"
        return (
            f"    Finished `test` profile [unoptimized + debuginfo] target(s) in {seconds}s\n     Running {target}\n\n"
            f"running {total} tests\n{rows}" + (f"\nfailures:\n\n{blocks}\n" if failed else "")
            + f"\ntest result: {end}. {total - failed} passed; {failed} failed; 0 ignored; 0 measured; finished in 0.{dice.n(1, 99):02d}s"
        )
    rows = "".join(f"   ✓ {name} {dice.n(1, 90)}ms\n" for name in shown)
    return (
        f" RUN  v2.1.{dice.n(0, 9)}\n\n ❯ {target} ({total} tests{f' | {failed} failed' if failed else ''})\n{rows}\n{blocks}\n"
        f" Test Files  {'1 failed' if failed else '1 passed'} (1)\n      Tests  {f'{failed} failed | ' if failed else ''}"
        f"{total - failed} passed ({total})\n   Duration  {seconds}s"
    )
