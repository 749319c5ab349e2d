"""The Python side of each game: its text forms and its pictures. Only `mexica_ai.registry` knows which games there are."""
