"""Exchange with Hugging Face, tiktoken and the paper's files, exactly or not at all."""
