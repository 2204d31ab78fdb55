"""Fit agent trajectories into a token budget."""

import json
import os
import warnings

from . import _trajfit
from ._trajfit import ConfigurationError, Result, Results, StoppedError, TrajfitError, __version__

__all__ = [
    "ConfigurationError",
    "Fitter",
    "Result",
    "Results",
    "StoppedError",
    "TrajfitError",
    "__version__",
]


class Fitter:
    """A configuration with its tokenizer and summarizer, loaded once.

    `config` is a configuration file of the program, or a dict of its sections. `tokenizer` and other keys go before it;
    they have the names of the program's flags (`max_tokens`) or of the keys (`target_max_tokens`). The environment is not read.
    """

    def __init__(self, config=None, tokenizer=None, **keys):
        if tokenizer is not None:
            keys["tokenizer"] = tokenizer
        if isinstance(config, (str, os.PathLike)):
            # A worker process may have another working directory.
            config = os.path.abspath(os.fspath(config))
            file, settings = config, []
        elif config is not None and not isinstance(config, dict):
            raise TypeError(f"config must be a path or a dict of sections, not {type(config).__name__}")
        else:
            file, settings = None, list(_flattened(config or {}))
        settings += [(key, value) for key, value in keys.items() if value is not None]
        self._arguments = (config, keys)
        self._native = _trajfit.Fitter(file, [(key, _text(value)) for key, value in settings])
        for warning in self._native.warnings():
            warnings.warn(warning, stacklevel=2)

    def __reduce__(self):
        return _fitter, self._arguments

    def __repr__(self):
        config, keys = self._arguments
        shown = [] if config is None else [f"config={config!r}"]
        shown += [f"{key}={value!r}" for key, value in keys.items()]
        return f"Fitter({', '.join(shown)})"

    def fit(self, records, *, source="", progress=None):
        """Fit records; an iterator of results in their order, which works ahead on all cores.

        A record is a dict, or its JSON as str or bytes, with or without a line end. A table (anything with
        `__arrow_c_stream__`) has a record in each row, and the results are a table for all that take one. `source` is the name in rows. `progress`
        is called now and then, and at the end, with a dict of counts.
        """
        return self._native.fit(records, source, progress)

    def unroll(
        self,
        records,
        *,
        source="",
        progress=None,
        engine=None,
        trigger=None,
        max_turns=None,
        min_savings=None,
        head_decay=None,
        overlap=None,
        with_summaries=None,
        hindsight=None,
        mark=None,
    ):
        """Unroll records as `trajfit unroll` does; the result of a record has all `records` and `rows` that it became."""
        flags = {
            "engine": engine,
            "trigger": trigger,
            "max-turns": max_turns,
            "min-savings": min_savings,
            "head-decay": head_decay,
            "overlap": overlap,
            "with-summaries": with_summaries,
            "hindsight": hindsight,
            "mark": mark,
        }
        given = [(flag, _text(value)) for flag, value in flags.items() if value is not None and value is not False]
        return self._native.unroll(records, source, given, progress)

    def count(self, records, *, source="", largest=10):
        """Count tokens; a dict as `trajfit count --json` prints it."""
        return json.loads(self._native.count(records, source, largest))

    def check(self, records, *, source="", max_over="0", p99=None):
        """Check that records are within the budget; a dict as `trajfit check --json` prints it, with `passed`."""
        return json.loads(self._native.check(records, source, str(max_over), p99))

    def lint(self, records, *, source="", max_length=None):
        """Hold records against the rules of `trainer`; a dict as `trajfit lint --json` prints it."""
        return json.loads(self._native.lint(records, source, max_length))


def _fitter(config, keys):
    return Fitter(config, **keys)


def _flattened(sections, path=""):
    """The keys of a configuration file, with the sections that they are in."""
    from_sections = {"headers", "body", "template_arguments"}
    for key, value in sections.items():
        if isinstance(value, dict) and key not in from_sections:
            yield from _flattened(value, f"{path}{key}.")
        elif value is not None:
            yield f"{path}{key}", value


def _text(value):
    """A value as a flag of the command line takes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dict, list, tuple)):
        return json.dumps(value)
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
