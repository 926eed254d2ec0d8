"""Texts as vectors: models that run here, and the store that keeps what they made."""
