"""Sends a mail to a node's owner by an SMTP server, encrypted where the server can (RFC 5321, RFC 3207)."""

import os
import smtplib
import socket
import ssl
from email.message import EmailMessage
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit

from node.config.settings import HookConfig
from node.views.safe_text import plain

SHOWN = 300  # characters of an error
PORTS = {"smtp": 25, "smtps": 465}


def send_mail(config: HookConfig, subject: str, text: str) -> str:
    """Send a mail to `config.mail`; return why that failed, or "". Blocks for `config.timeout_s` a step at most."""
    server = urlsplit(config.mail_server)
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = f"dse-node@{socket.gethostname()}", config.mail, subject
    message.set_content(text)
    host, port, context = server.hostname or "", server.port or PORTS[server.scheme], ssl.create_default_context()
    try:
        with (
            smtplib.SMTP_SSL(host, port, timeout=config.timeout_s, context=context)
            if server.scheme == "smtps"
            else smtplib.SMTP(host, port, timeout=config.timeout_s)
        ) as client:
            client.ehlo()
            is_here = (
                client.sock and ip_address(client.sock.getpeername()[0]).is_loopback
            )  # its certificate is mostly one of its own
            if server.scheme == "smtp" and client.has_extn("starttls") and not is_here:
                client.starttls(context=context)
            if server.username:
                if not (is_here or isinstance(client.sock, ssl.SSLSocket)):
                    return f"{host} encrypts nothing, so the password was not sent; write smtps:// in hook.mail_server"
                client.login(unquote(server.username), unquote(server.password or ""))
            client.send_message(message)
    except smtplib.SMTPRecipientsRefused as error:
        code, reason = next(iter(error.recipients.values()))
        return plain(f"{host} says {code} {reason.decode(errors='replace')}", SHOWN)
    except smtplib.SMTPResponseException as error:
        said = error.smtp_error if isinstance(error.smtp_error, str) else error.smtp_error.decode(errors="replace")
        return plain(f"{host} says {error.smtp_code} {said}", SHOWN)
    except (OSError, ValueError) as error:
        return f"{host}: {why(error)}"
    return ""


def why(error: Exception) -> str:
    """Say in words why a server could not be asked, without numbers of the system."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return plain(f"its certificate is not valid: {error.verify_message}", SHOWN)
    if isinstance(error, ssl.SSLError):  # its number is none of the system's
        return plain(f"encryption fails ({error.reason or error}); check the scheme and the port", SHOWN)
    number = getattr(error, "errno", None) or 0
    said = os.strerror(number) if number > 0 else getattr(error, "strerror", None) or str(error) or type(error).__name__
    return plain(said.lower(), SHOWN)
