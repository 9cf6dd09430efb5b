"""What a process needs of its machine: memory, an orderly start and end, a terminal, and files to be trusted.

`doctor` looks whether all of it is there.
"""
