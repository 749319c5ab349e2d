"""The Python half of Mexica: facts about the board, text forms, invariants of positions, the board as text."""
