"""The type stubs name what is there, with the same parameters."""

import ast
import inspect
from pathlib import Path

import trajfit

STUBS = ast.parse(Path(trajfit.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))


def test_the_stubs_name_what_is_exported():
    names = {node.name for node in STUBS.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")}
    names |= {node.target.id for node in STUBS.body if isinstance(node, ast.AnnAssign)}
    assert names == set(trajfit.__all__)
    assert Path(trajfit.__file__).with_name("py.typed").exists()


def test_methods_have_the_parameters_of_their_stubs():
    for node in STUBS.body:
        if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
            continue
        public = {method.name: method for method in node.body if isinstance(method, ast.FunctionDef)}
        there = {name for name in vars(getattr(trajfit, node.name)) if not name.startswith("_")}
        assert {name for name in public if not name.startswith("_")} <= there | {"help"}
        if node.name != "Fitter":
            continue
        assert there == {name for name in public if not name.startswith("_")}
        for name, method in public.items():
            arguments = [*method.args.args, *method.args.kwonlyargs]
            signature = inspect.signature(getattr(trajfit.Fitter, name))
            named = [parameter for parameter in signature.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
            assert [argument.arg for argument in arguments] == [parameter.name for parameter in named]
