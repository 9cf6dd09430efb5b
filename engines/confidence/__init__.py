"""How confidences and time ranges of matches come about, a room for each way; no match is sought here."""
