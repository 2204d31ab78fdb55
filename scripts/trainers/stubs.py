"""Stand-ins for modules that need a GPU or that the data code of a trainer only names."""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types


def empty(*names):
    """Modules without anything in them."""
    for name in names:
        module = types.ModuleType(name)
        module.__spec__ = importlib.machinery.ModuleSpec(name, None)
        sys.modules.setdefault(name, module)


class _Bare(types.ModuleType):
    """A package whose `__init__` was not run."""


def bare(package, *inner):
    """A package whose `__init__` is not run, so that one of its modules can be had without the others."""
    if isinstance(sys.modules.get(package), _Bare):
        return sys.modules[package]
    base = list(importlib.util.find_spec(package).submodule_search_locations)[0]
    for name in (package, *(f"{package}.{part}" for part in inner)):
        module = _Bare(name)
        module.__path__ = ["/".join([base, *name.split(".")[1:]])]
        module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
        sys.modules[name] = module
    return sys.modules[package]


class _Anything(types.ModuleType):
    """A module that has every name: each is a class of its own, whose instances serve as decorators."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (), {"__init__": lambda self, *_, **__: None, "__call__": lambda self, first=None, *_, **__: first})
        setattr(self, name, made)
        return made


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, package):
        self.package = package

    def find_spec(self, name, path=None, target=None):
        if name == self.package or name.startswith(self.package + "."):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return _Anything(spec.name)

    def exec_module(self, module):
        pass


def anything(package):
    """A package of which every module and every name can be imported."""
    sys.meta_path.insert(0, _Finder(package))
