"""Port mapping at a small router that speaks UPnP over real sockets: what it maps, renews, refuses and forgets."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import pytest
from aiohttp import web

from dht import Endpoint
from node.joining.upnp import LEASE_S, UpnpMapping, _is_private
from tests.dht.overlay.test_service import until

PORT = 8091
IPC, FIREWALL = "WANIPConnection:2", "WANIPv6FirewallControl:1"
ACTIONS = {
    IPC: {
        "AddPortMapping": [
            ("NewRemoteHost", "in", "string"),
            ("NewExternalPort", "in", "ui2"),
            ("NewProtocol", "in", "string"),
            ("NewInternalPort", "in", "ui2"),
            ("NewInternalClient", "in", "string"),
            ("NewEnabled", "in", "boolean"),
            ("NewPortMappingDescription", "in", "string"),
            ("NewLeaseDuration", "in", "ui4"),
        ],
        "DeletePortMapping": [
            ("NewRemoteHost", "in", "string"),
            ("NewExternalPort", "in", "ui2"),
            ("NewProtocol", "in", "string"),
        ],
    },
    FIREWALL: {
        "AddPinhole": [
            ("RemoteHost", "in", "string"),
            ("RemotePort", "in", "ui2"),
            ("InternalClient", "in", "string"),
            ("InternalPort", "in", "ui2"),
            ("Protocol", "in", "ui2"),
            ("LeaseTime", "in", "ui4"),
            ("UniqueID", "out", "ui2"),
        ],
        "DeletePinhole": [("UniqueID", "in", "ui2")],
    },
}


@dataclass
class Router:
    """An Internet gateway device: its descriptions, its mappings, and what it does not do."""

    permanent_only: bool = False
    taken: dict[tuple[str, str], int] = field(default_factory=dict)  # a port and protocol: the error that says so
    refuses_all: int = 0
    mapped: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    pinholes: dict[str, dict[str, str]] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    huge: bool = False
    url: str = ""

    async def answer(self, request: web.Request) -> web.Response:
        if self.huge:
            return web.Response(text="<root>" + "x" * 2_000_000)
        if request.path == "/root.xml":
            return web.Response(text=_description(), content_type="text/xml")
        service = next(name for name in ACTIONS if name.partition(":")[0] in request.path)
        if request.method == "GET":
            return web.Response(text=_scpd(service), content_type="text/xml")
        action = request.headers["SOAPAction"].strip('"').partition("#")[2]
        fields = dict(re.findall(r"<(\w+)>([^<]*)</\1>", await request.text()))
        fields |= dict.fromkeys(re.findall(r"<(\w+)\s*/>", await request.text()), "")
        return self._act(service, action, fields)

    def _act(self, service: str, action: str, fields: dict[str, str]) -> web.Response:
        self.log.append(action)
        result = ""
        if action == "AddPortMapping":
            if self.permanent_only and fields["NewLeaseDuration"] != "0":
                return web.Response(
                    status=500, text=_fault(725, "OnlyPermanentLeasesSupported"), content_type="text/xml"
                )
            asked = fields["NewExternalPort"], fields["NewProtocol"]
            if code := self.refuses_all or self.taken.get(asked, 0):
                return web.Response(status=500, text=_fault(code, "Conflict"), content_type="text/xml")
            self.mapped[asked] = fields
        elif action == "DeletePortMapping":
            del self.mapped[fields["NewExternalPort"], fields["NewProtocol"]]
        elif action == "AddPinhole":
            result = str(len(self.pinholes) + 1)
            self.pinholes[result] = fields
            result = f"<UniqueID>{result}</UniqueID>"
        elif action == "DeletePinhole":
            del self.pinholes[fields["UniqueID"]]
        kind = f'xmlns:u="urn:schemas-upnp-org:service:{service}"'
        answer = f"<u:{action}Response {kind}>{result}</u:{action}Response>"
        return web.Response(text=_envelope(answer), content_type="text/xml")


XML = '<?xml version="1.0"?>'
SOAP = "http://schemas.xmlsoap.org/soap/envelope/"


def _tag(name: str, *inner: str, **attributes: str) -> str:
    about = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f"<{name}{about}>{''.join(inner)}</{name}>"


def _envelope(body: str) -> str:
    return f'{XML}<s:Envelope xmlns:s="{SOAP}"><s:Body>{body}</s:Body></s:Envelope>'


def _fault(code: int, text: str) -> str:
    what = _tag("errorCode", str(code)) + _tag("errorDescription", text)
    detail = _tag("detail", _tag("UPnPError", what, xmlns="urn:schemas-upnp-org:control-1-0"))
    return _envelope(f"<s:Fault>{_tag('faultcode', 's:Client')}{_tag('faultstring', 'UPnPError')}{detail}</s:Fault>")


def _service(kind: str) -> str:
    name = kind.partition(":")[0]
    return _tag(
        "service",
        _tag("serviceType", f"urn:schemas-upnp-org:service:{kind}"),
        _tag("serviceId", f"urn:upnp-org:serviceId:{name}"),
        _tag("controlURL", f"/ctl/{name}"),
        _tag("eventSubURL", "/evt"),
        _tag("SCPDURL", f"/scpd/{name}.xml"),
    )


def _device(kind: str, inner: str) -> str:
    about = _tag("friendlyName", kind) + _tag("manufacturer", "test") + _tag("modelName", "r") + _tag("UDN", "uuid:1")
    return _tag("device", _tag("deviceType", f"urn:schemas-upnp-org:device:{kind}:2"), about, inner)


def _description() -> str:
    connection = _device("WANConnectionDevice", _tag("serviceList", *(_service(kind) for kind in ACTIONS)))
    wan = _device("WANDevice", _tag("deviceList", connection))
    gateway = _device("InternetGatewayDevice", _tag("deviceList", wan))
    version = _tag("specVersion", "<major>1</major><minor>1</minor>")
    return XML + _tag("root", version, gateway, xmlns="urn:schemas-upnp-org:device-1-0")


def _scpd(service: str) -> str:
    actions, variables = "", dict[str, str]()
    for name, arguments in ACTIONS[service].items():
        listed = ""
        for argument, way, kind in arguments:
            variables[f"A_{argument}"] = kind
            about = _tag("name", argument) + _tag("direction", way)
            listed += _tag("argument", about, _tag("relatedStateVariable", f"A_{argument}"))
        actions += _tag("action", _tag("name", name), _tag("argumentList", listed))
    table = "".join(
        _tag("stateVariable", _tag("name", name), _tag("dataType", kind), sendEvents="no")
        for name, kind in variables.items()
    )
    version = _tag("specVersion", "<major>1</major><minor>0</minor>")
    lists = _tag("actionList", actions) + _tag("serviceStateTable", table)
    return XML + _tag("scpd", version, lists, xmlns="urn:schemas-upnp-org:service-1-0")


@pytest.fixture
async def router() -> AsyncIterator[Router]:
    found, app = Router(), web.Application()
    app.router.add_route("*", "/{path:.*}", found.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    found.url = f"http://127.0.0.1:{runner.addresses[0][1]}/root.xml"
    yield found
    await runner.cleanup()


async def during(router: Router, six: Sequence[Endpoint], then: Callable[[], Awaitable[None]]) -> None:
    """Run a port map until the router has answered it, look, and stop it once it knows the answer."""
    said = list[logging.LogRecord]()
    logger, handler = logging.getLogger("node.joining.upnp"), logging.Handler()
    handler.emit = said.append  # type: ignore[method-assign]
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    listening = [Endpoint("0.0.0.0", PORT, PORT), Endpoint("::", PORT, PORT)]
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(UpnpMapping(listening, lambda: six, router.url).run())
        await then()
        await until(lambda: bool(said), 10)
        task.cancel()
    logger.removeHandler(handler)


async def test_both_protocols_are_mapped_with_a_lease_pinholes_opened_and_all_removed_at_the_end(
    router: Router,
) -> None:
    async def look() -> None:
        await until(lambda: len(router.pinholes) == 2, 10)
        assert set(router.mapped) == {(str(PORT), "UDP"), (str(PORT), "TCP")}
        for fields in router.mapped.values():
            wanted = {"NewInternalClient": "127.0.0.1", "NewInternalPort": str(PORT), "NewRemoteHost": ""}
            assert wanted.items() <= fields.items()
            assert fields["NewLeaseDuration"] == str(LEASE_S)
        assert {(p["InternalClient"], p["Protocol"]) for p in router.pinholes.values()} == {
            ("2606:4700::7", "17"),
            ("2606:4700::7", "6"),
        }

    await during(router, [Endpoint("2606:4700::7", PORT, PORT)], look)
    assert not router.mapped and not router.pinholes


async def test_a_router_that_knows_permanent_mappings_only_gets_these(router: Router) -> None:
    router.permanent_only = True

    async def look() -> None:
        await until(lambda: len(router.mapped) == 2, 10)
        assert {fields["NewLeaseDuration"] for fields in router.mapped.values()} == {"0"}
        assert not router.pinholes

    await during(router, [], look)
    assert not router.mapped


@pytest.mark.parametrize(("protocol", "code"), [("UDP", 718), ("TCP", 718), ("UDP", 729), ("TCP", 501), ("UDP", 606)])
async def test_a_port_that_another_machine_has_is_left_for_one_that_is_free(
    router: Router, protocol: str, code: int
) -> None:
    router.taken[str(PORT), protocol] = code

    async def look() -> None:
        await until(lambda: len(router.mapped) == 2, 10)
        (outside,) = {port for port, _ in router.mapped}
        assert int(outside) >= 49_152 and {kind for _, kind in router.mapped} == {"UDP", "TCP"}
        assert {fields["NewInternalPort"] for fields in router.mapped.values()} == {str(PORT)}

    await during(router, [], look)
    assert not router.mapped


@pytest.mark.parametrize(("code", "tries"), [(718, 8), (402, 1)])
async def test_a_router_that_gives_no_port_is_asked_a_few_times(
    router: Router, code: int, tries: int, caplog: pytest.LogCaptureFixture
) -> None:
    router.refuses_all = code
    caplog.set_level("INFO", "node.joining.upnp")

    async def look() -> None:
        await until(lambda: "no router here maps ports" in caplog.text, 10)

    await during(router, [], look)
    assert router.log == ["AddPortMapping"] * tries


async def test_a_router_that_talks_without_end_is_left_alone(router: Router, caplog: pytest.LogCaptureFixture) -> None:
    router.huge = True
    caplog.set_level("INFO", "node.joining.upnp")

    async def look() -> None:
        await until(lambda: "no router here maps ports" in caplog.text, 10)

    await during(router, [], look)
    assert not router.log


@pytest.mark.parametrize(
    ("url", "fit"),
    [
        ("http://192.168.0.1:5000/root.xml", True),
        ("http://[fe80::1]:5000/root.xml", True),
        ("http://8.8.8.8/root.xml", False),
        ("https://192.168.0.1/", False),
        ("http://router.example/root.xml", False),
        ("", False),
    ],
)
def test_only_machines_on_the_lan_are_taken_for_routers(url: str, fit: bool) -> None:
    assert _is_private(url) is fit
