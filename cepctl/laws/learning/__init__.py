"""Learning: from keys whose true order is known the law of order under which that is most probable."""
