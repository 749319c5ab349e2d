"""What the training of Coatl's weights varies (`mexica_ai.train.starts`): nothing."""

varied = None
