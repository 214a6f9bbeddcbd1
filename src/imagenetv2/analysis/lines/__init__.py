"""Lines of new on original accuracy: fits, their bootstrap intervals, and what they owe to which models."""
