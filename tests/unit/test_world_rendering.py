"""The renderer: the same pixels each time, harder when it says so, and a pool like a real one."""

from __future__ import annotations

import io
from dataclasses import fields, replace

import numpy as np
import pytest
from PIL import Image

from imagenetv2.benchmark.settings import Images
from imagenetv2.images import UndecodableImageError, decode
from imagenetv2.randomness import generator
from imagenetv2.world.rendering.difficulty import Factors, any_level, clarity, selection
from imagenetv2.world.rendering.files import BROKEN, EDITS, ENCODINGS, Picture, make
from imagenetv2.world.rendering.objects import KINDS, likeness
from imagenetv2.world.rendering.originals import originals
from imagenetv2.world.rendering.photograph import Scene, Shot, photograph
from imagenetv2.world.rendering.pool import counts, pool
from imagenetv2.world.settings import People, Rendered
from imagenetv2.world.truth import of_population

CLEAR = Factors(0, 0, 0, 0, 0)
MUG, PITCHER, BUS = "n03063599", "n03950228", "n04146614"
SMALL = Rendered(train_per_class=20, validation_per_class=20, pool_per_class=60)


@pytest.mark.parametrize("wnid", KINDS)
def test_each_class_is_drawn_and_no_two_scenes_are_alike(wnid: str) -> None:
    one, again, other = (photograph(Scene(key, wnid, CLEAR), Shot(), 64, 7) for key in ("a", "a", "b"))
    assert one.shape[0] == 64 and one.shape[2] == 3 and one.dtype == np.uint8
    assert np.array_equal(one, again)
    assert one.shape != other.shape or not np.array_equal(one, other)
    assert one.astype(float).std() > 15


def test_what_is_shown_stands_out_less_as_contrast_goes() -> None:
    empty = [
        photograph(Scene(str(n), MUG, Factors(1, c, 0, 0, 0)), Shot(), 80, 1)
        for c in (0.0, 1.0)
        for n in range(8)
    ]
    spread = [float(p.astype(float).mean(axis=2).std()) for p in empty]
    assert np.mean(spread[:8]) > 1.5 * np.mean(spread[8:])


def test_bursts_are_the_same_scene_moved() -> None:
    scene = Scene("burst", MUG, CLEAR)
    first = photograph(scene, Shot(), 80, 3).astype(float)
    moved = photograph(scene, Shot(right=3, down=-2, take=1), 80, 3).astype(float)
    shifted = np.abs(first[:-2, 3:] - moved[2:, :-3]).mean()
    assert shifted < 5 < np.abs(first - moved).mean()


def test_every_factor_makes_it_harder() -> None:
    base = Factors(*[0.4] * 5)
    for field in fields(Factors):
        harder = replace(base, **{field.name: 0.9})
        assert harder.difficulty() > base.difficulty()
        assert clarity(harder) < clarity(base)


def test_look_alikes_are_selected_more_than_others_and_less_than_the_class() -> None:
    for clear in (0.1, 0.3, 0.6, 0.95):
        near, far = selection(MUG, PITCHER, clear), selection(MUG, BUS, clear)
        assert far < near
        assert selection(None, MUG, clear) <= far
        assert near < selection(MUG, MUG, max(clear, 0.3))
    assert likeness(MUG, PITCHER) == likeness(PITCHER, MUG)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_encodings_decode_upright_or_are_broken(encoding: str) -> None:
    picture = Picture(Scene("file", MUG, CLEAR), encoding=encoding)
    made = make(picture, 64, 5)
    settings = Images()
    if encoding in BROKEN:
        with pytest.raises(UndecodableImageError):
            decode(made.data, settings)
        return
    with Image.open(io.BytesIO(made.data)) as stored:
        assert stored.size == (made.width, made.height)
    upright = photograph(picture.scene, picture.shot, 64, 5).astype(float)
    pixels = decode(made.data, settings).pixels.astype(float)
    assert pixels.shape == upright.shape
    tolerance = 14 if encoding not in ("grey", "cmyk") else 40
    assert np.abs(pixels - upright).mean() < tolerance


def test_the_lossless_copy_has_the_pixels_of_the_file_and_other_bytes() -> None:
    picture = Picture(Scene("copy", BUS, CLEAR))
    one, copy = make(picture, 64, 5), make(replace(picture, encoding="lossless_copy"), 64, 5)
    assert one.data != copy.data
    assert np.array_equal(decode(one.data, Images()).pixels, decode(copy.data, Images()).pixels)


def test_edits_change_the_picture() -> None:
    plain = make(Picture(Scene("edit", MUG, CLEAR)), 64, 5)
    assert all(make(Picture(Scene("edit", MUG, CLEAR), edit=e), 64, 5).data != plain.data for e in EDITS if e)


def test_originals_are_those_that_a_majority_selected() -> None:
    people = People()
    kept = originals(MUG, Rendered(), people, 11)
    assert [sum(o.split == s for o in kept) for s in ("train", "val")] == [150, 80]
    assert len({o.file for o in kept}) == len(kept)
    chance = [of_population(clarity(o.picture.scene.factors), people) for o in kept]
    rng = generator(0, "anyone")
    anyone = [of_population(clarity(any_level(rng)), people) for _ in range(2000)]
    assert 0.7 < np.mean(chance) < 0.86
    assert np.mean(chance) > np.mean(anyone) + 0.08


def test_a_pool_holds_what_a_real_one_does() -> None:
    wnids = list(KINDS)
    kept = originals(MUG, SMALL, People(), 1)
    uploads = pool(MUG, wnids, 200, kept, 1)
    many = counts(200)
    assert len(uploads) == 200 + many["outside"]
    assert all(MUG in u.tagged for u in uploads)
    assert sum(u.status == "gone" for u in uploads) == many["gone"]
    assert sum(u.status == "broken" for u in uploads) == many["broken"]
    pictures = [u.picture for u in uploads if u.picture is not None]
    assert 0.12 < sum(p.scene.shown != MUG for p in pictures) / len(pictures) < 0.18
    assert sum(p.scene.drawing for p in pictures) == many["drawing"]
    assert sum(p in {o.picture for o in kept} for p in pictures) >= 2
    assert len(pictures) - len(set(pictures)) >= many["reupload"] // 2
    assert {p.edit for p in pictures} == set(EDITS)
    assert any(len(u.tagged) > 1 for u in uploads)


def test_pools_of_one_seed_are_equal_and_of_two_are_not() -> None:
    kept = originals(MUG, SMALL, People(), 1)
    assert pool(MUG, list(KINDS), 60, kept, 1) == pool(MUG, list(KINDS), 60, kept, 1)
    assert pool(MUG, list(KINDS), 60, kept, 1) != pool(MUG, list(KINDS), 60, kept, 2)
    # A class is drawn the same whatever other classes there are, but for what is off topic.
    alone = pool(MUG, [MUG], 60, kept, 1)
    assert len(alone) == len(pool(MUG, list(KINDS), 60, kept, 1))


def test_there_are_enough_good_photographs_and_all_difficulties() -> None:
    rng = generator(3, "levels")
    chance = np.array([of_population(clarity(any_level(rng)), People()) for _ in range(3000)])
    assert (chance >= 0.75).mean() > 0.35
    assert all(((chance >= low) & (chance < low + 0.2)).mean() > 0.03 for low in (0, 0.2, 0.4, 0.6, 0.8))
