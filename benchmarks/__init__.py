"""Speed and memory against other tools, as ratios taken in one run: `python -m benchmarks`."""
