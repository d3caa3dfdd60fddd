"""The texts of `mas dev explain` and `mas init`: fields, reference pages, starter folders."""
