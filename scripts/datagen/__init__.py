"""Generates agent trajectories that read like real ones; `make_data.py` is the command."""
