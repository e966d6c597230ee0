"""The demo: a network on this machine, and the bundled sample web that it crawls."""
