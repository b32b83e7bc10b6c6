"""A certificate for TLS on loopback."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path


def make_certificate(folder: Path) -> Path | None:
    """A new certificate for loopback and its key, in one file that is also the list of whom to trust; by openssl.

    Returns:
        The file, or None where there is no openssl.
    """
    openssl = shutil.which("openssl")
    if openssl is None:
        return None
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([openssl, "req", *kind, *names, *files], check=True, capture_output=True)  # noqa: S603 - ours alone
    certificate.write_bytes(certificate.read_bytes() + key.read_bytes())
    return certificate
