"""Any log of lines with a time in them: the time is found, what stands around it is told apart."""
