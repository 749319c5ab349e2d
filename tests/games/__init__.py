"""Games that only the tests play, compiled as the package `test_games`; no wheel contains them."""
