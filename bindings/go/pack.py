"""Packs the module as a folder, and as a module proxy of files.

Usage: pack.py SOURCE OUT PATH VERSION
"""

import json
import pathlib
import shutil
import subprocess
import sys
import zipfile

source, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
path, version = sys.argv[3:]
SKIP = {"module", "pack.py", ".gitignore"}


def files() -> list[pathlib.Path]:
    """The committed and new files, and the libraries, which git ignores."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "."],
        cwd=source, check=True, capture_output=True, text=True,
    ).stdout.split()
    libraries = [
        str(file.relative_to(source))
        for end in ("so", "dylib", "wasm")
        for file in source.glob(f"internal/abi/lib/*/*.{end}")
    ]
    return [pathlib.Path(name) for name in sorted({*listed, *libraries}) if (source / name).is_file()]


def pack(folder: pathlib.PurePath, module: str, kept: list[pathlib.Path]) -> None:
    """Writes a module's .info, .mod and .zip."""
    to = out / "proxy" / module / "@v"
    to.mkdir(parents=True)
    (to / "list").write_text(f"{version}\n")
    (to / f"{version}.info").write_text(json.dumps({"Version": version}))
    shutil.copy(source / folder / "go.mod", to / f"{version}.mod")
    with zipfile.ZipFile(to / f"{version}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in kept:
            archive.write(source / name, f"{module}@{version}/{name.relative_to(folder)}")
        archive.write(source / "../../LICENSE-MIT", f"{module}@{version}/LICENSE-MIT")
        archive.write(source / "../../LICENSE-APACHE", f"{module}@{version}/LICENSE-APACHE")


everything = [name for name in files() if name.name not in SKIP and name.parts[0] != "bench"]
for name in everything:
    to = out / "tetralith" / name
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source / name, to)
nested = [name.parent for name in everything if name.name == "go.mod" and name.parent != pathlib.Path()]
root = [name for name in everything if not any(folder in name.parents for folder in nested)]
pack(pathlib.PurePath(), path, root)
for folder in nested:
    pack(folder, f"{path}/{folder.as_posix()}", [name for name in everything if folder in name.parents])
