"""``python -m tbgat`` is the command line."""

from tbgat.cli import main

raise SystemExit(main())
