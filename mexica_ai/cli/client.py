"""`mexica-ai client`: placeholder until mexica_ai.client is seen."""
