"""Which types of events directly follow which in a case: least, expected and greatest number of times."""
