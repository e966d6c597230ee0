"""Does the verbs that run until they are stopped: run and bootstrap."""

import importlib
import os
import sys
from argparse import Namespace

from crawl import BadHostsFile
from dht import BadStrategy, DseError, LocalFaults, system_clock
from node.cli.arguments import build_parser
from node.cli.commands.output import is_terminal
from node.cli.commands.setup import ensure_identity, make_node
from node.cli.commands.target_node import configuration, data_dir
from node.cli.main import load
from node.config.data_dir import DataDir
from node.config.logging_setup import set_up_logging
from node.config.settings import Config
from node.errors import ConfigError, error_text
from node.process.supervise import CHILD, Restarts, supervise

RUN_AGAIN = 75  # EX_TEMPFAIL of sysexits.h


def run(arguments: Namespace) -> int:
    """Run the node of a data directory until it is told to stop. Where nobody has made one, make it first, unless a
    person at a terminal can: its owner is asked in a browser."""
    if arguments.supervise and not os.environ.get(CHILD):
        return supervise([sys.executable, *sys.orig_argv[1:]], Restarts())
    if arguments.config is None and not is_terminal() and data_dir(arguments).is_unused():
        place = [] if arguments.data_dir is None else ["--data-dir", arguments.data_dir]
        made, _ = make_node(build_parser().parse_args(["init", *place]))
        print(f"no node was in {made.root}: made a new one", file=sys.stderr)
    config = configuration(arguments)
    faults = LocalFaults(system_clock)
    set_up_logging(config.node.log_level, faults=faults)
    data = data_dir(arguments)
    data.create()
    data.check()
    data.read_token()  # said before anything listens
    ensure_identity(data)
    node = load("node.process.run_node")
    try:
        code = int(node.run_node(config, faults))
    except (BadStrategy, BadHostsFile) as error:  # files that the configuration names are part of it
        raise ConfigError(*str(error).split(": ", 1)) from None
    return _join(data, config) if data.joins.exists() else code


def _join(data: DataDir, config: Config) -> int:
    """Join the network that the owner chose in a browser, and run the node again: systemd does so after this code."""
    try:
        load("node.cli.commands.membership").join_as_asked(data, config)
    except (DseError, OSError) as error:
        print(f"dse-node: the network is not joined: {error_text(error)}", file=sys.stderr)
    if not os.environ.get("NOTIFY_SOCKET"):
        sys.stdout.flush()
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    return RUN_AGAIN


def bare_overlay(arguments: Namespace) -> int:
    """Run a bootstrap node: the overlay alone, for first contact."""
    words = ["--network", arguments.network]
    for name in ("port", "data_dir", "listen_v4", "listen_v6"):
        if getattr(arguments, name) is not None:
            words += [f"--{name.replace('_', '-')}", str(getattr(arguments, name))]
    words += ["--allow-private"] * arguments.allow_private
    code = importlib.import_module("bootstrap.__main__").main(words)
    return int(code or 0)
