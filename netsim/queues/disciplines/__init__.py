"""One queue discipline per file: its settings, its state and its kernels; see ../dispatch.py."""
