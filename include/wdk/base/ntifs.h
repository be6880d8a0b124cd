/* SPDX-License-Identifier: MIT */
/* Sources that include <ntifs.h> in place of <ntddk.h> get the same declarations, and questions about
 * the object behind a handle. */
#ifndef _NTIFS_
#define _NTIFS_

#include <ntddk.h>

typedef enum _OBJECT_INFORMATION_CLASS {
    ObjectBasicInformation = 0,
    ObjectNameInformation = 1,
    ObjectTypeInformation = 2,
} OBJECT_INFORMATION_CLASS;

typedef struct __PUBLIC_OBJECT_TYPE_INFORMATION {
    UNICODE_STRING TypeName;
    ULONG Reserved[22];
} PUBLIC_OBJECT_TYPE_INFORMATION, *PPUBLIC_OBJECT_TYPE_INFORMATION;

#ifdef __cplusplus
extern "C" {
#endif

NTSYSAPI NTSTATUS NTAPI ZwQueryObject(
    HANDLE Handle, OBJECT_INFORMATION_CLASS ObjectInformationClass, PVOID ObjectInformation,
    ULONG ObjectInformationLength, PULONG ReturnLength);

#ifdef __cplusplus
}
#endif

#endif /* _NTIFS_ */
