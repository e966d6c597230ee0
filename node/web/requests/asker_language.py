"""The languages that a request is asked in: of its interface, or those of Accept-Language."""

from dht import language_code


def asker_language(wanted: str, accepted: str) -> str:
    """Return the language that an asker reads most, as documents have it: the one that a parameter names, else the
    first of Accept-Language; "" unknown."""
    return language_code(wanted) or language_code(next(iter(by_preference(accepted)), ""))


def by_preference(accepted: str) -> list[str]:
    """List the codes of an Accept-Language header, most wanted first; those with q = 0 left out."""
    weighed = []
    for place, part in enumerate(accepted[:500].split(",")):
        code, _, quality = part.strip().partition(";")
        weight = _quality(quality)
        if code and weight > 0:
            weighed.append((-weight, place, code.strip()))
    return [code for _, _, code in sorted(weighed)]


def _quality(text: str) -> float:
    name, _, value = text.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0
