"""What benchmarks/gpu.py measures, and how. It begins on a machine without PyTorch, which is imported where it is used."""
