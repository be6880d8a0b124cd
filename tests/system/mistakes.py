#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Twenty mistakes that beginners of a compute-only driver make, each planted into the sources of examples/npu: a run with
--checks=full names each by a rule, at the guilty line or in the function that leaves something out; a plain run most of them. Usage: mistakes.py
BUILD_FOLDER [MISTAKE ...]. Exit status 0: all are named."""
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NPU = os.path.join(SOURCE, "examples", "npu")
NAMES = ("absent", "adapter", "memory", "shared", "tables", "work")
MARK = "/* here */"


class Mistake:
    """`changes`: (file, text, text instead), the guilty line marked with MARK, which is taken out; none: a line that is missing, for which
    `place`, a function of the driver, has to be in the report. `rules`: one of them names it. `plain`: also without --checks=full."""

    def __init__(self, name, rules, *changes, place=None, plain=True, options=()):
        self.name, self.rules, self.changes, self.place, self.plain = name, rules, changes, place, plain
        self.options = options


MISTAKES = (
    Mistake("no_notify_dpc", ("THREAD-063",), ("work", "    adapter->Dxgk.DxgkCbNotifyDpc(adapter->Dxgk.DeviceHandle);", "    UNREFERENCED_PARAMETER(adapter);"),
            place="NpuDpcRoutine"),
    Mistake("wrong_fence", ("SUBMIT-043",), ("work", "    Notify(Adapter, &data);\n}\n\n/* The engine stands", f"    data.DmaCompleted.SubmissionFenceId++;\n    Notify(Adapter, &data); {MARK}\n}}\n\n/* The engine stands")),
    Mistake("address_off_by_4", ("SUBMIT-030",), ("work", "packet.Address = pSubmitCommandVirtual->DmaBufferVirtualAddress;", "packet.Address = pSubmitCommandVirtual->DmaBufferVirtualAddress + 4;"), place="NpuSubmitCommandVirtual"),
    Mistake("address_off_by_64k", ("SUBMIT-030",), ("work", "packet.Address = pSubmitCommandVirtual->DmaBufferVirtualAddress;", "packet.Address = pSubmitCommandVirtual->DmaBufferVirtualAddress + 0x10000;"), place="NpuSubmitCommandVirtual"),
    Mistake("mdl_leak", ("NT-114",), ("memory", "    context->Device = (NPU_DEVICE *)hDevice;", f"    context->Device = (NPU_DEVICE *)hDevice;\n    (VOID) IoAllocateMdl(context, sizeof(*context), FALSE, FALSE, NULL); {MARK}")),
    Mistake("pool_leak", ("NT-027",), ("memory", "        ExFreePoolWithTag(pCloseAllocation->pOpenHandleList[i], NPU_TAG);", "        (VOID) pCloseAllocation;"), place="NpuOpenAllocation"),
    Mistake("lock_kept", ("THREAD-007",), ("adapter", "    if (escape.magic != NPU_MAGIC)\n        return STATUS_INVALID_PARAMETER;", "    KeAcquireSpinLock(&Lock, &irql); " + MARK + "\n    if (escape.magic != NPU_MAGIC)\n        return STATUS_INVALID_PARAMETER;"),
            ("adapter", "    struct npu_escape escape;", "    static KSPIN_LOCK Lock;\n    struct npu_escape escape;\n    KIRQL irql;"), ("adapter", "    RtlCopyMemory(pEscape->pPrivateDriverData, &escape, sizeof(escape));\n    return STATUS_SUCCESS;", "    RtlCopyMemory(pEscape->pPrivateDriverData, &escape, sizeof(escape));\n    return STATUS_SUCCESS;")),
    Mistake("wait_at_dispatch", ("NT-046",), ("adapter", "    if (escape.what == NPU_ESCAPE_COMPLETED)", f"    KeRaiseIrql(DISPATCH_LEVEL, &irql);\n    delay.QuadPart = -1000;\n    KeDelayExecutionThread(KernelMode, FALSE, &delay); {MARK}\n    KeLowerIrql(irql);\n    if (escape.what == NPU_ESCAPE_COMPLETED)"), ("adapter", "    struct npu_escape escape;", "    struct npu_escape escape;\n    LARGE_INTEGER delay;\n    KIRQL irql;")),
    Mistake("paged_at_dispatch", ("THREAD-005",), ("work", "    adapter->Dxgk.DxgkCbNotifyDpc(adapter->Dxgk.DeviceHandle);", f"    adapter->Dxgk.DxgkCbNotifyDpc(adapter->Dxgk.DeviceHandle);\n    NpuCounters[0]++; {MARK}"), ("work", "VOID NTAPI NpuDpcRoutine", "extern PULONG NpuCounters;\n\nVOID NTAPI NpuDpcRoutine"),
            ("adapter", "PVOID NpuAllocate(SIZE_T Bytes)\n", "extern PULONG NpuCounters;\nPULONG NpuCounters;\n\nPVOID NpuAllocate(SIZE_T Bytes)\n"), ("adapter", "    NpuStartHardware(adapter);\n    *NumberOf", "    NpuCounters = (PULONG)ExAllocatePoolWithTag(PagedPool, PAGE_SIZE, NPU_TAG);\n    NpuStartHardware(adapter);\n    *NumberOf"),
            ("adapter", "    UnmapRegisters(adapter);\n    NpuUnshare", "    UnmapRegisters(adapter);\n    ExFreePoolWithTag(NpuCounters, NPU_TAG);\n    NpuUnshare"), plain=False),
    Mistake("freed_adl", ("PHYS-194",), ("shared", "        Adapter->Dxgk.DxgkCbFreeAdl(&args);", f"        Adapter->Dxgk.DxgkCbFreeAdl(&args);\n        Adapter->Completed = (ULONG)NpuBusAddress(Shared); {MARK}")),
    Mistake("physical_address", ("IOMMU-072",), ("shared", "    const DXGK_ADL *adl = Shared->Adl;\n\n    return (ULONGLONG)(adl->Flags.Contiguous ? adl->BasePageNumber : adl->Pages[0]) << PAGE_SHIFT;", "    return (ULONGLONG)MmGetPhysicalAddress(Shared->Mapping).QuadPart;"), place="NpuBusAddress", options=("--iommu", "remap")),
    Mistake("wrong_entry", ("GPUVA-197",), ("tables", "    return Pte->PageAddress << PAGE_SHIFT | NPU_ENTRY_VALID |", "    return (Pte->PageAddress | 1) << PAGE_SHIFT | NPU_ENTRY_VALID |"), place="NpuBuildPagingBuffer", plain=False),
    Mistake("no_tlb_flush", ("GPUVA-263",), ("tables", "        return Flush(args);", "        return STATUS_SUCCESS;"), place="NpuBuildPagingBuffer", plain=False),
    Mistake("small_allocation", ("ALLOC-027",), ("memory", "    allocation->Bytes = (data.bytes + PAGE_SIZE - 1) & ~(ULONG)(PAGE_SIZE - 1);", "    allocation->Bytes = data.bytes & ~(ULONG)(PAGE_SIZE - 1);"), place="NpuCreateAllocation"),
    Mistake("paging_overrun", ("PAGE-008", "LIFE-191",), ("tables", "    RtlZeroMemory(command, sizeof(*command));\n    command->op = Op;", f"    RtlZeroMemory(command, Args->DmaSize + sizeof(*command) + 4); {MARK}\n    command->op = Op;")),
    Mistake("double_completion", ("SUBMIT-044",), ("work", "    Notify(Adapter, &data);\n}\n\n/* The engine stands", f"    Notify(Adapter, &data);\n    Notify(Adapter, &data); {MARK}\n}}\n\n/* The engine stands")),
    Mistake("preemption_ignored", ("PREEMPT-048",), ("work", "    NpuWrite(adapter, NPU_REG_NOTIFY_IDLE, 1);", "    UNREFERENCED_PARAMETER(adapter);"), place="NpuPreemptCommand"),
    Mistake("unlocked_submit", ("THREAD-080",), ("work", "    return Synchronize(packet.Adapter, Submit, &packet);\n}\n\n/* The engine cannot", f"    (VOID) Submit(&packet); {MARK}\n    return STATUS_SUCCESS;\n}}\n\n/* The engine cannot"), plain=False),
    Mistake("use_after_free", ("NT-026", "NT-025",), ("memory", "        ExFreePoolWithTag(pCloseAllocation->pOpenHandleList[i], NPU_TAG);", f"        ExFreePoolWithTag(pCloseAllocation->pOpenHandleList[i], NPU_TAG), *(PULONG)pCloseAllocation->pOpenHandleList[i] = 0; {MARK}")),
    Mistake("timer_at_removal", ("NT-006",), ("adapter", "    ExFreePoolWithTag((PVOID)MiniportDeviceContext, NPU_TAG);", f"    LARGE_INTEGER due;\n\n    KeInitializeTimer(&Timer);\n    due.QuadPart = -10000000;\n    KeSetTimer(&Timer, due, NULL); {MARK}\n    ExFreePoolWithTag((PVOID)MiniportDeviceContext, NPU_TAG);"), ("adapter", "NTSTATUS NTAPI NpuRemoveDevice", "static KTIMER Timer;\n\nNTSTATUS NTAPI NpuRemoveDevice")),
    Mistake("garbage_caps", ("CAPS-085",), ("adapter", "    Caps->PageTableLevelCount = NPU_LEVELS;", "    Caps->PageTableLevelCount = 77;"), place="NpuQueryAdapterInfo"),
)
COMPILER = ["gcc", "-O0", "-g", "-fPIC", "-fvisibility=hidden", "-std=gnu11", "-fshort-wchar", "-finstrument-functions"]
RACES = ["-fsanitize=thread", "--param=tsan-distinguish-volatile=1", "-Wno-tsan", "-U_FORTIFY_SOURCE", "-Dmemcpy=__tsan_memcpy", "-Dmemmove=__tsan_memmove", "-Dmemset=__tsan_memset"]
INCLUDE = ["-isystem", os.path.join(SOURCE, "include", "wdk"), "-isystem", os.path.join(SOURCE, "include", "wdk", "base"), "-I", NPU]


def compile_one(source, output):
    done = subprocess.run([*COMPILER, *RACES, *INCLUDE, "-c", source, "-o", output], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{source}: {done.stderr}")


def objects(folder):
    """Of the sources as they are."""
    made = {name: os.path.join(folder, name + ".o") for name in NAMES}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: compile_one(os.path.join(NPU, name + ".c"), made[name]), NAMES))
    return made


def planted(mistake, folder, made):
    """The driver with a mistake, and its guilty line as (file, number), or None."""
    files, guilty = {}, None
    for name, old, new in mistake.changes:
        text = files.get(name)
        if text is None:
            with open(os.path.join(NPU, name + ".c"), encoding="utf-8") as file:
                text = file.read()
        if text.count(old) != 1:
            sys.exit(f"{mistake.name}: {text.count(old)} times in {name}.c: {old}")
        files[name] = text.replace(old, new)
    own = dict(made)
    for name, text in files.items():
        for number, line in enumerate(text.split("\n"), 1):
            if MARK in line:
                guilty = (name + ".c", number)
        path = os.path.join(folder, name + ".c")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(MARK, ""))
        own[name] = os.path.join(folder, name + ".o")
        compile_one(path, own[name])
    driver = os.path.join(folder, "npu.so")
    subprocess.run(["gcc", "-shared", *own.values(), "-o", driver], check=True)
    return driver, guilty


def run(build, driver, folder, *options):
    path = os.path.join(folder, "result.json")
    done = subprocess.run([os.path.join(build, "dxgkhost"), "run", driver, os.path.join(NPU, "npu.lua"), "--device",
                           os.path.join(build, "examples", "npu_device.so"), "--out", os.path.join(folder, "out"), "--json", path, *options],
                          capture_output=True, text=True, errors="replace", check=False, timeout=300)
    with open(path, encoding="utf-8") as file:
        return json.load(file), done


def named(mistake, result, guilty):
    """Whether the report has it, and where."""
    found = [v for v in result["violations"] if v["rule"] in mistake.rules]
    places = [(os.path.basename(f.get("file", "")), f.get("line")) if guilty else f.get("function") for v in found for f in v["stack"]]
    return bool(found), (guilty or mistake.place) in places


def looked_at(build, mistake, made):
    """What is not as it is to be; and whether a plain run names it."""
    with tempfile.TemporaryDirectory() as folder:
        driver, guilty = planted(mistake, folder, made)
        plain, _ = run(build, driver, folder, *mistake.options)
        full, done = run(build, driver, folder, *mistake.options, "--checks=full")
    told, placed = named(mistake, full, guilty)
    wrong = []
    if not told or not placed:
        wrong.append(f"{mistake.name}: {mistake.rules} at {guilty or mistake.place}: {'not at its place' if told else 'not told'}\n{done.stderr}")
    if named(mistake, plain, guilty)[0] != mistake.plain:
        wrong.append(f"{mistake.name}: without --checks=full {'not ' if mistake.plain else ''}told")
    return wrong, named(mistake, plain, guilty)[0]


def main():
    build, only = os.path.abspath(sys.argv[1]), sys.argv[2:]
    mistakes = [m for m in MISTAKES if not only or m.name in only]
    with tempfile.TemporaryDirectory() as folder:
        made = objects(folder)
        driver, _ = planted(Mistake("none", ()), folder, made)
        result, done = run(build, driver, folder, "--checks=full")
        if result["outcome"] != "passed" or result["violations"]:
            sys.exit(f"the driver without a mistake\n{done.stderr}")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            seen = list(pool.map(lambda m: looked_at(build, m, made), mistakes))
    wrong = [text for each, _ in seen for text in each]
    print(f"{len(mistakes)} mistakes: {len(mistakes) - len(wrong)} as they are to be, {sum(plain for _, plain in seen)} also named by a plain run")
    for text in wrong:
        print(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
