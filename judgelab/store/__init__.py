"""What is kept on disk: folders of runs, private files; and what makes two runs the same."""
