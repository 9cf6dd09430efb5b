"""The engines: from events and a plan to collapsed matches."""
