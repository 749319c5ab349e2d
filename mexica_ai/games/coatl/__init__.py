"""The Python half of Coatl: facts about the cards, text forms, invariants of positions, the board as text."""
