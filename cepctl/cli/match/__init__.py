"""What `cepctl match` does between its arguments and `cepctl.matching`, where the work is."""
