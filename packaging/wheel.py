"""Writes a wheel with a program and no Python code, by the specification of binary distributions.

wheel.py TREE OUT VERSION PLATFORM SUMMARY LICENSE LEVEL THIRD_PARTY, where TREE has the folders `scripts` and `data` of the wheel,
and THIRD_PARTY is the file with the licences of what is compiled into the program.
"""

import base64
import hashlib
import os
import re
import sys
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def python_version(version):
    """A version of Cargo as Python spells it: 0.2.0-rc.1 is 0.2.0rc1. Fails for other suffixes."""
    parts = re.fullmatch(r"(\d+\.\d+\.\d+)(?:-(alpha|beta|rc)\.(\d+))?", version)
    if parts is None:
        raise SystemExit(f"packaging/wheel.py: version {version} has no form in Python (X.Y.Z, or with -rc.N)")
    number, stage, count = parts.groups()
    return number + {None: "", "alpha": "a", "beta": "b", "rc": "rc"}[stage] + (count or "")


def main(tree, out, version, platform, summary, license, level, third_party):
    version = python_version(version)
    tag = f"py3-none-{platform}"
    info = f"cru-{version}.dist-info"
    licenses = [*sorted(ROOT.glob("LICENSE-*")), Path(third_party)]
    metadata = "".join(
        f"{line}\n"
        for line in [
            "Metadata-Version: 2.4",
            "Name: cru",
            f"Version: {version}",
            f"Summary: {summary}",
            f"License-Expression: {license}",
            *(f"License-File: {path.name}" for path in licenses),
            "Requires-Python: >=3.7",
            "Description-Content-Type: text/markdown",
            "",
        ]
    )
    entries = {}
    for path in sorted(Path(tree).rglob("*")):
        if path.is_file():
            name = path.relative_to(tree).as_posix()
            entries[f"cru-{version}.data/{name}"] = (path.read_bytes(), 0o755 if name.startswith("scripts/") else 0o644)
    for path in licenses:
        entries[f"{info}/licenses/{path.name}"] = (path.read_bytes(), 0o644)
    readme = (ROOT / "README.md").read_bytes()
    entries[f"{info}/METADATA"] = (metadata.encode() + readme, 0o644)
    wheel = f"Wheel-Version: 1.0\nGenerator: cru packaging\nRoot-Is-Purelib: false\nTag: {tag}\n"
    entries[f"{info}/WHEEL"] = (wheel.encode(), 0o644)
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, (data, _) in entries.items())
    entries[f"{info}/RECORD"] = (f"{record}{info}/RECORD,,\n".encode(), 0o644)

    moment = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    with zipfile.ZipFile(Path(out) / f"cru-{version}-{tag}.whl", "x", zipfile.ZIP_DEFLATED, compresslevel=int(level)) as file:
        for name, (data, mode) in entries.items():
            entry = zipfile.ZipInfo(name, moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100000 | mode) << 16
            file.writestr(entry, data)


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


main(*sys.argv[1:])
