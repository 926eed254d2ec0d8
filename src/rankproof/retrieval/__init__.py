"""From a corpus and queries to runs: pipelines made of stages."""
