"""Why nothing matched, and how one match's confidence comes about; no row of the output is made here."""
