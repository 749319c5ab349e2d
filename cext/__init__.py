"""The compiled layer. See `cext/README.md`."""
