"""Who answers: providers and what they take, pointers to models, keys, and the way over the network."""
