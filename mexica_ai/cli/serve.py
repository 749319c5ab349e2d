"""`mexica-ai serve`: placeholder until server.main is seen."""
