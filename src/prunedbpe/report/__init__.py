"""Report: the paper's study on two corpora, as tables, figures and an HTML page."""
