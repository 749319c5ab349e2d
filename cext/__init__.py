"""The compiled layer. See `cext/README.md`."""

from cext import variants as _variants

_variants.install()
