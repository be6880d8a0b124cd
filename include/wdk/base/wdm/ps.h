/* SPDX-License-Identifier: MIT */
/* Objects, handles, processes, threads, security. */
#ifndef DXGK_WDK_WDM_PS_H
#define DXGK_WDK_WDM_PS_H

#include "ke.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _OBJECT_TYPE *POBJECT_TYPE;
typedef PVOID PACCESS_TOKEN, PSECURITY_DESCRIPTOR, PSID;
typedef ULONG SECURITY_INFORMATION, *PSECURITY_INFORMATION;

/* --- Access rights ------------------------------------------------------------------------ */

#define DELETE                   0x10000
#define GENERIC_ALL              0x10000000
#define GENERIC_EXECUTE          0x20000000
#define GENERIC_READ             0x80000000U
#define GENERIC_WRITE            0x40000000
#define MAXIMUM_ALLOWED          0x2000000
#define READ_CONTROL             0x20000
#define STANDARD_RIGHTS_ALL      0x1F0000
#define STANDARD_RIGHTS_EXECUTE  0x20000
#define STANDARD_RIGHTS_READ     0x20000
#define STANDARD_RIGHTS_REQUIRED 0xF0000
#define STANDARD_RIGHTS_WRITE    0x20000
#define SYNCHRONIZE              0x100000
#define WRITE_DAC                0x40000
#define WRITE_OWNER              0x80000

#define DUPLICATE_CLOSE_SOURCE    0x1
#define DUPLICATE_SAME_ACCESS     0x2
#define DUPLICATE_SAME_ATTRIBUTES 0x4

#define EVENT_ALL_ACCESS   0x1F0003
#define EVENT_MODIFY_STATE 0x2
#define EVENT_QUERY_STATE  0x1

#define EVENT_INCREMENT     1
#define IO_NO_INCREMENT     0
#define IO_VIDEO_INCREMENT  1
#define SEMAPHORE_INCREMENT 1

#define PRIVILEGE_SET_ALL_NECESSARY              1
#define PROCESS_ALL_ACCESS                       0x1FFFFF
#define PROCESS_DUP_HANDLE                       0x40
#define PROCESS_TRUST_LABEL_SECURITY_INFORMATION 0x80
#define THREAD_ALERT                             0x4
#define THREAD_ALL_ACCESS                        0x1FFFFF
#define THREAD_GET_CONTEXT                       0x8
#define THREAD_QUERY_LIMITED_INFORMATION         0x800
#define THREAD_RESUME                            0x1000
#define THREAD_SET_CONTEXT                       0x10
#define THREAD_SET_INFORMATION                   0x20
#define THREAD_SET_LIMITED_INFORMATION           0x400
#define THREAD_SUSPEND_RESUME                    0x2
#define THREAD_TERMINATE                         0x1
#define THREAD_WAIT_OBJECTS                      3

#define PROCESS_EXCEPTION_PORT_ALL_STATE_BITS                              0x3U
#define PROCESS_EXCEPTION_PORT_ALL_STATE_FLAGS                             7ULL
#define PROCESS_HANDLE_EXCEPTIONS_ENABLED                                  0x1U
#define PROCESS_HANDLE_RAISE_UM_EXCEPTION_ON_INVALID_HANDLE_CLOSE_DISABLED 0x0U
#define PROCESS_HANDLE_RAISE_UM_EXCEPTION_ON_INVALID_HANDLE_CLOSE_ENABLED  0x1U
#define PROCESS_HANDLE_TRACING_MAX_STACKS                                  16
#define PROCESS_LUID_DOSDEVICES_ONLY                                       0x1
#define THREAD_CSWITCH_PMU_DISABLE                                         0
#define THREAD_CSWITCH_PMU_ENABLE                                          1
#define THREAD_PROFILING_FLAG_DISPATCH                                     0x1

/* --- Security ----------------------------------------------------------------------------- */

typedef struct _LUID_AND_ATTRIBUTES {
    LUID Luid;
    ULONG Attributes;
} LUID_AND_ATTRIBUTES, *PLUID_AND_ATTRIBUTES;

typedef struct _PRIVILEGE_SET {
    ULONG PrivilegeCount;
    ULONG Control;
    LUID_AND_ATTRIBUTES Privilege[1];
} PRIVILEGE_SET, *PPRIVILEGE_SET;

typedef struct _INITIAL_PRIVILEGE_SET {
    ULONG PrivilegeCount;
    ULONG Control;
    LUID_AND_ATTRIBUTES Privilege[3];
} INITIAL_PRIVILEGE_SET, *PINITIAL_PRIVILEGE_SET;

typedef struct _GENERIC_MAPPING {
    ACCESS_MASK GenericRead;
    ACCESS_MASK GenericWrite;
    ACCESS_MASK GenericExecute;
    ACCESS_MASK GenericAll;
} GENERIC_MAPPING, *PGENERIC_MAPPING;

typedef struct _ACL {
    UCHAR AclRevision;
    UCHAR Sbz1;
    USHORT AclSize;
    USHORT AceCount;
    USHORT Sbz2;
} ACL, *PACL;

typedef enum _SECURITY_IMPERSONATION_LEVEL {
    SecurityAnonymous = 0,
    SecurityIdentification = 1,
    SecurityImpersonation = 2,
    SecurityDelegation = 3,
} SECURITY_IMPERSONATION_LEVEL, *PSECURITY_IMPERSONATION_LEVEL;

typedef struct _SECURITY_SUBJECT_CONTEXT {
    PACCESS_TOKEN ClientToken;
    SECURITY_IMPERSONATION_LEVEL ImpersonationLevel;
    PACCESS_TOKEN PrimaryToken;
    PVOID ProcessAuditId;
} SECURITY_SUBJECT_CONTEXT, *PSECURITY_SUBJECT_CONTEXT;

typedef struct _ACCESS_STATE {
    LUID OperationID;
    BOOLEAN SecurityEvaluated;
    BOOLEAN GenerateAudit;
    BOOLEAN GenerateOnClose;
    BOOLEAN PrivilegesAllocated;
    ULONG Flags;
    ACCESS_MASK RemainingDesiredAccess;
    ACCESS_MASK PreviouslyGrantedAccess;
    ACCESS_MASK OriginalDesiredAccess;
    SECURITY_SUBJECT_CONTEXT SubjectSecurityContext;
    PSECURITY_DESCRIPTOR SecurityDescriptor;
    PVOID AuxData;
    union {
        INITIAL_PRIVILEGE_SET InitialPrivilegeSet;
        PRIVILEGE_SET PrivilegeSet;
    } Privileges;
    BOOLEAN AuditPrivileges;
    UNICODE_STRING ObjectName;
    UNICODE_STRING ObjectTypeName;
} ACCESS_STATE, *PACCESS_STATE;

NTKERNELAPI BOOLEAN NTAPI SeSinglePrivilegeCheck(
    LUID PrivilegeValue, KPROCESSOR_MODE PreviousMode);
NTKERNELAPI BOOLEAN NTAPI SeAccessCheck(
    PSECURITY_DESCRIPTOR SecurityDescriptor,
    PSECURITY_SUBJECT_CONTEXT SubjectSecurityContext,
    BOOLEAN SubjectContextLocked,
    ACCESS_MASK DesiredAccess,
    ACCESS_MASK PreviouslyGrantedAccess,
    PPRIVILEGE_SET *Privileges,
    PGENERIC_MAPPING GenericMapping,
    KPROCESSOR_MODE AccessMode,
    PACCESS_MASK GrantedAccess,
    PNTSTATUS AccessStatus);
NTKERNELAPI VOID NTAPI SeCaptureSubjectContext(PSECURITY_SUBJECT_CONTEXT SubjectContext);
NTKERNELAPI VOID NTAPI SeReleaseSubjectContext(PSECURITY_SUBJECT_CONTEXT SubjectContext);
NTKERNELAPI VOID NTAPI SeLockSubjectContext(PSECURITY_SUBJECT_CONTEXT SubjectContext);
NTKERNELAPI VOID NTAPI SeUnlockSubjectContext(PSECURITY_SUBJECT_CONTEXT SubjectContext);
NTKERNELAPI BOOLEAN NTAPI SeTokenIsAdmin(PACCESS_TOKEN Token);

/* --- Objects ------------------------------------------------------------------------------ */

typedef struct _OBJECT_HANDLE_INFORMATION {
    ULONG HandleAttributes;
    ACCESS_MASK GrantedAccess;
} OBJECT_HANDLE_INFORMATION, *POBJECT_HANDLE_INFORMATION;

typedef struct _OBJECT_NAME_INFORMATION {
    UNICODE_STRING Name;
} OBJECT_NAME_INFORMATION, *POBJECT_NAME_INFORMATION;

extern NTKERNELAPI POBJECT_TYPE *PsThreadType;
extern NTKERNELAPI POBJECT_TYPE *PsProcessType;
extern NTKERNELAPI POBJECT_TYPE *ExEventObjectType;
extern NTKERNELAPI POBJECT_TYPE *ExSemaphoreObjectType;
extern NTKERNELAPI POBJECT_TYPE *IoFileObjectType;
extern NTKERNELAPI POBJECT_TYPE *MmSectionObjectType;

NTKERNELAPI NTSTATUS NTAPI ObReferenceObjectByHandle(
    HANDLE Handle,
    ACCESS_MASK DesiredAccess,
    POBJECT_TYPE ObjectType,
    KPROCESSOR_MODE AccessMode,
    PVOID *Object,
    POBJECT_HANDLE_INFORMATION HandleInformation);
NTKERNELAPI NTSTATUS NTAPI ObReferenceObjectByHandleWithTag(
    HANDLE Handle,
    ACCESS_MASK DesiredAccess,
    POBJECT_TYPE ObjectType,
    KPROCESSOR_MODE AccessMode,
    ULONG Tag,
    PVOID *Object,
    POBJECT_HANDLE_INFORMATION HandleInformation);
NTKERNELAPI NTSTATUS NTAPI ObReferenceObjectByPointer(
    PVOID Object,
    ACCESS_MASK DesiredAccess,
    POBJECT_TYPE ObjectType,
    KPROCESSOR_MODE AccessMode);
NTKERNELAPI NTSTATUS NTAPI ObOpenObjectByPointer(
    PVOID Object,
    ULONG HandleAttributes,
    PACCESS_STATE PassedAccessState,
    ACCESS_MASK DesiredAccess,
    POBJECT_TYPE ObjectType,
    KPROCESSOR_MODE AccessMode,
    PHANDLE Handle);
NTKERNELAPI LONG_PTR NTAPI ObfReferenceObject(PVOID Object);
NTKERNELAPI LONG_PTR NTAPI ObfReferenceObjectWithTag(PVOID Object, ULONG Tag);
NTKERNELAPI LONG_PTR NTAPI ObfDereferenceObject(PVOID Object);
NTKERNELAPI LONG_PTR NTAPI ObfDereferenceObjectWithTag(PVOID Object, ULONG Tag);
NTKERNELAPI VOID NTAPI ObDereferenceObjectDeferDelete(PVOID Object);
NTKERNELAPI VOID NTAPI ObDereferenceObjectDeferDeleteWithTag(PVOID Object, ULONG Tag);
NTKERNELAPI NTSTATUS NTAPI ObCloseHandle(HANDLE Handle, KPROCESSOR_MODE PreviousMode);
#define ObReferenceObject(Object) ObfReferenceObject(Object)
#define ObReferenceObjectWithTag(Object, Tag) ObfReferenceObjectWithTag(Object, Tag)
#define ObDereferenceObject(Object) ObfDereferenceObject(Object)
#define ObDereferenceObjectWithTag(Object, Tag) ObfDereferenceObjectWithTag(Object, Tag)

/* --- Processes and threads ---------------------------------------------------------------- */

typedef struct _CLIENT_ID {
    HANDLE UniqueProcess;
    HANDLE UniqueThread;
} CLIENT_ID, *PCLIENT_ID;

#define NtCurrentProcess() ((HANDLE)(LONG_PTR)-1)
#define ZwCurrentProcess() NtCurrentProcess()
#define NtCurrentThread()  ((HANDLE)(LONG_PTR)-2)
#define ZwCurrentThread()  NtCurrentThread()

typedef VOID NTAPI KSTART_ROUTINE(PVOID StartContext);
typedef KSTART_ROUTINE *PKSTART_ROUTINE;

NTKERNELAPI NTSTATUS NTAPI PsCreateSystemThread(
    PHANDLE ThreadHandle,
    ULONG DesiredAccess,
    POBJECT_ATTRIBUTES ObjectAttributes,
    HANDLE ProcessHandle,
    PCLIENT_ID ClientId,
    PKSTART_ROUTINE StartRoutine,
    PVOID StartContext);
NTKERNELAPI NTSTATUS NTAPI PsTerminateSystemThread(NTSTATUS ExitStatus);
NTKERNELAPI BOOLEAN NTAPI PsIsSystemThread(PETHREAD Thread);
NTKERNELAPI PEPROCESS NTAPI IoGetCurrentProcess(void);
NTKERNELAPI HANDLE NTAPI PsGetCurrentProcessId(void);
NTKERNELAPI HANDLE NTAPI PsGetCurrentThreadId(void);
NTKERNELAPI HANDLE NTAPI PsGetProcessId(PEPROCESS Process);
NTKERNELAPI NTSTATUS NTAPI PsLookupProcessByProcessId(HANDLE ProcessId, PEPROCESS *Process);
NTKERNELAPI PACCESS_TOKEN NTAPI PsReferencePrimaryToken(PEPROCESS Process);
NTKERNELAPI VOID NTAPI PsDereferencePrimaryToken(PACCESS_TOKEN PrimaryToken);
NTKERNELAPI BOOLEAN NTAPI PsGetVersion(
    PULONG MajorVersion,
    PULONG MinorVersion,
    PULONG BuildNumber,
    PUNICODE_STRING CSDVersion);
#define PsGetCurrentProcess IoGetCurrentProcess
#define PsGetCurrentThread() ((PETHREAD)KeGetCurrentThread())

#ifdef __cplusplus
}
#endif

#endif /* DXGK_WDK_WDM_PS_H */
