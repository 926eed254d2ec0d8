"""Several runs made into one. `registry` names the methods, `candidates` holds what they look at."""
