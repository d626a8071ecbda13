"""Read the query string of an address."""

from urllib.parse import parse_qsl


def parse_address(text: object) -> dict[str, str]:
    """Read a query string."""
    return dict(parse_qsl(str(text)[:2000], keep_blank_values=True))
