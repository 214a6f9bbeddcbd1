"""From models and sets to a table with intervals, a plot and a page: what ``imagenetv2 evaluate`` makes."""
