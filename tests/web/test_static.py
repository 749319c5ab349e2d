"""The files of the page: vendored packages as they were published, colours as the pictures have them, small enough."""

import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from mexica_ai.draw.palette import COLORS

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "mexica_ai" / "web" / "static"
CHECK = ROOT / ".ci" / "check-scripts"
STYLE = "".join(path.read_text(encoding="utf-8") for path in STATIC.glob("*.css"))


@pytest.mark.parametrize("folder", [STATIC / "vendor", Path(__file__).parent / "vendor"], ids=["page", "tests"])
def test_vendored_files_are_those_of_their_packages(folder):
    packages = json.loads((folder / "vendor.json").read_text())["packages"]
    named = {"vendor.json"}
    for package in packages:
        assert package.keys() == {"name", "version", "licence", "integrity", "files"}
        assert package["integrity"].startswith("sha512-")
        assert any("LICENSE" in file["to"] for file in package["files"])
        for file in package["files"]:
            assert hashlib.sha256((folder / file["to"]).read_bytes()).hexdigest() == file["sha256"]
            named.add(file["to"])
    assert {path.name for path in folder.iterdir()} == named


def test_the_style_sheets_use_colours_of_the_palette():
    used = set(re.findall(r"var\(--(\w+)\)", STYLE)) - {"wide", "ratio", "bar", "room", "safe"}  # sizes
    assert len(used) > 10
    assert used <= COLORS.keys()


# What a script loads with itself, and what it loads later. (Types are imported by `{import('...')...}`.)
AT_ONCE = re.compile(r"^(?:import|export) [^;]*from '\./([^'/]+)';$", re.MULTILINE)
LATER = re.compile(r"(?<!{)import\('\./([^']+)'\)")


def _loaded_by(script):
    """Return a script and all that it loads with itself."""
    loaded, waiting = set(), {script}
    while waiting:
        name = waiting.pop()
        loaded.add(name)
        waiting |= set(AT_ONCE.findall((STATIC / name).read_text(encoding="utf-8"))) - loaded
    return loaded


def test_what_the_shell_loads_is_there():
    shell = (STATIC / "index.html").read_text(encoding="utf-8")
    named = re.findall(r'(?:src|href)="/static/([^"]+)"', shell)
    assert named
    assert "palette.css" in named  # the server makes it
    for name in set(named) - {"palette.css"}:
        assert (STATIC / name).is_file()
    loaded = _loaded_by("app.js")
    assert loaded == {name for name in named if name.endswith(".js") and "/" not in name}
    # All others are loaded when something needs them.
    waiting = set(loaded)
    while waiting:
        later = set(LATER.findall((STATIC / waiting.pop()).read_text(encoding="utf-8")))
        new = {script for name in later for script in _loaded_by(name)} - loaded
        loaded, waiting = loaded | new, waiting | new
    assert loaded == {path.name for path in STATIC.glob("*.js")}
    assert "<style" not in shell
    assert " style=" not in shell
    assert not re.search(r"<script(?![^>]* src=)", shell)


def test_what_browsers_install_is_there_and_has_the_colours_of_the_palette():
    shell = (STATIC / "index.html").read_text(encoding="utf-8")
    # Requests of manifests carry the cookie only so.
    assert '<link rel="manifest" href="/static/manifest.webmanifest" crossorigin="use-credentials">' in shell
    assert re.findall(r'name="theme-color" content="([^"]+)"', shell) == list(COLORS["paper"])
    manifest = json.loads((STATIC / "manifest.webmanifest").read_text(encoding="utf-8"))
    assert manifest["name"] == manifest["short_name"] == "mexica-ai"
    assert (manifest["start_url"], manifest["scope"], manifest["display"]) == ("/", "/", "standalone")
    assert manifest["theme_color"] == manifest["background_color"] == COLORS["paper"][0]
    assert {icon["src"] for icon in manifest["icons"]} == {
        f"/static/icons/{path.name}" for path in STATIC.glob("icons/*")
    }
    assert {(icon["sizes"], icon.get("purpose")) for icon in manifest["icons"]} >= {
        ("192x192", None),
        ("512x512", None),
    }
    for icon in manifest["icons"]:
        name = Path(icon["src"]).stem
        assert name.startswith("maskable") == ("purpose" in icon)
        assert icon["sizes"] == ("any" if name == "icon" else "x".join([name.rpartition("-")[2]] * 2))


@pytest.mark.parametrize("path", sorted(STATIC.glob("*.js")), ids=lambda path: path.name)
def test_every_script_is_checked(path):
    assert path.read_text(encoding="utf-8").startswith("// @ts-check\n")


@pytest.mark.real("processes")
def test_without_a_network_the_scripts_are_not_checked_and_it_is_said(tmp_path):
    script, npm = tmp_path / ".ci" / "check-scripts", tmp_path / "bin" / "npm"
    for path in (script, npm):
        path.parent.mkdir()
    script.write_bytes(CHECK.read_bytes())
    npm.write_text("#!/bin/sh\nexit 1\n")
    npm.chmod(0o755)
    environment = {**os.environ, "PATH": f"{npm.parent}:{os.environ['PATH']}"}
    told = subprocess.run(["sh", script], env=environment, capture_output=True, text=True, check=True).stderr
    assert told.startswith("mexica-ai: the scripts are not checked: npm cannot install typescript ")
