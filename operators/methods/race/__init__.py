"""Race: candidates meet on the same tasks until the data separate them."""
