"""What is given: worlds that contradict it are removed, and confidences are of those that remain."""
