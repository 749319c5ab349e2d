"""The Python half of each game: text forms, new games, rendering. `mexica_ai.registry` lists the games."""
