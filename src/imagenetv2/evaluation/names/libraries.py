"""Which pretrained networks the installed timm and torchvision know; each is imported when first asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache

from imagenetv2.evaluation.names.spec import either, nearest

LIBRARIES = ("timm", "torchvision")
CLASSES = 1000
HEADLESS = ("fb_dino",)
"""Tags of timm whose weights are of features only, although it states 1,000 outputs for them."""


@dataclass(frozen=True)
class Catalogue:
    """A library's networks.

    Attributes:
        library: its name.
        names: ``network.tag`` of all weights that tell ImageNet's 1,000 classes apart in colour images, in its order.
        defaults: what a network's name without tag stands for.
        unfit: ``network.tag`` of other weights, and why they are not among ``names``.
        networks: all networks, with or without weights.
    """

    library: str
    names: tuple[str, ...]
    defaults: Mapping[str, str]
    unfit: Mapping[str, str] = field(default_factory=dict)
    networks: tuple[str, ...] = ()

    def matching(self, pattern: str) -> list[str]:
        """Names that fit a pattern, with or without their tag, in the library's order."""
        return [n for n in self.names if fnmatchcase(n, pattern) or fnmatchcase(_network(n), pattern)]

    def one(self, name: str) -> str:
        """The full name. Raises ValueError, saying why and what there is, where it is none."""
        full = self.defaults.get(name, name)
        if full in self.names:
            return full
        raise ValueError(self._why(name, full))

    def known(self, network: str) -> None:
        """Raises ValueError where there is no network of that name; it may have a tag."""
        if _network(network) not in self.networks:
            raise ValueError(self._why(network, network))

    def _why(self, name: str, full: str) -> str:
        listed = f"`imagenetv2 names '{self.library}:*'` lists all"
        if full in self.unfit:
            return f"{full} {self.unfit[full]}, so it cannot name ImageNet's 1,000 classes; {listed} that can"
        network, _, tag = name.partition(".")
        if network in self.networks and (tags := self._tags(network)):
            near = nearest(tag, tags) or list(tags[:3])
            return f"{self.library} has no weights {tag} of {network}; it has {', '.join(near)}" + (
                f" and {len(tags) - len(near)} more" if len(tags) > len(near) else ""
            )
        if network in self.networks:
            return (
                f"{self.library} has no weights of {network} for ImageNet's 1,000 classes; give a file of them as "
                f"{self.library}:{network}=FILE"
            )
        other = next(other for other in LIBRARIES if other != self.library)
        if network in catalogue(other).networks:
            return f"{self.library} has no network {network}, but {other} has; write {other}:{network}"
        near = nearest(name, (*self.networks, *self.names)) or nearest(network, self.networks)
        meant = f"write {either(near)}, or see what there is: " if near else ""
        return f"{self.library} has no network {network}; {meant}{listed}"

    def _tags(self, network: str) -> tuple[str, ...]:
        return tuple(n.partition(".")[2] for n in self.names if _network(n) == network)


def _network(name: str) -> str:
    return name.partition(".")[0]


@cache
def catalogue(library: str) -> Catalogue:
    """That of one of ``LIBRARIES``."""
    return _timm() if library == "timm" else _torchvision()


def _timm() -> Catalogue:
    import timm
    from timm.models import get_pretrained_cfg

    names: list[str] = []
    unfit: dict[str, str] = {}
    for name in timm.list_models(pretrained=True):
        cfg = get_pretrained_cfg(name)
        assert cfg is not None
        if cfg.num_classes != CLASSES:
            unfit[name] = f"has {cfg.num_classes:,} outputs" if cfg.num_classes else "has no classifier"
        elif cfg.input_size[0] != 3:
            unfit[name] = f"takes images of {cfg.input_size[0]} channels"
        elif name.partition(".")[2] in HEADLESS:
            unfit[name] = "has no trained classifier"
        else:
            names.append(name)
    networks = tuple(timm.list_models())
    defaults = {}
    for network in networks:
        cfg = get_pretrained_cfg(network)
        if cfg is not None and cfg.has_weights:
            defaults[network] = f"{network}.{cfg.tag}" if cfg.tag else network
    return Catalogue("timm", tuple(names), defaults, unfit, networks)


def _torchvision() -> Catalogue:
    from torchvision import models

    names, defaults, unfit = [], {}, {}
    networks = tuple(models.list_models(module=models))
    for network in networks:
        weights = models.get_model_weights(network)
        for entry in weights:
            full, classes = f"{network}.{entry.name}", len(entry.meta.get("categories") or ())
            if classes == CLASSES:
                names.append(full)
            else:
                unfit[full] = f"has {classes:,} outputs" if classes else "has no classifier"
        if (default := getattr(weights, "DEFAULT", None)) is not None:
            defaults[network] = f"{network}.{default.name}"
            defaults[f"{network}.DEFAULT"] = f"{network}.{default.name}"
    return Catalogue("torchvision", tuple(names), defaults, unfit, networks)
