"""judgelab's one entry point: compose a config, run its study, return its primary metric."""

from judgelab.__main__ import main

if __name__ == "__main__":
    main()
