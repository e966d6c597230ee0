"""Answers a search from its n-th result on, as clients ask for it that count results and know no cursors."""

import asyncio
from dataclasses import replace

from index import SearchRequest
from node.api.body import Json
from node.service.service import Service
from node.web.requests.routes import MAX_COUNT

LEAST_MS = 50  # of a deadline, as the API's


async def search_from(service: Service, question: SearchRequest, start: int) -> Json:
    """Return an answer whose results are those of the question without its first `start`; its other fields are those
    of the first search. The deadline is one for all searches that this takes; what is late is missing, and `partial`
    says so."""
    clock = asyncio.get_running_loop().time
    ends_at, reach = clock() + question.deadline_ms / 1000, start + question.limit
    limit = min(reach, MAX_COUNT)
    first = answer = await service.search(replace(question, limit=limit))
    results, is_partial = list(answer["results"]), answer.get("partial") is True
    while len(answer["results"]) == limit and len(results) < reach and (cursor := answer.get("next_cursor")):
        limit, left_ms = min(reach - len(results), MAX_COUNT), int((ends_at - clock()) * 1000)
        if left_ms < LEAST_MS:
            is_partial = True
            break
        answer = await service.search(replace(question, limit=limit, cursor=cursor, deadline_ms=left_ms))
        results += answer["results"]
        is_partial |= answer.get("partial") is True
    return {**first, "results": results[start:reach], "partial": is_partial}
