"""What the training of Mexica's weights varies (`mexica_ai.train.starts`): nothing."""

varied = None
