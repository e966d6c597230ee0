"""Finds the node that a command means: its data directory, its configuration, its web listener."""

import dataclasses
import shlex
from argparse import Namespace
from pathlib import Path

from dht import Identity
from node.cli.api_client import ApiClient
from node.cli.http_client import base_url
from node.config.data_dir import DataDir, default_root
from node.config.settings import Config, load_config
from node.errors import BadDataDir, HomeNotRunning


def data_dir(arguments: Namespace) -> DataDir:
    """Return --data-dir, else node.data_dir of --config, else the directory of --config, else the system's place."""
    if arguments.data_dir is not None:
        return DataDir(Path(arguments.data_dir).expanduser().resolve())
    if arguments.config is not None:
        file = Path(arguments.config).expanduser().resolve()
        return DataDir((file.parent / Path(load_config(file).node.data_dir).expanduser()).resolve())
    return DataDir(default_root())


def run_command(arguments: Namespace) -> str:
    """Return the command that runs the node that is meant."""
    at = (("--data-dir", arguments.data_dir), ("--config", arguments.config))
    return shlex.join(["dse-node", "run", *(word for option, given in at if given for word in (option, given))])


def configuration(arguments: Namespace) -> Config:
    """Return the configuration of the node that is meant, with absolute paths; raises ConfigError."""
    data = data_dir(arguments)
    file = data.config if arguments.config is None else Path(arguments.config).expanduser().resolve()
    config = load_config(file)
    network = data.network
    if config.node.network:
        network = (file.parent / Path(config.node.network).expanduser()).resolve()
    return dataclasses.replace(
        config, node=dataclasses.replace(config.node, data_dir=str(data.root), network=str(network))
    )


def client(arguments: Namespace, *, needs_token: bool = False) -> ApiClient:
    """Return a client of the node at --url, else of the node of the data directory at its configured web listener.
    The latter takes no other node's answers. Raises HomeNotRunning where no node lives there, BadIdentity where its key
    is damaged."""
    data = data_dir(arguments)
    if url := arguments.url:
        url = url if "://" in url else f"http://{url}"
        return ApiClient(url.rstrip("/"), data.read_token() if needs_token else "")
    try:
        data.check()
    except BadDataDir as error:
        remedy = f"{error.remedy}, or name a node with --data-dir or --url"
        raise HomeNotRunning(error.path, error.reason, remedy) from None
    file = data.config if arguments.config is None else Path(arguments.config).expanduser()
    url = base_url(load_config(file).node if file.exists() else Config().node)
    node_id = Identity.load(data.identity).node_id.hex()
    return ApiClient(url, data.read_token() if needs_token else "", str(data.root), node_id)
