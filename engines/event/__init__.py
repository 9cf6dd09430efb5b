"""The event engine: from a plan and events to collapsed matches; who calls it is in the room `runners`."""
