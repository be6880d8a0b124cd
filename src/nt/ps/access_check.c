/* SPDX-License-Identifier: MIT */
/*
 * Access checks against security descriptors (NT-183). A token is its process: that of the system
 * is LocalSystem and an administrator, that of a client an ordinary user who is logged on.
 */
#include <string.h>

#include "nt/base/current.h"
#include "nt/base/export.h"
#include "nt/base/items.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"

#define SELF_RELATIVE       0x8000u
#define DACL_PRESENT        0x4u
#define ACE_ALLOWS          0u
#define ACE_DENIES          1u
#define ACE_INHERIT_ONLY    0x8u
#define SYSTEM_SECURITY     0x01000000u
#define MAXIMUM             0x02000000u
#define OWNER_RIGHTS        0x00060000u /* READ_CONTROL and WRITE_DAC */
#define GENERIC_BITS        0xF0000000u
#define LARGEST_SID         68u
#define DESCRIPTOR_REVISION 1u

/* The beginning of a security descriptor in both forms. */
struct descriptor {
    uint8_t revision, zero;
    uint16_t control;
};
struct relative_descriptor {
    struct descriptor head;
    uint32_t owner, group, sacl, dacl; /* offsets; 0: none */
};
struct absolute_descriptor {
    struct descriptor head;
    const void *owner, *group, *sacl, *dacl;
};
struct ace {
    uint8_t type, flags;
    uint16_t size;
    uint32_t mask;
    uint8_t sid[]; /* as struct sid */
};

/* Security identifiers, in their stored form: revision, count, authority, subauthorities. */
struct sid {
    uint8_t revision, count, authority[6];
    uint32_t part[2];
};
static const struct sid everyone = {1, 1, {0, 0, 0, 0, 0, 1}, {0}};
static const struct sid authenticated = {1, 1, {0, 0, 0, 0, 0, 5}, {11}};
static const struct sid interactive = {1, 1, {0, 0, 0, 0, 0, 5}, {4}};
static const struct sid users = {1, 2, {0, 0, 0, 0, 0, 5}, {32, 545}};
static const struct sid local_system = {1, 1, {0, 0, 0, 0, 0, 5}, {18}};
static const struct sid administrators = {1, 2, {0, 0, 0, 0, 0, 5}, {32, 544}};

static size_t sid_bytes(const uint8_t *sid)
{
    return 8 + 4u * sid[1];
}

static bool same(const struct sid *a, const uint8_t *b)
{
    return a->count == b[1] && memcmp(a, b, sid_bytes(b)) == 0;
}

static bool holds(bool system, const uint8_t *sid)
{
    static const struct sid *const of_all[] = {&everyone, &authenticated};
    static const struct sid *const of_system[] = {&local_system, &administrators};
    static const struct sid *const of_client[] = {&interactive, &users};
    const struct sid *const *more = system ? of_system : of_client;

    for (size_t i = 0; i < 2; i++)
        if (same(of_all[i], sid) || same(more[i], sid))
            return true;
    return false;
}

static const void *owner_of(const struct descriptor *descriptor)
{
    const struct relative_descriptor *relative = (const void *)descriptor;

    if (!(descriptor->control & SELF_RELATIVE))
        return ((const struct absolute_descriptor *)(const void *)descriptor)->owner;
    return relative->owner ? (const char *)descriptor + relative->owner : NULL;
}

/* The list of who may do what; NULL: everyone may do everything. */
static const ACL *dacl_of(const struct descriptor *descriptor)
{
    const struct relative_descriptor *relative = (const void *)descriptor;

    if (!(descriptor->control & DACL_PRESENT))
        return NULL;
    if (!(descriptor->control & SELF_RELATIVE))
        return ((const struct absolute_descriptor *)(const void *)descriptor)->dacl;
    return relative->dacl ? (const void *)((const char *)descriptor + relative->dacl) : NULL;
}

static ULONG map(ULONG access, const GENERIC_MAPPING *mapping)
{
    ULONG mapped = access & ~GENERIC_BITS;

    if (!mapping)
        return access;
    if (access & 0x80000000u)
        mapped |= mapping->GenericRead;
    if (access & 0x40000000u)
        mapped |= mapping->GenericWrite;
    if (access & 0x20000000u)
        mapped |= mapping->GenericExecute;
    if (access & 0x10000000u)
        mapped |= mapping->GenericAll;
    return mapped;
}

/* All that the list grants: an entry decides about the rights that none before it did. */
static ULONG granted_by(const ACL *acl, bool system, const GENERIC_MAPPING *mapping)
{
    const uint8_t *at = (const uint8_t *)acl + sizeof(*acl),
                  *end = (const uint8_t *)acl + acl->AclSize;
    ULONG granted = 0, decided = 0;

    for (USHORT i = 0; i < acl->AceCount && end - at >= 16; i++) {
        const struct ace *ace = (const void *)at;
        ULONG mask = map(ace->mask, mapping) & ~decided;

        if (ace->size < 16 || ace->size > end - at || sid_bytes(ace->sid) > LARGEST_SID ||
            8 + sid_bytes(ace->sid) > ace->size)
            break;
        at += ace->size;
        if ((ace->flags & ACE_INHERIT_ONLY) || ace->type > ACE_DENIES || !holds(system, ace->sid))
            continue;
        decided |= mask;
        if (ace->type == ACE_ALLOWS)
            granted |= mask;
    }
    return granted;
}

static ULONG granted(const struct descriptor *descriptor, bool system,
                     const GENERIC_MAPPING *mapping)
{
    const ACL *acl = dacl_of(descriptor);
    const uint8_t *owner = owner_of(descriptor);
    ULONG access = acl ? granted_by(acl, system, mapping)
                       : ~(GENERIC_BITS | MAXIMUM | SYSTEM_SECURITY);

    if (owner && holds(system, owner))
        access |= OWNER_RIGHTS;
    if (system)
        access |= SYSTEM_SECURITY;
    return access;
}

static BOOLEAN answer(PACCESS_MASK to, PNTSTATUS status, ULONG access, NTSTATUS result)
{
    if (to)
        *to = NT_SUCCESS(result) ? access : 0;
    if (status)
        *status = result;
    return NT_SUCCESS(result);
}

NT_EXPORT BOOLEAN NTAPI SeAccessCheck(PSECURITY_DESCRIPTOR SecurityDescriptor,
                                      PSECURITY_SUBJECT_CONTEXT SubjectSecurityContext,
                                      BOOLEAN SubjectContextLocked, ACCESS_MASK DesiredAccess,
                                      ACCESS_MASK PreviouslyGrantedAccess,
                                      PPRIVILEGE_SET *Privileges, PGENERIC_MAPPING GenericMapping,
                                      KPROCESSOR_MODE AccessMode, PACCESS_MASK GrantedAccess,
                                      PNTSTATUS AccessStatus)
{
    const struct descriptor *descriptor = SecurityDescriptor;
    ULONG wanted, may;
    const void *token;

    NT_ENTER();
    (void)SubjectContextLocked;
    if (Privileges)
        *Privileges = NULL;
    if (!nt_level(NT_PASSIVE, "NT-183", NT_NO_CODE, __func__))
        return answer(GrantedAccess, AccessStatus, 0, STATUS_INVALID_DEVICE_REQUEST);
    wanted = map(DesiredAccess, GenericMapping);
    if (AccessMode == KernelMode) {
        may = wanted & MAXIMUM ? map(0x10000000u, GenericMapping) | (wanted & ~MAXIMUM) : wanted;
        return answer(GrantedAccess, AccessStatus, may | PreviouslyGrantedAccess, STATUS_SUCCESS);
    }
    if (!descriptor || descriptor->revision != DESCRIPTOR_REVISION || !SubjectSecurityContext)
        return answer(GrantedAccess, AccessStatus, 0, STATUS_ACCESS_DENIED);
    token = SubjectSecurityContext->ClientToken ? SubjectSecurityContext->ClientToken
                                                : SubjectSecurityContext->PrimaryToken;
    may = granted(descriptor, token == nt_process_system(), GenericMapping) |
          PreviouslyGrantedAccess;
    if (wanted & ~may & SYSTEM_SECURITY)
        return answer(GrantedAccess, AccessStatus, 0, STATUS_PRIVILEGE_NOT_HELD);
    if (wanted & ~may & ~MAXIMUM)
        return answer(GrantedAccess, AccessStatus, 0, STATUS_ACCESS_DENIED);
    if (!(wanted & MAXIMUM))
        may = wanted | PreviouslyGrantedAccess;
    return answer(GrantedAccess, AccessStatus, may & ~MAXIMUM,
                  may & ~MAXIMUM ? STATUS_SUCCESS : STATUS_ACCESS_DENIED);
}

NT_EXPORT VOID NTAPI SeCaptureSubjectContext(PSECURITY_SUBJECT_CONTEXT SubjectContext)
{
    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-183", NT_NO_CODE, __func__) || !SubjectContext)
        return;
    SubjectContext->ClientToken = NULL;
    SubjectContext->ImpersonationLevel = SecurityAnonymous;
    SubjectContext->PrimaryToken = PsReferencePrimaryToken(IoGetCurrentProcess());
    SubjectContext->ProcessAuditId = PsGetCurrentProcessId();
}

NT_EXPORT VOID NTAPI SeReleaseSubjectContext(PSECURITY_SUBJECT_CONTEXT SubjectContext)
{
    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-183", NT_NO_CODE, __func__) || !SubjectContext ||
        !SubjectContext->PrimaryToken)
        return;
    PsDereferencePrimaryToken(SubjectContext->PrimaryToken);
    SubjectContext->PrimaryToken = NULL;
}

/* Nothing changes a token, so that there is nothing to be kept from changing. */
NT_EXPORT VOID NTAPI SeLockSubjectContext(PSECURITY_SUBJECT_CONTEXT SubjectContext)
{
    NT_ENTER();
    (void)SubjectContext;
    nt_level(NT_PASSIVE, "NT-183", NT_NO_CODE, __func__);
}

NT_EXPORT VOID NTAPI SeUnlockSubjectContext(PSECURITY_SUBJECT_CONTEXT SubjectContext)
{
    NT_ENTER();
    (void)SubjectContext;
    nt_level(NT_PASSIVE, "NT-183", NT_NO_CODE, __func__);
}
