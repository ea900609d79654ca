//! Execute AMD GPU code objects without a GPU.
