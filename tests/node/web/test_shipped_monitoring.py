"""The dashboard and the alert rules in `contrib/monitoring/` ask for figures that /metrics has, in sound PromQL."""

import json
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from prometheus_client.parser import text_string_to_metric_families

from crawl import FetchMeter
from node.owner.member_page import member_page
from node.owner.needs import TOPICS, needs_of
from node.views.status import view_of
from node.web.monitoring import Metrics, fetch_figures
from node.web.requests.route_table import ROUTES
from tests.lab.namespace import NetworkNamespace, why_no_namespaces

FOLDER = Path(__file__).parents[3] / "contrib" / "monitoring"
RULES, DASHBOARD = FOLDER / "prometheus-rules.yml", FOLDER / "grafana-dashboard.json"
CASES = FOLDER / "prometheus-rules-test.yml"
DOCS = FOLDER.parents[1] / "docs" / "campus.md"
NODE_PORT, PROMETHEUS_PORT = 8090, 9090  # in a network of its own
ANSWERS_WITHIN_S = 120.0
OF_PROMETHEUS = {"up": set[str]()}
TARGET_LABELS = {"instance", "job"}
FUNCTIONS = {"rate", "predict_linear", "sum", "min", "max", "count", "time"}
WORDS = {"by", "ignoring", "and"}
TOKEN = re.compile(
    r"""\s+ | (?P<string>"(?:[^"\\]|\\.)*") | (?P<span>\[[0-9]+[smhd]\]) | (?P<number>[0-9.]+)
    | (?P<name>[a-zA-Z_]\w*) | (?P<sign>[=!]~|[=!<>]=|[-+*/<>=,(){}])""",
    re.X,
)
Token = tuple[str, str]


def shown() -> list[str]:
    """The queries of the dashboard, with its variables in their places."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    return [re.sub(r"\$\w+", ".+", target["expr"]) for panel in panels for target in panel.get("targets", ())]


def expressions() -> list[str]:
    return [*re.findall(r"^ +expr: (.+)$", RULES.read_text(), re.M), *shown()]


def tokens(expression: str) -> Iterator[Token]:
    at = 0
    while at < len(expression):
        match = TOKEN.match(expression, at)
        assert match, f"{expression!r} has what is no PromQL at {at}"
        if match.lastgroup:
            yield match.lastgroup, match[0]
        at = match.end()


def metrics_of(expression: str) -> dict[str, set[str]]:
    """Return the metrics of a query, each with the labels that are asked of it. Asserts that brackets match, that only
    known functions are called, and that selectors are lists of matchers."""
    found, labels_of_all, depth = dict[str, set[str]](), set[str](), list[str]()
    left = list(tokens(expression))
    while left:
        kind, text = left.pop(0)
        following = left[0][1] if left else ""
        if text in "([{":
            depth.append(text)
        elif text in ")}":
            assert depth and depth.pop() + text in ("()", "{}"), f"{expression!r}: {text} closes nothing"
        elif kind == "name" and text in WORDS:
            if text != "and":
                assert following == "(", f"{expression!r}: no list after {text}"
                labels_of_all |= _grouped(left)
        elif (kind == "name" and following == "(") or text in FUNCTIONS:
            assert text in FUNCTIONS, f"{expression!r} calls {text}"
        elif kind == "name":
            found.setdefault(text, set()).update(_selected(left) if following == "{" else ())
    assert not depth, f"{expression!r}: {depth} is not closed"
    return {metric: labels | labels_of_all for metric, labels in found.items()}


def _grouped(left: list[Token]) -> set[str]:
    inside = [left.pop(0) for _ in range(1 + [text for _, text in left].index(")"))][1:-1]
    return {text for kind, text in inside if kind == "name"}


def _selected(left: list[Token]) -> set[str]:
    inside = [left.pop(0) for _ in range(1 + [text for _, text in left].index("}"))][1:-1]
    matchers = [inside[at : at + 3] for at in range(0, len(inside), 4)]
    for label, sign, value in matchers:
        assert label[0] == "name" and sign[1] in ("=", "!=", "=~", "!~") and value[0] == "string"
        re.compile(value[1])
    assert all(text == "," for _, text in inside[3::4])
    return {label[1] for label, _, _ in matchers}


@pytest.fixture(scope="module")
def page() -> str:
    """Return the text of /metrics for a node that has something of everything."""
    metrics = Metrics()
    for route in ROUTES:
        metrics.count(route.name, 200)
        metrics.count(route.name, 503)
    status: dict[str, Any] = {"copies": {"slots": {"1": 2, "3": 4}}}
    status["needs"] = [{"topic": need.topic, "state": need.state} for need in needs_of(status, {}, 0.0)]
    meter = FetchMeter()
    members = member_page([], "", "name", 0)
    return metrics.text(view_of(status), members, 0, fetch_figures(meter, meter.step(1.0), 0)).decode()


@pytest.fixture(scope="module")
def printed(page: str) -> dict[str, dict[str, set[str]]]:
    """The metrics of that page, their labels, and those's values."""
    found = dict[str, dict[str, set[str]]]()
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            labels = found.setdefault(sample.name, {})
            for label, value in sample.labels.items():
                labels.setdefault(label, set()).add(value)
    return found


def test_there_is_a_need_of_the_owner_for_each_topic(printed: dict[str, dict[str, set[str]]]) -> None:
    assert printed["dse_needs_owner"] == {"topic": set(TOPICS)}


@pytest.mark.parametrize("expression", expressions())
def test_a_query_asks_for_metrics_and_labels_that_are_printed(
    printed: dict[str, dict[str, set[str]]], expression: str
) -> None:
    asked = metrics_of(expression)
    assert asked, "it asks for something"
    for metric, labels in asked.items():
        known = OF_PROMETHEUS.get(metric, set(printed.get(metric, ())))
        assert metric in printed or metric in OF_PROMETHEUS, f"{metric} is not printed"
        assert labels <= known | TARGET_LABELS, f"{metric} has no {labels - known - TARGET_LABELS}"
    for label, value in re.findall(r'(state|family|topic|route)="(\w+)"', expression):
        assert any(value in labels.get(label, ()) for labels in printed.values()), f"no {label} is {value}"


def test_a_legend_and_a_text_name_labels_that_the_query_leaves(printed: dict[str, dict[str, set[str]]]) -> None:
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel.get("targets", ()):
            expression = target["expr"]
            grouped = re.search(r"by \(([^)]*)\)", expression)
            metric = next(iter(metrics_of(re.sub(r"\$\w+", ".+", expression))))
            left = set(grouped[1].split(", ")) if grouped else {*printed[metric], *TARGET_LABELS}
            assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= left, expression


def test_rules_say_what_is_wrong_and_what_helps() -> None:
    rules = RULES.read_text().split("      - alert: ")[1:]
    assert len({rule.split()[0] for rule in rules}) == len(rules) >= 8
    for rule in rules:
        for part in ("expr: ", "for: ", "severity: ", "summary: ", "description: "):
            assert rule.count(part) == 1, f"{rule.split()[0]} has no {part}"


def test_the_dashboard_is_one_that_grafana_imports() -> None:
    dashboard = json.loads(DASHBOARD.read_text())
    assert {"title", "uid", "schemaVersion", "templating", "panels"} <= set(dashboard)
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for panel in panels
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(set(cells)) == len(cells) and max(x for x, _ in cells) < 24, "panels lie beside each other"
    names = {variable["name"] for variable in dashboard["templating"]["list"]}
    assert set(re.findall(r"\$(?:\{(\w+)\}|(\w+))", json.dumps(panels))) <= {
        pair for name in names for pair in ((name, ""), ("", name))
    }


@pytest.mark.parametrize(
    "wrong", ['up{job="a"', "sum(up", "up)", "frobnicate(up)", "up{job=a}", "up{job}", 'up{job="a" x="b"}', "up ; up"]
)
def test_what_is_no_promql_is_found(wrong: str) -> None:
    with pytest.raises((AssertionError, ValueError)):
        metrics_of(wrong)


def test_another_parser_reads_the_queries() -> None:
    parser = pytest.importorskip("promql_parser", reason="promql-parser is not installed")
    for expression in expressions():
        parser.parse(expression)


def _series(name: str, labels: dict[str, str]) -> str:
    said = {**labels, "instance": "a", "job": "dse-node"}
    return f"{name}{{{', '.join(f'{label}={json.dumps(value)}' for label, value in said.items())}}}"


@pytest.fixture
def promtool() -> Callable[..., None]:
    """Runs promtool, which must find nothing wrong."""
    if not (program := shutil.which("promtool")):
        pytest.skip("promtool is not installed")

    def run(*arguments: str, given: str = "") -> None:
        done = subprocess.run([program, *arguments], input=given, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr

    return run


def test_promtool_takes_the_rules(promtool: Callable[..., None]) -> None:
    promtool("check", "rules", str(RULES))


def test_each_alert_fires_where_it_should_alone(promtool: Callable[..., None]) -> None:
    promtool("test", "rules", str(CASES))


def test_promtool_takes_the_figures(promtool: Callable[..., None], page: str) -> None:
    promtool("check", "metrics", given=page)


def test_each_query_of_the_dashboard_finds_what_is_printed(
    promtool: Callable[..., None], page: str, tmp_path: Path
) -> None:
    series = [
        {"series": _series(sample.name, sample.labels), "values": "1x20"}
        for family in text_string_to_metric_families(page)
        for sample in family.samples
    ]
    asked = [
        {"expr": f"count({query}) > bool 0", "eval_time": "15m", "exp_samples": [{"labels": "{}", "value": 1}]}
        for query in shown()
    ]
    file = tmp_path / "dashboard.json"  # any JSON is YAML
    file.write_text(json.dumps({"tests": [{"interval": "1m", "input_series": series, "promql_expr_test": asked}]}))
    promtool("test", "rules", str(file))


@pytest.mark.prove
def test_a_prometheus_set_up_as_the_docs_say_has_an_answer_for_each_query_of_the_dashboard(
    page: str, tmp_path: Path
) -> None:
    if reason := why_no_namespaces():
        pytest.skip(reason)
    if not (program := shutil.which("prometheus")):
        pytest.skip("prometheus is not installed")

    told = re.sub(r"^([^#].*) \S+$", r"\1 1", page, flags=re.M).encode()  # nothing is 0, which some panels leave out

    class Figures(BaseHTTPRequestHandler):
        """Tells what a node printed."""

        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/metrics" else 404)
            self.end_headers()
            self.wfile.write(told)

        def log_message(self, *about: object) -> None:
            """Say nothing of requests."""

    setting = DOCS.read_text().partition("    scrape_configs:\n")[2].partition("\n\n")[0]
    config = tmp_path / "prometheus.yml"
    command = [program, f"--config.file={config}", f"--storage.tsdb.path={tmp_path / 'data'}"]
    command += [f"--web.listen-address=127.0.0.1:{PROMETHEUS_PORT}"]
    with (
        NetworkNamespace().entered(),
        ThreadingHTTPServer(("127.0.0.1", NODE_PORT), Figures) as server,
        (tmp_path / "log").open("w") as log,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        every = f"global: {{scrape_interval: 1s}}\nrule_files: [{json.dumps(str(RULES))}]\nscrape_configs:\n"
        config.write_text(every + setting.replace("localhost", "127.0.0.1") + "\n")
        with subprocess.Popen(command, stdout=log, stderr=log) as prometheus:
            left, until = set(shown()), time.monotonic() + ANSWERS_WITHIN_S
            while left and time.monotonic() < until and prometheus.poll() is None:
                time.sleep(0.5)  # a rate needs two looks, a second apart
                left = {query for query in left if not _answer(query)}
            prometheus.kill()
        server.shutdown()
    assert not left, (tmp_path / "log").read_text()[-2000:]


def _answer(query: str) -> list[Any]:
    """Return the answer of Prometheus, or [] while it does not answer."""
    connection = HTTPConnection("127.0.0.1", PROMETHEUS_PORT, timeout=10)
    try:
        connection.request("GET", f"/api/v1/query?query={quote(query)}")
        return list(json.loads(connection.getresponse().read()).get("data", {}).get("result", []))
    except (OSError, ValueError):
        return []
    finally:
        connection.close()


def test_each_alert_has_a_case_where_it_fires_and_one_where_it_does_not(
    printed: dict[str, dict[str, set[str]]],
) -> None:
    cases = CASES.read_text()
    for alert in re.findall(r"- alert: (\w+)", RULES.read_text()):
        assert re.search(rf"alertname: {alert}\n +eval_time: \w+\n +exp_alerts:\n +- exp_labels", cases), alert
        assert f"{{alertname: {alert}, " in cases, f"{alert} is never silent"
    for metric, labels in re.findall(r"series: '(\w+)\{(.*?)\}'", cases):
        known = OF_PROMETHEUS.get(metric, set(printed.get(metric, ()))) | TARGET_LABELS
        assert metric in printed or metric in OF_PROMETHEUS, f"{metric} is not printed"
        assert set(re.findall(r"(\w+)=", labels)) <= known, f"{metric} has no such labels"
