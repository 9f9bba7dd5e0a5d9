"""What language models may do with crawls, over the Model Context Protocol."""
