#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a user does with an installed dxgkhost, in an empty folder. Usage: installed.py CASE BUILD

Cases: elf, windows (the example, by make and pkg-config), package (by the CMake package, and a driver that traces with WPP),
embed (a program with the library), ci (the steps of examples/ci). Each installs BUILD into a folder of its own first."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
PASS = "result                 PASS"


class Failure(Exception):
    pass


def run(command, **options):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    if result.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))}: exit status {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def expect(condition, what):
    if not condition:
        raise Failure(what)


class User:
    """A folder with an installed prefix, a copy of the example, and the environment that finds the prefix."""

    def __init__(self, build, folder):
        self.folder = pathlib.Path(folder)
        self.prefix = self.folder / "prefix"
        run(["cmake", "--install", build, "--prefix", self.prefix])
        self.program = self.prefix / "bin" / "dxgkhost"
        self.library_folder = next(self.prefix.glob("lib*/**/libdxgkhost.so")).parent
        self.environment = dict(os.environ, PKG_CONFIG_PATH=str(self.library_folder / "pkgconfig"))
        self.example = self.folder / "blitter"
        shutil.copytree(self.prefix / "share" / "dxgkhost" / "examples" / "blitter", self.example)

    def make(self, *targets):
        run(["make", "-C", self.example, f"-j{os.cpu_count() or 1}", *targets], env=self.environment)

    def drive(self, driver):
        output = run([self.program, "run", driver, self.example / "blitter.lua", "--strict", "--device",
                      self.example / "build" / "blitter_device.so"], cwd=self.folder)
        expect(PASS in output, f"{driver.name}: {output}")
        expect("violations             0 (0 warnings)" in output and "leaks                  0" in output, output)


def panel(user, *commands):
    """The display example, built as its page says."""
    folder = user.folder / "panel"
    if not folder.exists():
        shutil.copytree(user.prefix / "share" / "dxgkhost" / "examples" / "display", folder)
        run(["sh", "-c", "gcc -shared -fPIC -I. $(pkg-config --cflags dxgkhost) device/panel_device.c -o panel_device.so"], cwd=folder, env=user.environment)
    for step, name, command in commands:
        run(["sh", "-c", command], cwd=folder, env=user.environment)
        output = run([user.program, "run", f"./{name}", "panel.lua", "--strict", "--set", f"step={step}", "--device", "./panel_device.so"], cwd=folder)
        expect(PASS in output and "violations             0 (0 warnings)" in output and "leaks                  0" in output, f"{name}: {output}")
        print(f"{name}, step {step}: PASS")


def npu(user, name, command):
    """The example of a compute-only driver, built as its page says, in each update mode."""
    folder = user.folder / "npu"
    if not folder.exists():
        shutil.copytree(user.prefix / "share" / "dxgkhost" / "examples" / "npu", folder)
        run(["sh", "-c", "gcc -shared -fPIC -I. $(pkg-config --cflags dxgkhost) device/npu_device.c -o npu_device.so"], cwd=folder, env=user.environment)
    run(["sh", "-c", command], cwd=folder, env=user.environment)
    for options in ((), ("--registry", "gpu_virtual.reg"), ("--registry", "gpu_physical.reg", "--iommu", "remap")):
        output = run([user.program, "run", f"./{name}", "npu.lua", "--strict", "--checks=full", "--device", "./npu_device.so", *options], cwd=folder)
        expect(PASS in output and "violations             0 (0 warnings)" in output and "leaks                  0" in output, f"{name}: {output}")
        print(f"{name} {' '.join(options)}: PASS")


def elf(user):
    npu(user, "npu.so", "gcc -g -shared -fPIC -fvisibility=hidden $(pkg-config --cflags dxgkhost-wdk) *.c -o npu.so")
    panel(user, *((step, "panel.so", f"gcc -shared -fPIC -fvisibility=hidden -DSTEP={step} $(pkg-config --cflags dxgkhost-wdk) *.c -o panel.so") for step in (1, 5)))
    user.make("elf")
    drivers = sorted(path for path in (user.example / "build").glob("*.so") if path.name != "blitter_device.so")
    expect(len(drivers) == 4, f"{drivers}")
    for driver in drivers:
        user.drive(driver)
        print(f"{driver.name}: PASS")
    # what gdb would be given: the script, with what it prints statuses by
    words = run([user.program, "run", drivers[0], user.example / "blitter.lua", "--device", user.example / "build" / "blitter_device.so", "--gdb"],
                cwd=user.folder, env=dict(user.environment, DXGK_GDB="echo")).split()
    script = pathlib.Path(words[words.index("-x") + 1])
    expect(script.is_file() and (script.parent / "../../../include/dxgkhost/wdk/base/ntstatus.h").is_file(), f"{words}")


def imported_modules(image):
    output = run(["x86_64-w64-mingw32-objdump", "-p", image])
    return sorted({line.split(":", 1)[1].strip().lower() for line in output.splitlines() if "DLL Name:" in line})


def windows(user):
    npu(user, "npu.sys", "x86_64-w64-mingw32-gcc -O2 -ffreestanding $(pkg-config --cflags dxgkhost-wdk-windows) *.c -nostdlib -shared"
        " -Wl,--subsystem,native -Wl,--entry,DriverEntry -Wl,--dynamicbase -Wl,--exclude-all-symbols"
        " $(pkg-config --libs dxgkhost-wdk-windows) -o npu.sys")
    panel(user, (5, "panel.sys", "x86_64-w64-mingw32-gcc -O2 -ffreestanding $(pkg-config --cflags dxgkhost-wdk-windows) *.c -nostdlib -shared"
                 " -Wl,--subsystem,native -Wl,--entry,DriverEntry -Wl,--dynamicbase -Wl,--exclude-all-symbols"
                 " $(pkg-config --libs dxgkhost-wdk-windows) -o panel.sys"))
    user.make("windows", "build/blitter_device.so")
    images = sorted((user.example / "build").glob("*.sys"))
    expect(len(images) == 6, f"{images}")
    for image in images:
        modules = imported_modules(image)
        expect(modules and set(modules) <= {"ntoskrnl.exe", "hal.dll"}, f"{image.name} imports {modules}")
        user.drive(image)
        print(f"{image.name}: imports {', '.join(modules)}; PASS")


def ci(user):
    """The steps of a driver's continuous integration, as docs/ci.md has them, for the NPU; and what they say of a mistake."""
    examples = user.prefix / "share" / "dxgkhost" / "examples"
    folder = user.folder / "npu-ci"
    shutil.copytree(examples / "npu", folder)
    shutil.copy(examples / "ci" / "driver-ci.sh", folder)
    environment = dict(user.environment, PATH=f"{user.prefix / 'bin'}:{os.environ['PATH']}", CMAKE_PREFIX_PATH=str(user.prefix), DRIVER="npu", SEEDS="1..6",
                       SHARDS="2", SECONDS_OF_FUZZ="5")

    def step(name, status=0, **more):
        done = subprocess.run(["sh", "driver-ci.sh", name], cwd=folder, env={**environment, **more}, capture_output=True, text=True, check=False)
        expect(done.returncode == status, f"{name}: {done.returncode}, not {status}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    for file in ("github.yml", "gitlab.yml"): # they name these steps, and all of them
        steps = set(re.findall(r"sh driver-ci\.sh (\w+)", (examples / "ci" / file).read_text(encoding="utf-8")))
        expect(steps == {"build", "run", "explore", "fuzz"}, f"{file}: {steps}")
    step("build")
    forms = [form for form in ("so", "sys") if (folder / "build" / f"npu.{form}").exists()]
    expect("so" in forms, forms)
    step("run")
    step("explore", SHARD="2")
    if (user.prefix / "bin" / "dxgkhost-fuzz").exists() or list(user.prefix.rglob("dxgkhost-fuzz")):
        step("fuzz")
        expect(any((folder / "ci-results" / "corpus").iterdir()), "fuzz left no corpus")
    for form in forms:
        for name in (f"run-{form}.html", f"run-{form}.json", f"run-{form}.xml", f"run-{form}.sarif", f"explore-{form}-2.json", f"explore-{form}-2.sarif"):
            expect((folder / "ci-results" / name).stat().st_size > 0, name)
    work = folder / "work.c"
    work.write_text(work.read_text(encoding="utf-8").replace("    Notify(Adapter, &data);\n}", "    Notify(Adapter, &data);\n    Notify(Adapter, &data);\n}", 1), encoding="utf-8")
    step("build")
    step("run", status=3)
    result = json.loads((folder / "ci-results" / "run-so.sarif").read_text(encoding="utf-8"))["runs"][0]["results"][0]
    place = result["locations"][0]["physicalLocation"]
    expect(result["ruleId"] == "SUBMIT-044" and place["artifactLocation"]["uri"].endswith("work.c") and place["region"]["startLine"] > 1, result)
    step("explore", status=3, SHARD="1")
    for name in ("run", "explore", "fuzz"): # green with nothing to run would be a lie
        step(name, status=2, DRIVER="nothing")
    expect("usage" in subprocess.run(["sh", "driver-ci.sh", "other"], cwd=folder, capture_output=True, text=True, check=False).stderr, "another step")
    print("the steps of examples/ci: PASS")


WPP_PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(wpp LANGUAGES C)
find_package(dxgkhost REQUIRED)
dxgkhost_add_driver(wpp SOURCES wpp_source.c WPP wpp_trace.h)
dxgkhost_add_driver(races SOURCES wpp_source.c copies.c WPP wpp_trace.h RACES)
"""
COPIES_SOURCE = """\
#include <ntddk.h>
#include <string.h>

void copies(void *to, const void *from, size_t bytes);
void copies(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    RtlMoveMemory(to, from, bytes);
    RtlZeroMemory(to, bytes);
}
"""

# As images by each compiler: a header in another case, tracing, pool of ExAllocatePool2, C++ with a pure virtual function.
IMAGE_PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(image LANGUAGES C CXX)
find_package(dxgkhost REQUIRED)
foreach(compiler gcc clang msvc)
    dxgkhost_add_driver(image_${compiler} SYS COMPILER ${compiler} SOURCES image.cxx other/image.cc WPP wpp_trace.h CASE
                        INCLUDE . include DEFINE NUMBER=7)
endforeach()
"""
IMAGE_SOURCE = """\
#include <string.h>
#include <ntddk.h>
#include <ntstrsafe.h>
#include "wpp_trace.h"
#include "image.tmh"
#include "Image.H"

struct Base {
    virtual ULONG number() = 0;
};
struct Derived : Base {
    ULONG number() override { return NUMBER; }
};
int SampleBroken;
Base *volatile base;

extern "C" NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    Derived derived;
    PVOID pool = ExAllocatePool2(POOL_FLAG_NON_PAGED, 16, IMAGE_TAG);
    WCHAR buffer[16];
    UNICODE_STRING name = {0, sizeof(buffer), buffer};
    char text[8];

    UNREFERENCED_PARAMETER(DriverObject);
    UNREFERENCED_PARAMETER(RegistryPath);
    base = &derived;
    TraceWrapped(TRACE_LEVEL_ERROR, ("number %u", base->number()));
    if (pool)
        ExFreePool2(pool, IMAGE_TAG, nullptr, 0);
    if (strcpy_s(text, sizeof(text), "1234567") != 0 || !NT_SUCCESS(RtlUnicodeStringPrintf(&name, L"%hs", text)) || name.Length != 14)
        return STATUS_UNSUCCESSFUL;
    return Other(DriverObject);
}
"""


def package(user):
    build = user.example / "build"
    run(["cmake", "-S", user.example, "-B", build, f"-DCMAKE_PREFIX_PATH={user.prefix}"])
    run(["cmake", "--build", build])
    user.drive(build / "blitter.so")
    output = run(["cmake", "--build", build, "--target", "run"])
    expect(PASS in output, output)
    if shutil.which("x86_64-w64-mingw32-gcc"):
        user.drive(build / "blitter.sys")
        windows_project(user)
    # Tracing by WPP: nothing in the source says where its .tmh file comes from.
    wpp = user.folder / "wpp"
    wpp.mkdir()
    (wpp / "CMakeLists.txt").write_text(WPP_PROJECT, encoding="ascii")
    for name in ("wpp_source.c", "wpp_trace.h"):
        shutil.copy(SOURCE / "tests" / "abi" / name, wpp)
    (wpp / "copies.c").write_text(COPIES_SOURCE, encoding="ascii")
    run(["cmake", "-S", wpp, "-B", wpp / "build", f"-DCMAKE_PREFIX_PATH={user.prefix}", "-DCMAKE_C_FLAGS=-O2 -D_FORTIFY_SOURCE=2"])
    run(["cmake", "--build", wpp / "build"])
    expect((wpp / "build" / "wpp.so").is_file(), "no wpp.so")
    # Hooks of accesses, which the host has, and nothing of the compiler's runtime.
    hooks = run(["nm", "-D", "--undefined-only", wpp / "build" / "races.so"])
    for hook in ("func_entry", "memcpy", "memmove", "memset"):
        expect(f"__tsan_{hook}" in hooks, f"no hook {hook} in races.so: {hooks}")
    expect("tsan" not in run(["readelf", "-d", wpp / "build" / "races.so"]), "races.so needs the compiler's runtime")
    # A version that is not there is refused.
    (wpp / "CMakeLists.txt").write_text(WPP_PROJECT.replace("dxgkhost REQUIRED", "dxgkhost 99 REQUIRED"), encoding="ascii")
    shutil.rmtree(wpp / "build")
    try:
        run(["cmake", "-S", wpp, "-B", wpp / "build", f"-DCMAKE_PREFIX_PATH={user.prefix}"])
    except Failure:
        return
    raise Failure("version 99 was found")


def windows_project(user):
    """What is built for Windows alone, from sources of several folders; each image is linked whole, and loaded."""
    folder = user.folder / "image"
    for name, text in (("CMakeLists.txt", IMAGE_PROJECT), ("image.cxx", IMAGE_SOURCE),
                       ("include/image.h", '#define IMAGE_TAG 0x67616d49\nEXTERN_C NTSTATUS Other(PDRIVER_OBJECT DriverObject);\n'),
                       ("other/image.cc", '#include <ntddk.h>\n#include <Image.h>\nNTSTATUS Other(PDRIVER_OBJECT DriverObject)\n'
                                         '{\n    return DriverObject ? STATUS_DEVICE_BUSY : STATUS_SUCCESS;\n}\n')):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="ascii")
    shutil.copy(SOURCE / "tests" / "abi" / "wpp_trace.h", folder)
    run(["cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={user.prefix}"])
    run(["cmake", "--build", folder / "build"])
    for compiler in ("gcc", "clang", "msvc"):
        image = folder / "build" / f"image_{compiler}.sys"
        expect(imported_modules(image) == ["ntoskrnl.exe"], f"{image.name} imports {imported_modules(image)}")
        result = subprocess.run([user.program, "inspect", image], capture_output=True, text=True, check=False)
        expect("STATUS_DEVICE_BUSY" in result.stdout + result.stderr, f"{image.name}: {result.stdout}{result.stderr}")


EMBED = """\
#include <stdio.h>
#include <dxgkhost/dxgkhost.h>
#include <d3dkmthk.h>

static void client(void *argument)
{
    D3DKMT_ADAPTERINFO adapter[16];
    D3DKMT_ENUMADAPTERS2 enumerate = {.NumAdapters = 16, .pAdapters = adapter};

    if (D3DKMTEnumAdapters2(&enumerate) == 0)
        *(unsigned *)argument = enumerate.NumAdapters;
}

int main(int argc, char **argv)
{
    struct dxgk_machine_config config;
    struct dxgk_machine *machine;
    unsigned adapters = 0;
    char error[256] = "";

    dxgk_machine_config_init(&config);
    machine = dxgk_machine_create(&config, error, sizeof(error));
    if (argc < 3 || !machine || dxgk_machine_add_device(machine, argv[2], NULL, 0, error, sizeof(error)) != 0 ||
        dxgk_machine_load_driver(machine, argv[1], error, sizeof(error)) != 0) {
        fprintf(stderr, "%s\\n", error);
        return 1;
    }
    dxgk_machine_run(machine, "client", client, &adapters);
    dxgk_machine_shutdown(machine);
    dxgk_machine_destroy(machine);
    printf("%u\\n", adapters);
    return adapters == 1 ? 0 : 1;
}
"""


def embed(user):
    user.make("build/blitter.so", "build/blitter_device.so")
    source = user.folder / "embed.c"
    source.write_text(EMBED, encoding="ascii")
    flags = run(["pkg-config", "--cflags", "--libs", "dxgkhost"], env=user.environment).split()
    program = user.folder / "embed"
    run(["gcc", "-Wall", "-Wextra", "-Werror", source, "-o", program, *flags])
    run([program, user.example / "build" / "blitter.so", user.example / "build" / "blitter_device.so"],
        env=dict(user.environment, LD_LIBRARY_PATH=str(user.library_folder)))


def main():
    cases = {"elf": elf, "windows": windows, "package": package, "embed": embed, "ci": ci}
    if len(sys.argv) != 3 or sys.argv[1] not in cases:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        try:
            cases[sys.argv[1]](User(pathlib.Path(sys.argv[2]).resolve(), folder))
        except Failure as failure:
            print(failure, file=sys.stderr)
            return 1
    return 0


sys.exit(main())
