"""The fitter of a worker process, made once of settings that travel."""

import functools
import os
import pickle
import socket
import subprocess
import sys

from . import Fitter, TrajfitError


class Worker:
    """The settings of a fitter, for workers.

    `jobs` is the number of threads, unless the fitter says another. `cache` is a folder that all machines see.
    """

    def __init__(self, fitter, jobs=None, cache=None):
        if not isinstance(fitter, Fitter):
            raise TypeError(f"fitter must be a trajfit.Fitter, not {type(fitter).__name__}")
        config, keys = fitter._arguments
        if jobs is not None and "jobs" not in keys:
            keys = {**keys, "jobs": jobs}
        self._settings = pickle.dumps((config, keys, cache))

    def fitter(self):
        """The fitter of this process, made at the first call."""
        return _fitter(self._settings)


@functools.lru_cache(maxsize=None)
def _fitter(settings):
    """The fitter of this process."""
    config, keys, cache = pickle.loads(settings)
    if cache is not None:
        keys = {**keys, "cache": _own_cache(cache)}
    return Fitter(config, **keys)


def _own_cache(shared):
    """The folder of this machine in a folder that all see, with the answers that the others have."""
    own = os.path.join(shared, socket.gethostname())
    os.makedirs(shared, exist_ok=True)
    others = [entry.path for entry in os.scandir(shared) if entry.is_dir() and entry.path != own]
    others = [path for path in others if os.path.exists(os.path.join(path, "answers.sqlite"))]
    if others:
        merge = [sys.executable, "-m", "trajfit", "cache", "merge", *sorted(others), "-o", own]
        merged = subprocess.run(merge, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if merged.returncode != 0:
            raise TrajfitError(f"cannot merge the caches of {shared}: {merged.stderr}")
    return own
