"""Report: the paper's study on the user's own text, as tables, figures and checked claims."""
