"""What a reader of logs is: the contract, its batches, times and hosts; no format is known here."""
