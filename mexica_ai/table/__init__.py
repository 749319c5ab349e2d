"""A game between people and engines: who sits there (`seats`), what happened (`events`), its `journal`."""
