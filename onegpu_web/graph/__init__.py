"""ONNX models: the reader, numpy operators for what is constant, rewriting passes, and the session on a device."""
