"""What assistants may ask, by the Model Context Protocol: four tools that only read, below named folders."""
