"""What a refresh brings: fetchers that believe nothing of an answer, and the store of what they do believe."""
