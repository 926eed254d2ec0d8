"""The labeller on the whole screen of a terminal: what `labeling.session` offers, shown with Textual."""
