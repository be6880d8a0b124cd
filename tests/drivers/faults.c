/* SPDX-License-Identifier: MIT */
/*
 * The example driver, which breaks down in one way (the value Act of the service key) at one place (Place). What it breaks is
 * what a report of the breakdown might need: the stack with its callers' frames, the stack pointer, the frame pointer, the
 * flags. faults.h has the numbers.
 */
#include <ntddk.h>

#include "../../examples/blitter/blitter.h"
#include "faults.h"
#include "service_value.h"

static NTSTATUS NTAPI FaultsInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                       DRIVER_INITIALIZATION_DATA *Data);

#define DxgkInitialize FaultsInitialize
#include "../../examples/blitter/adapter.c"
#undef DxgkInitialize
#include "../../examples/blitter/memory.c"
#include "../../examples/blitter/work.c"

#define NOINLINE __attribute__((noinline))

static ULONG act, place, devices;
static volatile ULONG zero;
UCHAR copied[4096];
static volatile UCHAR *entry_frame; /* of the function that the host called */
static KDPC dpc;

/* ---- what it does ---- */

/* Write so many bytes upwards from a buffer of its own frame, and return. */
static NOINLINE VOID Overrun(ULONG Bytes, UCHAR Fill)
{
    UCHAR buffer[64];
    volatile UCHAR *at = buffer;

    __asm__ volatile("" : "+r"(at));
    for (ULONG i = 0; i < Bytes; i++)
        at[i] = Fill;
    __asm__ volatile("" : : "r"(at) : "memory");
}

static NOINLINE ULONG Recurse(volatile ULONG *Last)
{
    volatile ULONG frame[64];

    frame[0] = *Last + 1;
    return frame[0] ? Recurse(frame) + frame[0] : 0;
}

static VOID BadStackPointer(ULONG_PTR Value)
{
    __asm__ volatile("movq %0, %%rsp\n\tpushq %%rax\n\tint3" : : "r"(Value) : "memory");
}

/* A fault while the frame pointer is no frame. */
static VOID BadFramePointer(ULONG_PTR Value)
{
    __asm__ volatile("movq %0, %%rbp\n\tmovl $1, 0x18" : : "r"(Value) : "memory");
}

static VOID SetFlags(ULONG_PTR Set)
{
    __asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq" : : "r"(Set) : "memory", "cc");
}

static VOID FloatingControl(VOID)
{
    ULONG mxcsr = 0x1F80 | 0x6000; /* round toward zero */

    __asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
}

static VOID X87Control(VOID)
{
    USHORT control = 0x007F; /* single precision */

    __asm__ volatile("fldcw %0" : : "m"(control));
}

static VOID Services(VOID)
{
    UNICODE_STRING name = RTL_CONSTANT_STRING(L"Nothing");
    ULONG bytes = 0;
    HANDLE key;
    OBJECT_ATTRIBUTES attributes;
    UNICODE_STRING path = RTL_CONSTANT_STRING(L"\\Registry\\Machine\\System");

    InitializeObjectAttributes(&attributes, &path, OBJ_KERNEL_HANDLE, NULL, NULL);
    switch (act) {
    case ACT_ZW_BAD_POINTER:
        if (NT_SUCCESS(ZwOpenKey(&key, KEY_READ, &attributes)))
            (VOID) ZwQueryValueKey(key, (PUNICODE_STRING)(ULONG_PTR)0x1230, KeyValueFullInformation,
                                   &name, sizeof(name), &bytes);
        break;
    case ACT_PRINT_BAD_POINTER:
        (VOID) DbgPrint("%s\n", (PCSTR)(ULONG_PTR)0x1230);
        break;
    case ACT_COPY_BAD_POINTER:
        RtlMoveMemory(copied, (PVOID)(ULONG_PTR)(0x1230 + zero), sizeof(copied) - zero);
        break;
    case ACT_EVENT_BAD_POINTER:
        KeInitializeEvent((PRKEVENT)(ULONG_PTR)0x1230, NotificationEvent, FALSE);
        break;
    default:
        break;
    }
}

static VOID Break(VOID)
{
    volatile ULONG first = 0;

    switch (act) {
    case ACT_OVERRUN_64:
        Overrun(64 + 64, 0x5A);
        break;
    case ACT_OVERRUN_1K:
        Overrun(64 + 1024, 0x5A);
        break;
    case ACT_OVERRUN_1200:
        Overrun(64 + 1228, 0x5A);
        break;
    case ACT_OVERRUN_4K:
        Overrun(64 + 4096, 0x5A);
        break;
    case ACT_OVERRUN_ALL:
        Overrun(0x10000000, 0x5A);
        break;
    case ACT_OVERRUN_ZERO:
        Overrun(64 + 4096, 0);
        break;
    case ACT_RECURSION:
        (VOID) Recurse(&first);
        break;
    case ACT_STACK_LOW:
        BadStackPointer(0x1000);
        break;
    case ACT_STACK_NON_CANONICAL:
        BadStackPointer(0xDEAD000000000000);
        break;
    case ACT_STACK_ELSEWHERE:
        BadStackPointer((ULONG_PTR)&dpc + sizeof(dpc)); /* it can be written */
        break;
    case ACT_FRAME_LOW:
        BadFramePointer(8);
        break;
    case ACT_FRAME_NON_CANONICAL:
        BadFramePointer(0xDEAD000000000000);
        break;
    case ACT_NULL:
        *(volatile ULONG *)(ULONG_PTR)(0x18 + zero) = 1;
        break;
    case ACT_NON_CANONICAL:
        *(volatile ULONG *)(ULONG_PTR)(0xDEAD000000000010 + zero) = 1;
        break;
    case ACT_DIRECTION:
        SetFlags(0x400);
        break;
    case ACT_ALIGNMENT:
        SetFlags(0x40000);
        break;
    case ACT_MXCSR:
        FloatingControl();
        break;
    case ACT_X87:
        X87Control();
        break;
    case ACT_INT3:
        __asm__ volatile("int3");
        break;
    case ACT_INT_2D:
        __asm__ volatile("int $0x2d\n\tint3\n\tnop" : : "a"(1), "c"(0) : "memory");
        break;
    case ACT_INT_29:
        __asm__ volatile("int $0x29" : : "c"(2) : "memory");
        break;
    case ACT_CALLERS_FRAME: /* beyond the home space of the Microsoft convention */
        for (ULONG i = 48; i < 48 + 200; i++)
            entry_frame[i] = 0x5A;
        break;
    default:
        Services();
    }
}

/* The frame pointer's place, as with gcc: below the return address. */
#if defined(__clang__) && defined(_WIN32)
#define ENTRY_FRAME() ((volatile UCHAR *)_AddressOfReturnAddress() - 8)
#else
#define ENTRY_FRAME() ((volatile UCHAR *)__builtin_frame_address(0))
#endif
#define BREAK_AT(Place)              \
    do {                             \
        entry_frame = ENTRY_FRAME(); \
        BreakAt(Place);              \
    } while (0)

static NOINLINE VOID BreakAt(ULONG Place)
{
    if (place != Place)
        return;
    place = 0; /* once */
    Break();
    __asm__ volatile("" : : : "memory"); /* no tail call: this frame is there */
}

/* ---- where ---- */

static VOID NTAPI DpcRoutine(PKDPC Dpc, PVOID Context, PVOID First, PVOID Second)
{
    UNREFERENCED_PARAMETER(Dpc);
    UNREFERENCED_PARAMETER(Context);
    UNREFERENCED_PARAMETER(First);
    UNREFERENCED_PARAMETER(Second);
    BREAK_AT(PLACE_KDPC);
}

static VOID NTAPI ThreadRoutine(PVOID Context)
{
    UNREFERENCED_PARAMETER(Context);
    BREAK_AT(PLACE_THREAD);
    PsTerminateSystemThread(STATUS_SUCCESS);
}

static NTSTATUS NTAPI FaultsCreateDevice(IN_CONST_HANDLE hAdapter, INOUT_PDXGKARG_CREATEDEVICE Args)
{
    BLITTER_ADAPTER *adapter = (BLITTER_ADAPTER *)hAdapter;
    NTSTATUS status = BlitterCreateDevice(hAdapter, Args);
    LARGE_INTEGER tick;
    HANDLE thread;

    if (devices++ == 0) { /* that of the system */
        BREAK_AT(PLACE_SYSTEM);
        return status;
    }
    BREAK_AT(PLACE_CLIENT);
    if (place == PLACE_ISR || place == PLACE_DPC)
        BlitterWrite(adapter, BLITTER_REG_NOTIFY_IDLE, 1);
    if (place == PLACE_KDPC) {
        KeInitializeDpc(&dpc, DpcRoutine, NULL);
        KeInsertQueueDpc(&dpc, NULL, NULL);
    }
    if (place == PLACE_THREAD && NT_SUCCESS(PsCreateSystemThread(&thread, THREAD_ALL_ACCESS, NULL,
                                                                 NULL, NULL, ThreadRoutine, NULL)))
        ZwClose(thread);
    tick.QuadPart = -100000; /* 10 ms, in which that happens */
    if (act != 0)
        KeDelayExecutionThread(KernelMode, FALSE, &tick);
    return status;
}

static BOOLEAN NTAPI FaultsInterruptRoutine(IN_CONST_PVOID MiniportDeviceContext,
                                            IN_ULONG MessageNumber)
{
    BREAK_AT(PLACE_ISR);
    return BlitterInterruptRoutine(MiniportDeviceContext, MessageNumber);
}

static VOID NTAPI FaultsDpcRoutine(IN_CONST_PVOID MiniportDeviceContext)
{
    BREAK_AT(PLACE_DPC);
    BlitterDpcRoutine(MiniportDeviceContext);
}

static NTSTATUS NTAPI FaultsInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                       DRIVER_INITIALIZATION_DATA *Data)
{
    act = ServiceValue(RegistryPath, L"Act");
    place = ServiceValue(RegistryPath, L"Place");
    BREAK_AT(PLACE_ENTRY);
    Data->DxgkDdiCreateDevice = FaultsCreateDevice;
    Data->DxgkDdiInterruptRoutine = FaultsInterruptRoutine;
    Data->DxgkDdiDpcRoutine = FaultsDpcRoutine;
    return DxgkInitialize(DriverObject, RegistryPath, Data);
}
