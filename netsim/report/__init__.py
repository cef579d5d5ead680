"""Reports: a Result in words and aligned columns for people."""
