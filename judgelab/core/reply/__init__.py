"""Reading a reply: the label, grade or JSON that it states."""
