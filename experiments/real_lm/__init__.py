"""Does a real chat LM of 135 million parameters measure more than a compressor?"""
