"""Values by name, as `values["lr"]` and as `values.lr`."""

from typing import Any


class Values(dict):
    """A dict whose entries are attributes too. Where a name is also a method of dicts (`items`), or is no identifier,
    only `values["items"]` reads the entry."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what copy and pickle look for is no entry
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            known = ", ".join(map(str, self)) or "none"
            raise AttributeError(f"there is no '{name}' here; there are: {known}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        try:
            del self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __dir__(self) -> list:
        return [*super().__dir__(), *(name for name in self if isinstance(name, str) and name.isidentifier())]

    def copy(self) -> "Values":
        return Values(self)


def values_of(read: Any) -> Any:
    """What was read from JSON, with Values for its objects."""
    if isinstance(read, dict):
        return Values((name, values_of(value)) for name, value in read.items())
    if isinstance(read, list):
        return [values_of(value) for value in read]
    return read
