"""Kept listings: what is found is what was kept, however full they are."""

import random

from test_games.inside.parts import Listings

MOST = 128  # actions of a listing


def listing(rng, n):
    """Return a key, n actions and their priors, which a float32 holds."""
    return (
        rng.getrandbits(64),
        [rng.getrandbits(64) for _ in range(n)],
        [rng.randrange(1, 1 << 20) / 1024 for _ in range(n)],
    )


def test_a_listing_is_found_whole_or_not_at_all():
    rng, listings, kept, keys = random.Random(1), Listings(), {}, []
    found = missed = 0
    for _ in range(15_000):  # 97 words on average: they go round the ring more than twice
        key, actions, priors = listing(rng, rng.randint(1, MOST))
        listings.keep(key, actions, priors)
        kept[key] = actions, priors
        keys.append(key)
        assert listings.find(key) == kept[key]
        other = rng.choice((key, keys[-rng.randint(1, min(4000, len(keys)))]))
        if listings.find(other) is None:
            missed += 1
        else:
            assert listings.find(other) == kept[other]
            found += 1
    assert found > 5000
    assert missed > 100
    assert listings.find(next(iter(kept))) is None  # the oldest are gone


def test_a_key_that_was_kept_again_has_the_newer_listing():
    listings = Listings()
    listings.keep(7, [1, 2], [0.5, 0.25])
    listings.keep(7, [3], [1.0])
    assert listings.find(7) == ([3], [1.0])


def test_nothing_is_found_before_it_is_kept():
    assert [Listings().find(key) for key in (0, 1, 1 << 63)] == [None] * 3


def test_longer_listings_are_not_kept():
    rng, listings = random.Random(2), Listings()
    key, actions, priors = listing(rng, MOST + 1)
    listings.keep(key, actions, priors)
    assert listings.find(key) is None
    listings.keep(key, actions[:-1], priors[:-1])
    assert listings.find(key) == (actions[:-1], priors[:-1])
