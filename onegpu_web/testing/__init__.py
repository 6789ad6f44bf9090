"""Case tables, float64 references and their runner: the same on the desktop, in Chromium and in benchmarks."""
