"""Plain, slow, readable Python of the paper: the oracle of the tests."""
