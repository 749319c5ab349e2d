"""Coatl outside the compiled core: the cards' facts, the text forms, valid positions, the text board."""
