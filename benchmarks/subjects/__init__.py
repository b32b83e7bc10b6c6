"""What is measured: one module for each subject, with a function `measure(effort)` that yields figures.

Each runs in an interpreter of its own (`python -m benchmarks.subject NAME`), some in an environment of their own.
"""
