"""Exchange: read and write tokenizers of Hugging Face, tiktoken and the paper, exactly or not at all."""
