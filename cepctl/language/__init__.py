"""The query language: text to frozen values, their printer, and errors that teach."""
