#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Twenty mistakes that beginners of a compute-only driver make, each planted into the sources of examples/npu: a run with
--checks=full names each by a rule, with the guilty line; a plain run most of them. Usage: mistakes.py sources|BUILD_FOLDER [MISTAKE].
Exit status 0: the case holds."""
import concurrent.futures
import json
import os
import re
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

    def __init__(self, name, rules, *changes, place=None, plain=True, options=(), seeds=1, workload=None):
        self.name, self.rules, self.changes, self.place, self.plain = name, rules, changes, place, plain
        self.options, self.seeds, self.workload = options, seeds, workload


MISTAKES = (
    Mistake("no_notify_dpc", ("THREAD-062",), ("work", "    adapter->Dxgk.DxgkCbNotifyDpc(adapter->Dxgk.DeviceHandle);", "    UNREFERENCED_PARAMETER(adapter);"),
            place="NpuDpcRoutine"),
    Mistake("wrong_fence", ("SUBMIT-044", "SUBMIT-043"), ("work", "    Notify(Adapter, &data);\n}\n\n/* The engine stands", f"    data.DmaCompleted.SubmissionFenceId++;\n    Notify(Adapter, &data); {MARK}\n}}\n\n/* The engine stands")),
    Mistake("address_off_by_4", ("SUBMIT-001",), ("work", "packet.Address = pSubmitCommandVirtual->DmaBufferVirtualAddress;", "packet.Address = pSubmitCommandVirtual->DmaBufferVirtualAddress + 4;"), place="NpuSubmitCommandVirtual"),
    Mistake("address_off_by_64k", ("SUBMIT-001",), ("work", "packet.Address = pSubmitCommandVirtual->DmaBufferVirtualAddress;", "packet.Address = pSubmitCommandVirtual->DmaBufferVirtualAddress + 0x10000;"), place="NpuSubmitCommandVirtual"),
    Mistake("mdl_leak", ("NT-001",), ("memory", "    context->Device = (NPU_DEVICE *)hDevice;", f"    context->Device = (NPU_DEVICE *)hDevice;\n    (VOID) IoAllocateMdl(context, sizeof(*context), FALSE, FALSE, NULL); {MARK}")),
    Mistake("pool_leak", ("NT-001",), ("memory", "        ExFreePoolWithTag(pCloseAllocation->pOpenHandleList[i], NPU_TAG);", "        (VOID) pCloseAllocation;"), place="NpuOpenAllocation"),
    Mistake("lock_kept", ("NT-001",), ("adapter", "    if (escape.magic != NPU_MAGIC)\n        return STATUS_INVALID_PARAMETER;", "    KeAcquireSpinLock(&Lock, &irql); " + MARK + "\n    if (escape.magic != NPU_MAGIC)\n        return STATUS_INVALID_PARAMETER;"),
            ("adapter", "    struct npu_escape escape;", "    static KSPIN_LOCK Lock;\n    struct npu_escape escape;\n    KIRQL irql;"), ("adapter", "    RtlCopyMemory(pEscape->pPrivateDriverData, &escape, sizeof(escape));\n    return STATUS_SUCCESS;", "    RtlCopyMemory(pEscape->pPrivateDriverData, &escape, sizeof(escape));\n    return STATUS_SUCCESS;")),
    Mistake("wait_at_dispatch", ("NT-001",), ("adapter", "    if (escape.what == NPU_ESCAPE_COMPLETED)", f"    KeRaiseIrql(DISPATCH_LEVEL, &irql);\n    delay.QuadPart = -1000;\n    KeDelayExecutionThread(KernelMode, FALSE, &delay); {MARK}\n    KeLowerIrql(irql);\n    if (escape.what == NPU_ESCAPE_COMPLETED)"), ("adapter", "    struct npu_escape escape;", "    struct npu_escape escape;\n    LARGE_INTEGER delay;\n    KIRQL irql;")),
    Mistake("paged_at_dispatch", ("NT-001",), ("work", "    adapter->Dxgk.DxgkCbNotifyDpc(adapter->Dxgk.DeviceHandle);", f"    adapter->Dxgk.DxgkCbNotifyDpc(adapter->Dxgk.DeviceHandle);\n    NpuCounters[0]++; {MARK}"), ("work", "VOID NTAPI NpuDpcRoutine", "extern PULONG NpuCounters;\n\nVOID NTAPI NpuDpcRoutine"),
            ("adapter", "PVOID NpuAllocate(SIZE_T Bytes)\n", "extern PULONG NpuCounters;\nPULONG NpuCounters;\n\nPVOID NpuAllocate(SIZE_T Bytes)\n"), ("adapter", "    NpuStartHardware(adapter);\n    *NumberOf", "    NpuCounters = (PULONG)ExAllocatePoolWithTag(PagedPool, PAGE_SIZE, NPU_TAG);\n    NpuStartHardware(adapter);\n    *NumberOf"),
            ("adapter", "    UnmapRegisters(adapter);\n    NpuUnshare", "    UnmapRegisters(adapter);\n    ExFreePoolWithTag(NpuCounters, NPU_TAG);\n    NpuUnshare"), plain=False),
    Mistake("freed_adl", ("NT-002",), ("shared", "        Adapter->Dxgk.DxgkCbFreeAdl(&args);", f"        Adapter->Dxgk.DxgkCbFreeAdl(&args);\n        Shared->Adl->Flags.Value = 0; {MARK}")),
    Mistake("physical_address", ("IOMMU-001",), ("shared", "    const DXGK_ADL *adl = Shared->Adl;\n\n    return (ULONGLONG)(adl->Flags.Contiguous ? adl->BasePageNumber : adl->Pages[0]) << PAGE_SHIFT;", "    return (ULONGLONG)MmGetPhysicalAddress(Shared->Mapping).QuadPart;"), place="NpuStartHardware", options=("--iommu", "remap")),
    Mistake("wrong_entry", ("GPUVA-001",), ("tables", "    return Pte->PageAddress << PAGE_SHIFT | NPU_ENTRY_VALID |", "    return (Pte->PageAddress | 1) << PAGE_SHIFT | NPU_ENTRY_VALID |"), place="NpuBuildPagingBuffer"),
    Mistake("no_tlb_flush", ("GPUVA-001",), ("tables", "        return Flush(args);", "        return STATUS_SUCCESS;"), place="NpuBuildPagingBuffer"),
    Mistake("small_allocation", ("ALLOC-001",), ("memory", "    allocation->Bytes = (data.bytes + PAGE_SIZE - 1) & ~(ULONG)(PAGE_SIZE - 1);", f"    allocation->Bytes = data.bytes & ~(ULONG)(PAGE_SIZE - 1); {MARK}")),
    Mistake("paging_overrun", ("PAGE-008",), ("tables", "    if (!command || Args->DmaSize < sizeof(*command))\n        return NULL;", "    if (!command)\n        return NULL;"), place="NpuBuildPagingBuffer"),
    Mistake("double_completion", ("SUBMIT-044",), ("work", "    Notify(Adapter, &data);\n}\n\n/* The engine stands", f"    Notify(Adapter, &data);\n    Notify(Adapter, &data); {MARK}\n}}\n\n/* The engine stands")),
    Mistake("preemption_ignored", ("PREEMPT-041",), ("work", "    NpuWrite(adapter, NPU_REG_NOTIFY_IDLE, 1);", "    UNREFERENCED_PARAMETER(adapter);"), place="NpuPreemptCommand"),
    Mistake("unlocked_submit", ("THREAD-080",), ("work", "    return Synchronize(packet.Adapter, Submit, &packet);\n}\n\n/* The engine cannot", f"    (VOID) Submit(&packet); {MARK}\n    return STATUS_SUCCESS;\n}}\n\n/* The engine cannot"), plain=False),
    Mistake("use_after_free", ("NT-002",), ("memory", "        ExFreePoolWithTag(pCloseAllocation->pOpenHandleList[i], NPU_TAG);", f"        ExFreePoolWithTag(pCloseAllocation->pOpenHandleList[i], NPU_TAG), *(PULONG)pCloseAllocation->pOpenHandleList[i] = 0; {MARK}")),
    Mistake("timer_at_removal", ("NT-006",), ("adapter", "    ExFreePoolWithTag((PVOID)MiniportDeviceContext, NPU_TAG);", f"    LARGE_INTEGER due;\n\n    KeInitializeTimer(&Timer);\n    due.QuadPart = -10000000;\n    KeSetTimer(&Timer, due, NULL); {MARK}\n    ExFreePoolWithTag((PVOID)MiniportDeviceContext, NPU_TAG);"), ("adapter", "NTSTATUS NTAPI NpuRemoveDevice", "static KTIMER Timer;\n\nNTSTATUS NTAPI NpuRemoveDevice")),
    Mistake("garbage_caps", ("CAPS-001",), ("adapter", "    Caps->PageTableLevelCount = NPU_LEVELS;", f"    Caps->PageTableLevelCount = 77; {MARK}"), place="NpuQueryAdapterInfo"),
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


def looked_at(build, mistake, made):
    """What each kind of run says of it."""
    with tempfile.TemporaryDirectory() as folder:
        driver, guilty = planted(mistake, folder, made)
        return guilty, [run(build, driver, folder, *mistake.options, *options) for options in ((), ("--checks=full",))]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as top:
        made = objects(top)
        for m in MISTAKES:
            if len(sys.argv) > 2 and m.name not in sys.argv[2:]:
                continue
            guilty, results = looked_at(sys.argv[1], m, made)
            print("#####", m.name, guilty)
            for kind, (result, done) in zip(("plain", "full"), results):
                print(" ", kind, result["outcome"], result["message"][:90], flush=True)
                for v in result["violations"]:
                    if not v["undoing"]:
                        print("    ", v["severity"], v["rule"], v["seen"][:150], "| in", v["where"], "|", [(f.get("function"), os.path.basename(f.get("file", "")), f.get("line")) for f in v["stack"][:3]])
