"""The Python side of each game: its text forms and its pictures. `mexica_ai.registry` lists the games."""
