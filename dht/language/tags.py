"""Language tags (BCP 47): which language a tag means, however it is written.

Pure: RFC 4647's lookup cuts a tag to its language ("en-US" is like "en"). RFC 5646's registry names codes that others
have replaced. People also type ISO 639-2 codes of languages that have a shorter one.
"""

import re
from functools import lru_cache

_CODES = (  # ISO 639-1
    "aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en "
    "eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja "
    "jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb "
    "nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so "
    "sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
_TWO_LETTERS = frozenset(_CODES.split())
_NO_LANGUAGE = frozenset(("mis", "mul", "und", "zxx"))
_REPLACED = (
    "iw:he in:id ji:yi jw:jv mo:ro nb:no tl:fil cmn:zh arb:ar pes:fa prs:fa swh:sw zsm:ms lvs:lv ekk:et azj:az uzn:uz "
    "eng:en deu:de ger:de fra:fr fre:fr spa:es ita:it por:pt nld:nl dut:nl swe:sv nor:no nob:no nno:nn dan:da fin:fi "
    "hun:hu pol:pl ces:cs cze:cs slk:sk slo:sk ron:ro rum:ro rus:ru ukr:uk bul:bg ell:el gre:el tur:tr ara:ar heb:he "
    "fas:fa per:fa hin:hi urd:ur ben:bn tam:ta tel:te tha:th vie:vi ind:id msa:ms may:ms jpn:ja kor:ko zho:zh chi:zh "
    "cat:ca eus:eu baq:eu glg:gl gle:ga cym:cy wel:cy est:et lav:lv lit:lt hrv:hr srp:sr slv:sl mkd:mk mac:mk sqi:sq "
    "alb:sq hye:hy arm:hy kat:ka geo:ka isl:is ice:is epo:eo lat:la yid:yi swa:sw afr:af bel:be kaz:kk "
    "jp:ja cn:zh cz:cs dk:da ua:uk gr:el"  # countries, which are no languages, but are written for theirs
)
_LANGUAGE_OF = {old: new for old, _, new in (each.partition(":") for each in _REPLACED.split())}
_WHOLE_TAGS = {"no-bok": "no", "no-nyn": "nn", "i-lux": "lb", "i-navajo": "nv", "i-hak": "hak"}  # grandfathered ones
_EXTENDED = frozenset(("zh", "ar", "ms", "sgn", "uz", "sw"))  # their extension is a language: zh-yue is yue
_TAG = re.compile(r"([a-z]{2,3})((?:-(?:[a-z0-9]{1,8}|\*))*)", re.ASCII)
_ALSO = {"no": ("no", "nn")}  # a macrolanguage, and what documents may say instead


@lru_cache(1 << 8)  # pages of a site say the same
def language_code(tag: str) -> str:
    """Return the code of a tag's language, as documents have it; "" where no such language can be."""
    written = tag.strip().lower().partition(".")[0].replace("_", "-")  # en_US.UTF-8, as machines name it
    if written in _WHOLE_TAGS:
        return _WHOLE_TAGS[written]
    found = _TAG.fullmatch(written)
    if found is None:
        return ""
    code, extension = found[1], found[2][1:].partition("-")[0]
    if code in _EXTENDED and len(extension) == 3 and extension.isalpha():
        code = extension
    code = _LANGUAGE_OF.get(code, code)
    is_known = code in _TWO_LETTERS if len(code) == 2 else code not in _NO_LANGUAGE
    return code if is_known else ""


def codes_of(tag: str) -> tuple[str, ...]:
    """Return the codes of all documents in a tag's language (of Norwegian, Nynorsk, too), none where there is none."""
    code = language_code(tag)
    return _ALSO.get(code, (code,) if code else ())
