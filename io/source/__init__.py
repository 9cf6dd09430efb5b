"""Where bytes come from: paths, streams, compression, XML and JSON as such; no event is made here."""
