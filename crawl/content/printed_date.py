"""The day of its publication or last change that a page prints in words at its head or foot.

Pure: text in, Unix seconds out. Dates in prose and years of copyright are left alone.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from crawl.content.raw_html import BREAK, without_marks

_HEADINGS = 20  # that may be the title
_PIECES = re.compile(f"[{BREAK}\n|•⋅·]|\xa0{{2,}}")  # of a line of day, author and section
_BEFORE_CHARS, _AFTER_CHARS = 150, 300  # of a title
_DATE_ALONE = re.compile(  # perhaps with a weekday before it, and a time after it
    r"(?:(?:on|am|le|el)\s|[^\W\d_]+\.?,\s+|[^\w\n]+)?((?:\d|[^\W\d_]{3,}\.?\s+\d)[^\n]{5,24}?)"
    r"(?:[^\w\n]*\d\d?[:.]\d\d(?::\d\d)?(?:\s*[^\W\d_.]{1,4}\.?)*)?[^\w\n]*"
)
_CENTURY = "20"  # hardly any page that is older prints its day
_FOOT_CHARS, _HEAD_CHARS = 1_500, 1_500  # of a page: where it prints its own date
_LINE_CHARS = 200  # a longer line is prose
_GAP = r"[^\w\n]*(?:(?:on|at|as of|date|am|vom|den|der|le|il|el|em|op|de|dnia|dne|du|la|в|от)\b[^\w\n]*){0,2}"
_PAGE = (
    r"(?:(?:this|the|our)\s+)?(?:(?:page|document|documentation|article|file|content|site|website|manual|section|topic)"
    r"\s+(?:(?:was|is|has\s+been)\s+)?)?"
)
_SAID = re.compile(
    r"(?:^|[^\w\s,]\s*)(?:"
    + _PAGE
    + r"(?:last\s*-?\s*(?:updated?|modified|modification|changed?|edited|revised|revision|reviewed|built|generated)"
    r"(?:\s+date)?|(?:updated|modified|date\s+modified|revised)(?:\s+on|(?=\s*:)))"
    r"|(?P<published>(?:published|posted)(?:\s+on|(?=\s*:))|(?:veröffentlicht|publié|publicado|pubblicato)(?:\s+am)?"
    r"|发布日期|發布日期|公開日)"
    r"|stand(?=\s*:)|letzte\s+(?:änderung|aktualisierung|bearbeitung)|(?:zuletzt\s+)?(?:aktualisiert|geändert|bearbeitet)"
    r"|(?:diese\s+seite\s+wurde\s+)zuletzt|(?:date\s+de\s+|la\s+)?dernière\s+(?:mise\s+à\s+jour|modification)"
    r"(?:\s+de\s+cette\s+page\s+a\s+été\s+faite)?|mis\s+à\s+jour|modifié|última\s+(?:actualización|modificación|revisión|"
    r"atualização|modificação|edição)|(?:esta\s+página\s+se\s+editó\s+por\s+última\s+vez)|actualizado|atualizado"
    r"|ultim[oa]\s+(?:aggiornamento|modifica)|aggiornato|laatst\s+(?:bijgewerkt|gewijzigd|bewerkt)|laatste\s+wijziging"
    r"|ostatnia\s+(?:aktualizacja|modyfikacja|zmiana)|zaktualizowano|naposledy\s+(?:změněno|upraveno|aktualizováno)"
    r"|poslední\s+(?:změna|aktualizace)|последнее\s+(?:обновление|изменение)|обновлено|дата\s+обновления|оновлено"
    r"|останнє\s+оновлення|son\s+(?:güncelleme|değişiklik)(?:\s+tarihi)?|senast\s+(?:uppdaterad|ändrad)"
    r"|sid(?:st|en)\s+(?:opdateret|ændret|oppdatert|endret)|viimeksi\s+(?:päivitetty|muokattu)|päivitetty"
    r"|utolsó\s+(?:frissítés|módosítás)|(?:最后|最後|最近)?\s*(?:更新|修改|修訂|修订)(?:日期|时间|時間|于|於|日|日時)?"
    r"|最終更新日?時?|마지막\s*(?:업데이트|수정)(?:일|됨)?|최종\s*(?:수정|업데이트)(?:일)?|cập\s+nhật(?:\s+lần\s+cuối)?"
    r")" + _GAP + r"(?=\d|[^\W\d_]+\.?,?\s+\d|[^\W\d_]+,?\s+[^\W\d_]+\.?\s+\d)",
    re.IGNORECASE,
)
_DAY_OF_NUMBERS = re.compile(r"(\d{4})\s*([-/.年]|년)\s*(\d{1,2})\s*(?:[-/.月]|월)\s*(\d{1,2})(?!\d)")
_DAY_FIRST = re.compile(r"(\d{1,2})([./-])\s?(\d{1,2})\2\s?(\d{4})(?!\d)")
_DAY_IN_WORDS = re.compile(
    r"(?:[^\W\d_]+\.?,?\s+)?(?:(?P<day>\d{1,2})(?:\.|er|º|st|nd|rd|th)?(?:\s+(?:de|of)|-)?\s*)?(?P<month>[^\W\d_]{3,})\.?,?"
    r"(?:\s+de|-)?\s*(?:(?P<after>\d{1,2})(?:st|nd|rd|th)?(?!\d)[,.]?\s+(?:\d\d?:\d\d(?::\d\d)?\s+(?:[A-Z]{3,4}\s+)?)?)?"
    r"(?P<year>\d{4})(?!\d)"
)
_MONTH_STEMS = (
    "jan ene gen янв січ sty oca led tammi ιαν",
    "feb fév fev фев лют lut şub únor helmi φεβ",
    "mar mär már mrt maa март мар берез břez μαρ",
    "apr avr abr ápr апр квіт kwi dub nis huhti απρ",
    "may mai maj mei mag máj мая май трав květ touko μαΐ",
    "jun juin giu jún июн черв cze červn červen haz kesä ιουν",
    "jul juil lug júl июл лип lip červenc tem heinä ιουλ",
    "aug aoû ago авг серп sie srp ağu elo αυγ",
    "sep set szep сен верес wrz zář eyl syys σεπ",
    "oct okt ott out окт жовт paź říj eki loka οκτ",
    "nov ноя листоп lis kas marras νοε",
    "dec déc dez des dic дек груд gru prosin ara joulu δεκ",
)
_MONTH_OF = {stem: number for number, stems in enumerate(_MONTH_STEMS, 1) for stem in stems.split()}


def printed_dates(text: str) -> tuple[float, float]:
    """Return when a page was published, or else last changed, by a line at its head or foot; 0.0: unknown.

    Such a line has words before the date, as "Last updated on May 3, 2024"."""
    parts = (text,) if len(text) <= _HEAD_CHARS + _FOOT_CHARS else (text[-_FOOT_CHARS:], text[:_HEAD_CHARS])
    for part in parts:
        if _CENTURY in part:
            lines = (line for line in part.split("\n") if _CENTURY in line and len(line) <= _LINE_CHARS)
            for found in filter(None, map(_SAID.search, lines)):
                if day := day_in_words(found.string[found.end() :]):
                    return (day, 0.0) if found["published"] else (0.0, day)
    return 0.0, 0.0


def date_by_title(marked: str, headings: Sequence[str], title: str) -> float:
    """Return the day in the one line beside a page's heading that is a date and little else, as on news and blogs. 0.0:
    none, or several. `marked`: the text with its marks."""
    heading = max((each for each in headings[:_HEADINGS] if " ".join(each.split()) in title), key=len, default="")
    at = marked.find(heading) if heading else -1
    near = marked[max(0, at - _BEFORE_CHARS) : at + len(heading) + _AFTER_CHARS] if at >= 0 else ""
    if _CENTURY not in near:
        return 0.0
    lines = (without_marks(line).strip() for line in _PIECES.split(near) if _CENTURY in line)
    days = {day_in_words(found[1]) for line in lines if (found := _DATE_ALONE.fullmatch(line))} - {0.0}
    return days.pop() if len(days) == 1 else 0.0


def day_in_words(text: str) -> float:
    """Read the day with which a text begins; 0.0 where it is none, or where day and month may be either."""
    if found := _DAY_OF_NUMBERS.match(text):
        return _instant(int(found[1]), int(found[3]), int(found[4]))
    if found := _DAY_FIRST.match(text):
        first, second, year = int(found[1]), int(found[3]), int(found[4])
        if found[2] != "." and first != second and first <= 12 and second <= 12:
            return 0.0
        return _instant(year, second, first) if second <= 12 else _instant(year, first, second)
    found = _DAY_IN_WORDS.match(text)
    if found is None or not (day := found["day"] or found["after"]):
        return 0.0
    word = found["month"].lower()
    month = next((_MONTH_OF[word[:size]] for size in range(7, 2, -1) if word[:size] in _MONTH_OF), 0)
    return _instant(int(found["year"]), month, int(day))


def _instant(year: int, month: int, day: int) -> float:
    try:
        return datetime(year, month, day, tzinfo=UTC).timestamp()
    except ValueError:  # no such day
        return 0.0
