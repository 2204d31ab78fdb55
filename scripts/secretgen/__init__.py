"""The parts of make_secrets.py: forms of tokens, values of passwords, surroundings, and look-alikes."""
