// Holds the precompiled header; see ZyxMLIR.cmake.
