"""What is kept on disk: run directories, the call cache, the readers of released files."""
