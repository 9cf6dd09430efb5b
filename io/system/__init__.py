"""Logs of operating systems: syslog and the journal of systemd."""
