"""The Python half of each game: text forms, new games, rendering. `mexica_ai.game.registry` lists the games."""
