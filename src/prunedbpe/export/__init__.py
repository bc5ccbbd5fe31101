"""Files of a finished tokenizer."""
