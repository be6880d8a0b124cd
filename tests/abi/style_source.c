/* SPDX-License-Identifier: MIT */
/* A driver's source in the style of Microsoft's samples: annotations, sections, assertions. Compiled with every compiler. */
#include <ntddk.h>
#include <dispmprt.h>

#pragma warning(disable : 4127)
#pragma prefast(suppress : 28101, "a sample")

#ifdef __cplusplus
extern "C" {
#endif

DXGKDDI_ADD_DEVICE SampleAddDevice;
DXGKDDI_QUERYADAPTERINFO SampleQueryAdapterInfo;
KDEFERRED_ROUTINE SampleDpc;

_IRQL_requires_max_(PASSIVE_LEVEL) _Must_inspect_result_ _Success_(return >= 0) NTSTATUS NTAPI
    SampleRead(_In_ PVOID Context, _Out_writes_bytes_to_(Bytes, *Read) PVOID To,
               _In_range_(1, 4096) ULONG Bytes, _Out_ _Deref_out_range_(0, Bytes) PULONG Read);
_IRQL_requires_(DISPATCH_LEVEL) _IRQL_requires_same_ _Requires_lock_held_(*Lock) VOID NTAPI
    SampleTouch(_Inout_ PKSPIN_LOCK Lock, _In_opt_z_ PCWSTR Name);

#ifdef ALLOC_PRAGMA
#pragma alloc_text(PAGE, SampleAddDevice)
#endif

typedef struct _SAMPLE_CONTEXT {
    _Field_size_bytes_(Size) PUCHAR Data;
    ULONG Size;
    _Guarded_by_(Lock) ULONG Count;
    KSPIN_LOCK Lock;
} SAMPLE_CONTEXT, *PSAMPLE_CONTEXT;

C_ASSERT(sizeof(SAMPLE_CONTEXT) == 24);
C_ASSERT(FIELD_OFFSET(SAMPLE_CONTEXT, Count) == 12);

#pragma code_seg(push)
#pragma code_seg("PAGE")

_Use_decl_annotations_ NTSTATUS NTAPI SampleAddDevice(IN_CONST_PDEVICE_OBJECT PhysicalDeviceObject,
                                                      OUT_PPVOID MiniportDeviceContext)
{
    PAGED_CODE();
    UNREFERENCED_PARAMETER(PhysicalDeviceObject);
    NT_ASSERT(MiniportDeviceContext != NULL);
    NT_ASSERTMSG("a context", MiniportDeviceContext != NULL);
    ASSERT(*MiniportDeviceContext == NULL);
    *MiniportDeviceContext = NULL;
    return STATUS_NOT_IMPLEMENTED;
}

_Use_decl_annotations_ NTSTATUS NTAPI SampleRead(PVOID Context, PVOID To, ULONG Bytes, PULONG Read)
{
    PSAMPLE_CONTEXT context = (PSAMPLE_CONTEXT)Context;

    PAGED_CODE();
    _Analysis_assume_(context != NULL);
    if (!NT_VERIFY(Bytes <= context->Size)) {
        return STATUS_BUFFER_OVERFLOW;
    }
    RtlCopyMemory(To, context->Data, Bytes);
    *Read = Bytes;
    return STATUS_SUCCESS;
}

#pragma code_seg(pop)
#pragma code_seg()

_Use_decl_annotations_ VOID NTAPI SampleTouch(PKSPIN_LOCK Lock, PCWSTR Name)
{
    PSAMPLE_CONTEXT context = CONTAINING_RECORD(Lock, SAMPLE_CONTEXT, Lock);

    UNREFERENCED_PARAMETER(Name);
    context->Count++;
    KdPrintEx((DPFLTR_IHVVIDEO_ID, DPFLTR_INFO_LEVEL, "%u\n", context->Count));
}

_Function_class_(KDEFERRED_ROUTINE) _IRQL_requires_max_(DISPATCH_LEVEL) VOID NTAPI
    SampleDpc(_In_ struct _KDPC *Dpc, _In_opt_ PVOID Context, _In_opt_ PVOID First,
              _In_opt_ PVOID Second)
{
    UNREFERENCED_PARAMETER(Dpc);
    UNREFERENCED_PARAMETER(First);
    UNREFERENCED_PARAMETER(Second);
    if (ARGUMENT_PRESENT(Context)) {
        SampleTouch((PKSPIN_LOCK)Context, L"dpc");
    }
}

_Use_decl_annotations_ NTSTATUS NTAPI SampleQueryAdapterInfo(
    IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_QUERYADAPTERINFO pQueryAdapterInfo)
{
    UNREFERENCED_PARAMETER(hAdapter);
    switch (pQueryAdapterInfo->Type) {
    case DXGKQAITYPE_DRIVERCAPS:
        return STATUS_SUCCESS;
        DEFAULT_UNREACHABLE;
    }
}

#ifdef __cplusplus
}
#endif
