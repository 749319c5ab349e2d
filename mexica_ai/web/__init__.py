"""The page to play, analyse, review and edit in the browser."""
