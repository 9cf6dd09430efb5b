"""Matches that bind interval events: conditions on both endpoints, their range and their exact confidence."""
