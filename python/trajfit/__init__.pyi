import os
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Protocol, Union

__version__: str

class _Table(Protocol):
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

Record = Union[dict[str, Any], str, bytes, bytearray]
Records = Union[Iterable[Record], _Table]
Progress = Callable[[dict[str, Any]], object]

class TrajfitError(Exception):
    help: Optional[str]

class ConfigurationError(TrajfitError): ...
class StoppedError(TrajfitError): ...

class Result:
    @property
    def record(self) -> Optional[bytes]: ...
    @property
    def records(self) -> list[bytes]: ...
    @property
    def row(self) -> dict[str, Any]: ...
    @property
    def rows(self) -> list[dict[str, Any]]: ...
    @property
    def rejected(self) -> Optional[str]: ...
    @property
    def is_unchanged(self) -> bool: ...
    def _repr_html_(self) -> str: ...

class Results(Iterator[Result]):
    def __iter__(self) -> Results: ...
    def __next__(self) -> Result: ...
    def report(self) -> dict[str, Any]: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

class Fitter:
    def __init__(
        self,
        config: Union[str, os.PathLike[str], Mapping[str, Any], None] = None,
        tokenizer: Union[str, os.PathLike[str], None] = None,
        **keys: Any,
    ) -> None: ...
    def fit(
        self, records: Records, *, source: str = "", progress: Optional[Progress] = None
    ) -> Results: ...
    def unroll(
        self,
        records: Records,
        *,
        source: str = "",
        progress: Optional[Progress] = None,
        engine: Optional[str] = None,
        trigger: Optional[float] = None,
        max_turns: Optional[int] = None,
        min_savings: Optional[float] = None,
        head_decay: Optional[bool] = None,
        overlap: Optional[str] = None,
        with_summaries: Optional[str] = None,
        hindsight: Optional[bool] = None,
        mark: Optional[str] = None,
    ) -> Results: ...
    def count(self, records: Records, *, source: str = "", largest: int = 10) -> dict[str, Any]: ...
    def check(
        self,
        records: Records,
        *,
        source: str = "",
        max_over: Union[int, str] = "0",
        p99: Optional[int] = None,
    ) -> dict[str, Any]: ...
    def lint(
        self, records: Records, *, source: str = "", max_length: Optional[int] = None
    ) -> dict[str, Any]: ...
