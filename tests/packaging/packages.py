#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The packages for Debian: clean for lintian, and enough to build the NPU and run it. Usage: packages.py BUILD [nothing]. They
are made of the build; with "nothing", from nothing but the sources, and used. Exit status 77: skipped, and the last line says why.

They are unpacked into an empty folder, which is then all that there is of dxgkhost."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
PASS = "result                 PASS"
LINTIAN = "2.116."


def fail(text):
    print(text)
    sys.exit(1)


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace", check=False, **options)
    if done.returncode:
        fail(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def made(build, from_nothing):
    """The packages by name."""
    folder = build / ("packaging" if from_nothing else "packages")
    of = [] if from_nothing else ["--of", build]
    done = subprocess.run([SOURCE / "tools" / "package", *of, folder], capture_output=True, text=True, errors="replace", check=False)
    if done.returncode == 77:
        print(done.stdout.strip().split("\n")[-1])
        sys.exit(77)
    if done.returncode:
        fail(f"tools/package: {done.returncode}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return {path.name.split("_")[0]: path for path in (folder / "packages").glob("*.deb")}


def control(packages):
    """Versions are those of the project; what a package depends on is what it uses."""
    version = re.search(r"^project\(dxgkhost VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8"), re.M)[1]
    if set(packages) != {"dxgkhost", "dxgkhost-dev", "dxgkhost-window"}:
        fail(f"packages: {sorted(packages)}")
    for name, path in packages.items():
        told = run("dpkg-deb", "-f", path, "Version").strip()
        depends = run("dpkg-deb", "-f", path, "Depends")
        if told.rpartition("-")[0] != version or f"_{told}_amd64.deb" not in path.name:
            fail(f"{path.name} is of version {told}, the project of {version}")
        if ("libc6 (" in depends) != (name != "dxgkhost-dev") or ("libsdl2" in depends) != (name == "dxgkhost-window") or (
                f"dxgkhost (= {told})" in depends) != (name != "dxgkhost"):
            fail(f"{name} depends on {depends}")
    if f"dxgkhost ({version}-" not in (SOURCE / "debian" / "changelog").read_text(encoding="utf-8").split("\n")[0] or (
            f"## {version} (" not in (SOURCE / "CHANGELOG.md").read_text(encoding="utf-8")):
        fail(f"{version} is not the newest in debian/changelog and CHANGELOG.md")


def contents(root, from_nothing):
    """What must be there is; manual pages are compressed; no path of the machine that built it is in any file of a release."""
    libraries = next((root / "usr" / "lib").glob("*-linux-gnu*"), root / "usr" / "lib")
    own = libraries / "dxgkhost"
    share = root / "usr" / "share"
    for path in (root / "usr/bin/dxgkhost", root / "usr/bin/dxgk-tmh", root / "usr/bin/dxgk-case-overlay", root / "usr/bin/dxgk-merge-explore", own / "dxgkhost-fuzz", own / "libdxgkhost-window.so",
                 own / "devices/refgpu.so", own / "devices/stdvga.so", own / "devices/virtio_gpu.so", own / "drivers/refgpu.so", own / "drivers/bootfb.so", own / "workloads/reference.so",
                 own / "windows/libdisplib.a", own / "windows/libntoskrnl.a", libraries / "libdxgkhost.so", libraries / "pkgconfig/dxgkhost.pc", libraries / "cmake/dxgkhost/dxgkhostConfig.cmake",
                 root / "usr/include/dxgkhost/device.h", root / "usr/include/dxgkhost/wdk/d3dkmddi.h", share / "dxgkhost/workloads/compositor.lua", share / "dxgkhost/examples/npu/CMakeLists.txt",
                 share / "dxgkhost/gdb/dxgkhost.py", share / "bash-completion/completions/dxgkhost", share / "doc/dxgkhost/README.md", share / "doc/dxgkhost/docs/displays.md",
                 share / "doc/dxgkhost/changelog.gz", share / "doc/dxgkhost/changelog.Debian.gz", share / "doc/dxgkhost-dev/copyright", share / "man/man1/dxgkhost-explore.1.gz",
                 share / "man/man3/dxgk_machine_run.3.gz", share / "man/man7/dxgkhost_device.h.7.gz"):
        if not path.exists():
            fail(f"no package has {path.relative_to(root)}")
    place = str(SOURCE).encode()
    for path in root.rglob("*"):
        if from_nothing and path.is_file() and not path.is_symlink() and place in path.read_bytes():
            fail(f"{path.relative_to(root)} has the path {SOURCE}")
        if path.is_file() and "/man/man" in str(path) and path.suffix != ".gz":
            fail(f"{path.relative_to(root)} is not compressed")
    return own, share


# A build that is for /usr/local has its libraries in lib.
OF_A_BUILD = ["--suppress-tags", "pkg-config-unavailable-for-cross-compilation"]


def lint(packages, from_nothing):
    if not shutil.which("lintian"):
        return "lintian is not installed"
    version = run("lintian", "--print-version").strip()
    if not version.startswith(LINTIAN):  # each version finds something else
        return f"lintian {LINTIAN} decides; here is {version}"
    done = subprocess.run(["lintian", "--allow-root", "--no-cfg", "--fail-on", "error,warning", "--tag-display-limit", "0", *([] if from_nothing else OF_A_BUILD), *packages.values()], capture_output=True, text=True, check=False)
    if done.returncode or re.search(r"^[EW]: ", done.stdout, re.M):
        fail(f"lintian: {done.returncode}\n{done.stdout}{done.stderr}")
    return None


def use(root, own, share, folder):
    """As a user does: the reference driver; the NPU from its sources, by CMake; a program with the library."""
    prefix = root / "usr"
    environment = {**os.environ, "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}", "CMAKE_PREFIX_PATH": str(prefix), "PKG_CONFIG_PATH": str(own.parent / "pkgconfig"), "LD_LIBRARY_PATH": str(own.parent)}
    environment.pop("CMAKE_C_COMPILER_LAUNCHER", None)
    told = run("dxgkhost", "run", own / "drivers" / "refgpu.so", share / "dxgkhost" / "workloads" / "compositor.lua", "--set", "width=320", "--set", "height=180", "--set", "columns=4", "--set", "rows=3",
               "--set", "oversubscribe=0.5", "--out", folder / "out", env=environment, cwd=folder)
    if PASS not in told or "violations             0" not in told:
        fail(told)
    npu = folder / "npu"
    shutil.copytree(share / "dxgkhost" / "examples" / "npu", npu)
    run("cmake", "-B", "build", env=environment, cwd=npu)
    told = run("cmake", "--build", "build", "--target", "run", env=environment, cwd=npu)
    if PASS not in told or "violations             0" not in told:
        fail(told)
    if shutil.which("x86_64-w64-mingw32-gcc"):
        run("cmake", "--build", "build", env=environment, cwd=npu)
        told = run("dxgkhost", "run", next(npu.rglob("npu.sys")), npu / "npu.lua", "--device", next(npu.rglob("npu_device.so")), env=environment, cwd=npu)
        if PASS not in told:
            fail(told)
    (folder / "embed.c").write_text('#include <stdio.h>\n#include <dxgkhost/dxgkhost.h>\n\nint main(void)\n{\n    struct dxgk_machine_config config;\n    char error[256];\n    struct dxgk_machine *machine;\n\n'
                                    '    dxgk_machine_config_init(&config);\n    machine = dxgk_machine_create(&config, error, sizeof(error));\n    puts(machine ? "built" : error);\n'
                                    "    dxgk_machine_destroy(machine);\n    return 0;\n}\n", encoding="utf-8")
    run("sh", "-c", "gcc -fshort-wchar embed.c $(pkg-config --cflags --libs dxgkhost) -o embed", env=environment, cwd=folder)
    if run("./embed", env=environment, cwd=folder) != "built\n":
        fail("a program with the library builds no machine")
    if "libdxgkhost.so.0" not in run("readelf", "-d", folder / "embed"):
        fail("a program is not linked with the library by its version")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    from_nothing = sys.argv[2:] == ["nothing"]
    packages = made(build, from_nothing)
    control(packages)
    skipped = lint(packages, from_nothing)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        root = folder / "root"
        for package in packages.values():
            run("dpkg-deb", "-x", package, root)
        own, share = contents(root, from_nothing)
        if from_nothing: # else what is installed from a build is used by tests/installed
            use(root, own, share, folder)
    if skipped:
        print(f"skipped: the packages work, but {skipped}")
        return 77
    return 0


sys.exit(main())
