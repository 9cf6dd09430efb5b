"""Files and folders that appear whole or not at all, and what killed runs leave of those that did not."""
