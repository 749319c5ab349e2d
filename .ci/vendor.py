"""Fetch the files of vendored npm packages again: what vendor.json names, checked, so that git shows no difference.

Usage: vendor.py FOLDER... ; each has a vendor.json. Needs npm.
"""

import base64
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path


def fetch(package, folder):
    """Write a package's files into `folder`; exit if the package or a file is not what vendor.json says."""
    with tempfile.TemporaryDirectory() as scratch:
        name = f"{package['name']}@{package['version']}"
        subprocess.run(["npm", "pack", "--silent", name], cwd=scratch, check=True, stdout=subprocess.DEVNULL)
        archive = next(Path(scratch).glob("*.tgz"))
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if integrity != package["integrity"]:
            sys.exit(f"{name}: integrity {integrity}; expected {package['integrity']}")
        with tarfile.open(archive) as files:
            for file in package["files"]:
                content = files.extractfile(f"package/{file['from']}").read()
                digest = hashlib.sha256(content).hexdigest()
                if digest != file["sha256"]:
                    sys.exit(f"{name}: {file['from']} has sha256 {digest}; expected {file['sha256']}")
                (folder / file["to"]).write_bytes(content)


for given in map(Path, sys.argv[1:]):
    for entry in json.loads((given / "vendor.json").read_text())["packages"]:
        fetch(entry, given)
