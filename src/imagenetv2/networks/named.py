"""What is said where a network that was named is not to be had."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from imagenetv2.errors import InputError, first_line


@dataclass(frozen=True)
class Fields:
    """The settings that named a network and its weights, for messages.

    Attributes:
        network: what messages about the name begin with.
        weights: what messages about a file of weights begin with.
        file: how a remedy calls the setting that takes a file of weights.
    """

    network: str
    weights: str
    file: str

    @classmethod
    def of_section(cls, name: str) -> Fields:
        """Of a section of the configuration that has the fields network and weights."""
        return cls(f"{name}.network", f"{name}.weights", f"{name}.weights")

    @classmethod
    def of_model(cls, name: str) -> Fields:
        """Of one of the models."""
        return cls(f"models: {name}", f"models: {name}", "weights")


def unknown(library: str, name: str, known: Iterable[str], listing: str, fields: Fields) -> InputError:
    """That a library has no such network, with names near it."""
    near = difflib.get_close_matches(name, list(known), 3) or ["resnet50"]
    return InputError(
        f"{fields.network}: {library} has no network {name or 'without a name'}; take a name of {listing}, such as {', '.join(near)}."
    )


def unknown_tag(library: str, name: str, tag: str, tags: Collection[str], fields: Fields) -> InputError:
    """That a library has no such weights of a network, with those it has."""
    there = f"it has {', '.join(tags)}" if tags else f"it has none, so set {fields.file} to a file of them"
    return InputError(f"{fields.network}: {library} has no weights {tag} of {name}; {there}.")


def unavailable(library: str, name: str, fields: Fields, error: Exception) -> InputError:
    """That pretrained weights are not to be had, and what to do."""
    return InputError(
        f"{fields.network}: {library} cannot get the weights of {name} ({first_line(error)}); correct the name, "
        f"connect to the internet once to fetch them, or set {fields.file} to a file of them."
    )
