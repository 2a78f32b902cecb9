"""The disjunctive graph: state, evaluation, critical paths and moves."""
