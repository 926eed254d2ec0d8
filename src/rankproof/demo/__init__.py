"""The example that the package brings: a help centre's questions, judgments and two runs. All of it invented."""
