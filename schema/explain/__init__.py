"""What `mas dev explain` and `mas init` say: fields in words, reference pages, starter folders."""
