"""Definitions in float64 numpy, written from the operators' ONNX texts."""
