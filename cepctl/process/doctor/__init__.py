"""What cepctl needs of a machine: whether it is there, and what to do where it is not."""
