"""The local page: label in the browser, look at annotators, runs and scores."""
