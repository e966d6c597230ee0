"""Serves the publisher's pages: the rules in words, a form for a change, its effect, its signature, and the history.

A node that has a publisher's key signs by itself, for a browser whose owner logged in a moment ago. Elsewhere the
draft is downloaded, signed by `dse-node strategy sign`, and uploaded.
"""

import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import msgspec
from aiohttp import web

from dht import (
    BadStrategy,
    Identity,
    SignedStrategy,
    Strategy,
    add_signature,
    decode_signed,
    encode_signed,
    parse_document,
)
from node.service.service import Service
from node.strategy.draft import check_understood, draft, next_version, read_version
from node.strategy.draft_checks import check_index_copies, check_members, check_slots, puts_out_many
from node.strategy.impact import changes_json
from node.strategy.kept_drafts import KeptDraft, KeptDrafts
from node.strategy.signing import document_to_sign, own_keys
from node.strategy.typed_change import FIELDS, open_fields, typed_change
from node.views.safe_text import plain
from node.views.strategy import change_lines, effect_lines, rule_words
from node.web.owner.login import Logins, has_logged_in_now
from node.web.owner.owner_pages import OwnerPages, lead_to, words_of
from node.web.rendering.translations import Translate
from node.web.requests.api import parameters
from node.web.requests.forms import read_file, read_form

RULES, NODES, VERSIONS = 30, 50, 20  # on a page
MAX_LINES, LINE_CHARS = 60, 200  # of a draft; with the longest escapes its page stays below 100 kB
PREVIEW_S = 600.0  # after that a draft's effect is worked out anew
MAX_UPLOAD_BYTES = 1 << 20
REFUSAL_CHARS = 400
NO_DRAFT = BadStrategy("draft", "is not here any more", "make it again: this node keeps few, until it starts anew")
STALE_LOGIN = BadStrategy(
    "login",
    "is older than five minutes",
    "type the password anew at /login, or follow the link of `dse-node open`, and come back to this draft",
)
NO_KEY = BadStrategy(
    "key", "of a publisher is not on this machine", "download the draft, sign it where the key is, upload it"
)


class OwnerStrategy:
    """Holds the handlers of the strategy's pages, named as in the table of routes. `keys`: the folder of keys."""

    def __init__(self, service: Service, pages: OwnerPages, logins: Logins, keys: Path) -> None:
        self._service, self._pages, self._logins, self._keys = service, pages, logins, keys
        self._drafts = KeptDrafts()

    async def owner_strategy(self, request: web.Request) -> web.Response:
        """Show the newest version in words, the form for a change, and the versions."""
        values = parameters(request, "owner_strategy")
        newest, digest = await self._newest()
        published = values.count("published")
        log = (await self._service.strategy_log()).plain()
        wanted, start = values.count("version"), values.count("from")
        t = words_of(request)
        rules = [(rule.action, rule_words(msgspec.to_builtins(rule), t)) for rule in newest.rules]
        return self._pages.render(
            request,
            "owner_strategy.html",
            newest=newest,
            digest=digest,
            rules=list(enumerate(rules, start=1))[start : start + RULES],
            rules_count=len(rules),
            start=start,
            step=RULES,
            blocked=newest.blocked[:NODES],
            fields=open_fields(newest),
            drafts=self._drafts.after(newest.version),
            versions=log.get("versions", [])[: -VERSIONS - 1 : -1],
            warnings=[plain(each) for each in log.get("warnings", [])],
            version=wanted,
            differences=_shown(await self._differences(wanted, t), t) if wanted else [],
            published=published,
            did=await self._denied_or_allowed(newest) if published == newest.version > 1 else "",
            refused=plain(values.text("refused"), REFUSAL_CHARS),
        )

    async def owner_strategy_draft(self, request: web.Request) -> web.Response:
        """Show a draft: what differs, what that moves, and how it is signed."""
        values = parameters(request, "owner_strategy_draft")
        kept = self._drafts.find(values.text("draft"))
        if kept is None:
            return lead_to(request, "owner_strategy", refused=_told(NO_DRAFT))
        newest, _ = await self._newest()
        kept = await self._seen(kept)
        stay, lost = kept.counts
        t = words_of(request)
        one_index = kept.strategy.index_copies == 1 < kept.strategy.replicas
        return self._pages.render(
            request,
            "owner_draft.html",
            draft=kept.signed.digest,
            strategy=kept.strategy,
            changes=_shown(change_lines(kept.effect.get("changes", {}), t), t),
            effect=_shown(effect_lines(kept.effect, t), t),
            lost=lost if puts_out_many(stay, lost) else 0,
            leaves_nobody=lost > 0 and not stay,
            one_index=one_index,
            command=_command(kept.strategy, lost * puts_out_many(stay, lost), one_index),
            lacks=kept.lacks(newest),
            threshold=newest.threshold,
            keys=len(self._own_keys(newest)),
            is_fresh=has_logged_in_now(request, self._logins),
            refused=plain(values.text("refused"), REFUSAL_CHARS),
        )

    async def owner_strategy_file(self, request: web.Request) -> web.Response:
        """Answer with a draft as a file, to be signed elsewhere, with the signatures that it has."""
        kept = self._drafts.find(parameters(request, "owner_strategy_file").text("draft"))
        if kept is None:
            raise NO_DRAFT
        body = encode_signed(kept.signed) if kept.signed.signatures else kept.signed.document
        attached = {"Content-Disposition": f'attachment; filename="strategy-{kept.strategy.version}.json"'}
        return web.Response(body=body + b"\n", content_type="application/json", headers=attached)

    async def owner_strategy_change(self, request: web.Request) -> web.Response:
        """Draft the next version as the form says, and lead to its effect."""
        values = await read_form(request, "owner_strategy_change")
        try:
            newest, digest = await self._newest()
            if values.text("base") not in ("", digest):
                raise BadStrategy("version", f"{newest.version} is the newest by now", "look at it, then say it again")
            members = {peer.node_id: peer.name for peer in await self._service.peers()}
            change = typed_change({name: values.text(name) for name in FIELDS}, newest, members)
            document = document_to_sign(draft(newest, digest, change, int(time.time())))
            kept = await self._keep(SignedStrategy(document, ()))
        except BadStrategy as error:
            return lead_to(request, "owner_strategy", "change", refused=_told(error))
        if values.flag("at_once"):
            return await self._sign_and_publish(request, kept, 0, is_meant=False)
        return lead_to(request, "owner_strategy_draft", draft=kept.signed.digest)

    async def owner_strategy_sign(self, request: web.Request) -> web.Response:
        """Sign a draft with the keys on this machine, and publish it where that is enough."""
        values = await read_form(request, "owner_strategy_sign")
        kept = self._drafts.find(values.text("draft"))
        if kept is None:
            return lead_to(request, "owner_strategy", refused=_told(NO_DRAFT))
        return await self._sign_and_publish(request, kept, values.count("lose"), is_meant=values.flag("one_index"))

    async def owner_strategy_upload(self, request: web.Request) -> web.Response:
        """Take a draft or a signed document; publish it where it is signed and nothing else must be agreed to."""
        data = await read_file(request, "owner_strategy_upload", MAX_UPLOAD_BYTES)
        try:
            newest, _ = await self._newest()
            kept = await self._keep(self._read(data))
        except BadStrategy as error:
            return lead_to(request, "owner_strategy", refused=_told(error))
        digest = kept.signed.digest
        if kept.lacks(newest):
            return lead_to(request, "owner_strategy_draft", draft=digest)
        try:
            await self._check(kept, newest, 0, is_meant=True)  # who signed it was asked
            return await self._publish(request, kept)
        except BadStrategy as error:
            return lead_to(request, "owner_strategy_draft", draft=digest, refused=_told(error))

    async def _newest(self) -> tuple[Strategy, str]:
        body = await self._service.strategy("newest")
        check_understood(body.get("not_understood") or ())
        return read_version(body), str(body["digest"])

    async def _differences(self, version: int, t: Translate) -> Iterable[tuple[str, str]]:
        """Return what a version changed of the one before."""
        after = read_version(await self._service.strategy(str(version)))
        if version <= 1:
            return []
        before = read_version(await self._service.strategy(str(version - 1)))
        return change_lines(changes_json(before, after), t)

    async def _sign_and_publish(
        self, request: web.Request, kept: KeptDraft, lose: int, *, is_meant: bool
    ) -> web.Response:
        """Sign and publish a draft; lead to it where that cannot be, or signatures are still missing."""
        digest = kept.signed.digest
        try:
            newest, newest_digest = await self._newest()
            kept = await self._seen(kept)
            if kept.strategy.previous != newest_digest:
                raise BadStrategy("draft", f"does not follow version {newest.version}, the newest", "make it again")
            await self._check(kept, newest, lose, is_meant=is_meant)
            if kept.lacks(newest):
                kept = self._signed(request, kept, newest)
            if kept.lacks(newest):
                return lead_to(request, "owner_strategy_draft", draft=digest)
            return await self._publish(request, kept)
        except BadStrategy as error:
            return lead_to(request, "owner_strategy_draft", draft=digest, refused=_told(error))

    async def _denied_or_allowed(self, newest: Strategy) -> str:
        """Say what a version did: "denied" where it only put a rule before the others, "allowed" where it only left
        denials out, else ""."""
        before = read_version(await self._service.strategy(str(newest.version - 1)))
        if newest.rules[:1] and newest.rules[0].action == "deny" and newest.rules[1:] == before.rules:
            return "denied"
        left = [rule for rule in before.rules if rule not in newest.rules]
        return "allowed" if left and {rule.action for rule in left} == {"deny"} else ""

    def _read(self, data: bytes) -> SignedStrategy:
        """Read an uploaded file; what was signed of the same draft before still counts."""
        if b'"signatures"' not in data:
            return SignedStrategy(document_to_sign(next_version(data, int(time.time()), "file")), ())
        signed = decode_signed(data)
        known = self._drafts.find(signed.digest)
        both = {each.key: each for each in (*(known.signed.signatures if known else ()), *signed.signatures)}
        return SignedStrategy(signed.document, tuple(both.values()))

    async def _keep(self, signed: SignedStrategy) -> KeptDraft:
        effect = (await self._service.preview_strategy(signed.document)).plain()
        return self._drafts.keep(KeptDraft(signed, parse_document(signed.document), effect, time.time()))

    async def _seen(self, kept: KeptDraft) -> KeptDraft:
        """Return a draft with its effect, worked out anew where that is long ago."""
        return kept if time.time() - kept.seen_at < PREVIEW_S else await self._keep(kept.signed)

    async def _check(self, kept: KeptDraft, newest: Strategy, lose: int, *, is_meant: bool) -> None:
        check_slots(kept.strategy, newest.slot_bits, len(await self._service.peers()))
        check_index_copies(kept.strategy, is_meant=is_meant)
        check_members(*kept.counts, lose)

    def _own_keys(self, newest: Strategy) -> list[Identity]:
        return own_keys(self._keys, newest.publishers)

    def _signed(self, request: web.Request, kept: KeptDraft, newest: Strategy) -> KeptDraft:
        keys = self._own_keys(newest)
        if not keys:
            raise NO_KEY
        if not has_logged_in_now(request, self._logins):
            raise STALE_LOGIN
        signed = kept.signed
        for key in keys:
            signed = add_signature(signed, key)
        return self._drafts.keep(replace(kept, signed=signed))

    async def _publish(self, request: web.Request, kept: KeptDraft) -> web.Response:
        await self._service.publish_strategy(encode_signed(kept.signed))
        return lead_to(request, "owner_strategy", published=kept.strategy.version)


def _shown(lines: Iterable[tuple[str, str]], t: Translate) -> list[tuple[str, str]]:
    """Return lines as a page has room for them."""
    found = [(plain(name, LINE_CHARS), plain(text, LINE_CHARS)) for name, text in lines]
    rest = len(found) - MAX_LINES
    return [*found[:MAX_LINES], ("", t("strategy.more", count=rest))] if rest > 0 else found


def _told(error: BadStrategy) -> str:
    """Write why a draft cannot be; an option of the command line is a field of the form here."""
    return plain(str(error).removeprefix("--"), REFUSAL_CHARS)


def _command(strategy: Strategy, lost: int, one_index: bool) -> str:
    """Write the command that signs a downloaded draft elsewhere."""
    agreed = f" --yes-i-lose {lost}" * (lost > 0) + " --one-index" * one_index
    return f"dse-node strategy sign strategy-{strategy.version}.json --key PUBLISHER.key{agreed} --out signed.json"
