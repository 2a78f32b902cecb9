"""Compiled local search on insertion moves: arrays, moves, tabu walk, relinking, construction."""
