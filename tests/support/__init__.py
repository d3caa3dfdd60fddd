"""What tests of several folders set up alike, one module for each subject."""
