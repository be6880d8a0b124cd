/* SPDX-License-Identifier: MIT */
/* What drivers ask of the machine: its clock's resolution, resources, system information, a BIOS, rights. */
#include "nt/base/image.h"
#include "nt/io/bios.h"
#include "nt/io/image_life.h"
#include "nt/ke/raise.h"
#include "nt/ke/time.h"
#include "support/harness.h"

TEST_WITH(driver, the_clock_becomes_finer)
{
    ULONG longest, shortest, current;
    LARGE_INTEGER ticks;
    ULONGLONG before;

    CHECK_RULE("NT-178/a", ExSetTimerResolution(10000, TRUE) == 10000);
    CHECK_RULE("NT-178/b", ExSetTimerResolution(20000, TRUE) == 10000);
    before = KeQueryInterruptTime();
    KeQueryTickCount(&ticks);
    pause_ns(1000000);
    CHECK_RULE("NT-178/e", KeQueryInterruptTime() == before + 10000);
    pause_ns(900000);
    CHECK_RULE("NT-178/e", KeQueryInterruptTime() == before + 10000);
    CHECK_RULE("NT-178/c", ExSetTimerResolution(1, TRUE) == NT_FINEST_TICK_100NS);
    ExQueryTimerResolution(&longest, &shortest, &current);
    CHECK_RULE("NT-178/f", longest == NT_TICK_100NS && shortest == NT_FINEST_TICK_100NS &&
                               current == NT_FINEST_TICK_100NS);
    CHECK_RULE("NT-178/f", KeQueryTimeIncrement() == NT_TICK_100NS);
    before = KeQueryInterruptTime();
    CHECK_RULE("NT-178/d", ExSetTimerResolution(0, FALSE) == NT_TICK_100NS);
    CHECK_RULE("NT-178/e", KeQueryInterruptTime() == before); /* it never goes back */
    CHECK_RULE("NT-178/d", ExSetTimerResolution(0, FALSE) == NT_TICK_100NS && errors() == 0);
    CHECK_RULE("NT-178/g", nt_image_leak_check(h.image) == 0);
    ExSetTimerResolution(10000, TRUE);
    CHECK_RULE("NT-178/g", nt_image_leak_check(h.image) == 1 && broken("NT-178"));
    CHECK_RULE("NT-178/g", ExSetTimerResolution(0, FALSE) == NT_TICK_100NS);
    forget_reports();
}

/* Each of two drivers keeps the resolution until both have given it back. */
TEST_WITH(driver, the_clock_stays_fine_for_the_last_driver)
{
    struct nt_image *other = nt_image_create("other"), *own;

    ExSetTimerResolution(10000, TRUE);
    own = nt_image_enter(other);
    ExSetTimerResolution(20000, TRUE);
    nt_image_enter(own);
    CHECK_RULE("NT-178/h", ExSetTimerResolution(0, FALSE) == 10000);
    nt_image_enter(other);
    CHECK_RULE("NT-178/h", ExSetTimerResolution(0, FALSE) == NT_TICK_100NS);
    nt_image_enter(own);
    nt_image_destroy(other);
    CHECK(errors() == 0);
}

static bool round_trip(UCHAR type, ULONGLONG length, UCHAR becomes, USHORT flags)
{
    CM_PARTIAL_RESOURCE_DESCRIPTOR range = {.Flags = CM_RESOURCE_MEMORY_LARGE_48 | 1};
    ULONGLONG start = 0;

    return RtlCmEncodeMemIoResource(&range, type, length, 0x123456789A000) == STATUS_SUCCESS &&
           range.Type == becomes && range.Flags == (flags | 1) &&
           RtlCmDecodeMemIoResource(&range, &start) == length && start == 0x123456789A000 &&
           RtlCmDecodeMemIoResource(&range, NULL) == length;
}

TEST_WITH(driver, resources_are_coded)
{
    CM_PARTIAL_RESOURCE_DESCRIPTOR range = {.Type = CmResourceTypeInterrupt}, before;

    CHECK_RULE("NT-179/a", round_trip(CmResourceTypePort, 0x100, CmResourceTypePort, 0));
    CHECK_RULE("NT-179/a", round_trip(CmResourceTypeMemory, 0xFFFFFFFF, CmResourceTypeMemory, 0));
    CHECK_RULE("NT-179/a", round_trip(CmResourceTypeMemoryLarge, 0x1000, CmResourceTypeMemory, 0));
    CHECK_RULE("NT-179/b", round_trip(CmResourceTypeMemory, 0x100000000, CmResourceTypeMemoryLarge,
                                      CM_RESOURCE_MEMORY_LARGE_40));
    CHECK_RULE("NT-179/b", round_trip(CmResourceTypeMemory, 0xFFFFFFFF00, CmResourceTypeMemoryLarge,
                                      CM_RESOURCE_MEMORY_LARGE_40));
    CHECK_RULE("NT-179/b", round_trip(CmResourceTypeMemory, 0x10000000000,
                                      CmResourceTypeMemoryLarge, CM_RESOURCE_MEMORY_LARGE_48));
    CHECK_RULE("NT-179/b", round_trip(CmResourceTypeMemory, 0x1000000000000,
                                      CmResourceTypeMemoryLarge, CM_RESOURCE_MEMORY_LARGE_64));
    before = range;
    CHECK_RULE("NT-179/c", RtlCmEncodeMemIoResource(&range, CmResourceTypeMemory, 0x100000001, 0) ==
                               STATUS_UNSUCCESSFUL);
    CHECK_RULE("NT-179/c", RtlCmEncodeMemIoResource(&range, CmResourceTypeMemory, 0x1000000000100,
                                                    0) == STATUS_UNSUCCESSFUL);
    CHECK_RULE("NT-179/c", RtlCmEncodeMemIoResource(&range, CmResourceTypePort, 0x100000000, 0) ==
                               STATUS_UNSUCCESSFUL);
    CHECK_RULE("NT-179/d", RtlCmEncodeMemIoResource(&range, CmResourceTypeInterrupt, 1, 0) ==
                               STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-179/e", memcmp(&range, &before, sizeof(before)) == 0);
    CHECK_RULE("NT-179/f", RtlCmDecodeMemIoResource(&range, NULL) == 0 && errors() == 0);
}

static uint64_t number_at(const uint8_t *data, size_t offset, size_t bytes)
{
    uint64_t number = 0;

    memcpy(&number, data + offset, bytes);
    return number;
}

TEST_WITH(driver_smp, the_system_is_described)
{
    uint8_t data[1024];
    LARGE_INTEGER now;
    ULONG needed = 0;

    CHECK_RULE("NT-180/a",
               ZwQuerySystemInformation(0, data, 63, &needed) == STATUS_INFO_LENGTH_MISMATCH &&
                   needed == 64);
    CHECK_RULE("NT-180/b", ZwQuerySystemInformation(0, data, 64, NULL) == STATUS_SUCCESS);
    CHECK_RULE("NT-180/b", number_at(data, 56, 1) == 4 && number_at(data, 48, 8) == 0xF &&
                               number_at(data, 8, 4) == PAGE_SIZE &&
                               number_at(data, 4, 4) == KeQueryTimeIncrement());
    CHECK_RULE("NT-180/c", ZwQuerySystemInformation(1, data, 12, &needed) == STATUS_SUCCESS &&
                               number_at(data, 0, 2) == 9 && number_at(data, 6, 2) == 4);
    CHECK_RULE("NT-180/d", ZwQuerySystemInformation(3, data, 48, &needed) == STATUS_SUCCESS);
    KeQuerySystemTimePrecise(&now);
    CHECK_RULE("NT-180/d", number_at(data, 8, 8) >= number_at(data, 0, 8) &&
                               number_at(data, 8, 8) <= (uint64_t)now.QuadPart);
    CHECK_RULE("NT-180/a",
               ZwQuerySystemInformation(3, data, 49, &needed) == STATUS_INFO_LENGTH_MISMATCH);
    CHECK_RULE("NT-180/e", ZwQuerySystemInformation(35, data, 2, &needed) == STATUS_SUCCESS &&
                               data[0] == 0 && data[1] == 1);
    CHECK_RULE("NT-180/f", ZwQuerySystemInformation(5, data, sizeof(data), &needed) ==
                               STATUS_INVALID_INFO_CLASS);
    CHECK_RULE("NT-180/a",
               ZwQuerySystemInformation(0, NULL, 64, NULL) == STATUS_INFO_LENGTH_MISMATCH);
    CHECK(errors() == 0);
}

TEST_WITH(driver, modules_are_listed)
{
    uint8_t data[1024];
    ULONG needed = 0;

    nt_image_place(h.image, 0x180000000, 0x5000);
    CHECK_RULE("NT-180/a",
               ZwQuerySystemInformation(11, data, 4, &needed) == STATUS_INFO_LENGTH_MISMATCH &&
                   needed >= 8 + 2 * 296 && number_at(data, 0, 4) == (needed - 8) / 296);
    CHECK_RULE("NT-180/g", ZwQuerySystemInformation(11, data, needed, &needed) == STATUS_SUCCESS);
    CHECK_RULE("NT-180/g",
               strcmp((char *)data + 8 + 40, "\\SystemRoot\\System32\\ntoskrnl.exe") == 0);
    CHECK_RULE("NT-180/g",
               strcmp((char *)data + 8 + 40 + number_at(data, 8 + 38, 2), "ntoskrnl.exe") == 0);
    CHECK_RULE("NT-180/g", number_at(data, 8 + 296 + 16, 8) == 0x180000000 &&
                               number_at(data, 8 + 296 + 24, 4) == 0x5000);
    CHECK_RULE("NT-180/g", strcmp((char *)data + 8 + 296 + 40 + number_at(data, 8 + 296 + 38, 2),
                                  h.image->name) == 0);
}

TEST_WITH(driver, there_is_no_bios)
{
    USHORT segment = 0, offset = 1;
    uint8_t bytes[4] = {1, 2, 3, 4};
    ULONG size = 0x400;

    CHECK_RULE("NT-184/g",
               x86BiosAllocateBuffer(NULL, &segment, &offset) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-184/g", x86BiosAllocateBuffer(&size, NULL, &offset) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-184/g", x86BiosAllocateBuffer(&size, &segment, NULL) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-184/h", x86BiosFreeBuffer(0x2000, 0) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-184/a", !x86BiosCall(0x10, NULL));
    CHECK_RULE("NT-184/b", x86BiosAllocateBuffer(&size, &segment, &offset) == STATUS_SUCCESS &&
                               size >= 0x400 && offset == 0);
    size = 1;
    CHECK_RULE("NT-184/b",
               x86BiosAllocateBuffer(&size, &segment, &offset) == STATUS_INSUFFICIENT_RESOURCES);
    CHECK_RULE("NT-184/c", x86BiosWriteMemory(segment, 4, bytes, 4) == STATUS_SUCCESS);
    memset(bytes, 0, 4);
    CHECK_RULE("NT-184/c", x86BiosReadMemory(segment, 5, bytes, 4) == STATUS_SUCCESS &&
                               memcmp(bytes, "\2\3\4", 4) == 0);
    CHECK_RULE("NT-184/d",
               x86BiosReadMemory(0xC000, 0, bytes, 4) == STATUS_SUCCESS && bytes[0] == 0xFF);
    CHECK_RULE("NT-184/d", x86BiosReadMemory(0, 0, bytes, 4) == STATUS_SUCCESS && bytes[0] == 0);
    CHECK_RULE("NT-184/e", x86BiosWriteMemory(segment, 0xFFE, bytes, 4) == STATUS_ACCESS_DENIED);
    CHECK_RULE("NT-184/f", x86BiosReadMemory(0xFFFF, 0xD, bytes, 4) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-184/f", x86BiosReadMemory(0xFFFF, 0xC, bytes, 4) == STATUS_SUCCESS);
    CHECK_RULE("NT-184/h", x86BiosFreeBuffer(segment, 1) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-184/h", x86BiosFreeBuffer(segment, 0) == STATUS_SUCCESS);
    CHECK_RULE("NT-184/h", x86BiosFreeBuffer(segment, 0) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-184/e", x86BiosWriteMemory(segment, 0, bytes, 4) == STATUS_ACCESS_DENIED);
    size = 0x1000;
    CHECK_RULE("NT-184/b", x86BiosAllocateBuffer(&size, &segment, &offset) == STATUS_SUCCESS &&
                               x86BiosFreeBuffer(segment, offset) == STATUS_SUCCESS);
    size = 0x1001;
    CHECK_RULE("NT-184/b",
               x86BiosAllocateBuffer(&size, &segment, &offset) == STATUS_INSUFFICIENT_RESOURCES);
}

/* ---- access checks ---- */

/* A self-relative descriptor: owner Administrators, a list with room for two entries. */
static struct descriptor {
    UCHAR revision, zero;
    USHORT control;
    ULONG owner, group, sacl, dacl;
    ULONG owner_sid[4];
    ACL acl;
    struct entry {
        UCHAR type, flags;
        USHORT size;
        ULONG mask;
        UCHAR sid[12];
    } entry[2];
} descriptor;

static const UCHAR everyone[12] = {1, 1, 0, 0, 0, 0, 0, 1};
static const UCHAR system_sid[12] = {1, 1, 0, 0, 0, 0, 0, 5, 18};
static GENERIC_MAPPING mapping = {1, 2, 4, 7};

static void add(USHORT number, UCHAR type, ULONG mask, const UCHAR *sid)
{
    struct entry *entry = &descriptor.entry[number];

    entry->type = type;
    entry->flags = 0;
    entry->size = sizeof(*entry);
    entry->mask = mask;
    memcpy(entry->sid, sid, 12);
    descriptor.acl.AceCount = number + 1;
}

static void new_descriptor(void)
{
    memset(&descriptor, 0, sizeof(descriptor));
    descriptor.revision = 1;
    descriptor.control = 0x8004;
    descriptor.owner = offsetof(struct descriptor, owner_sid);
    memcpy(descriptor.owner_sid, (UCHAR[16]){1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 0x20, 2}, 16);
    descriptor.dacl = offsetof(struct descriptor, acl);
    descriptor.acl.AclRevision = 2;
    descriptor.acl.AclSize = (USHORT)(sizeof(descriptor) - offsetof(struct descriptor, acl));
}

/* What a client, or the system, is granted; 0: refused, with the status in *status. */
static ACCESS_MASK check(BOOLEAN system, ACCESS_MASK desired, NTSTATUS *status)
{
    SECURITY_SUBJECT_CONTEXT subject = {0};
    ACCESS_MASK granted = 0xFFFF;
    BOOLEAN may;

    SeCaptureSubjectContext(&subject);
    if (!system)
        subject.ClientToken = &subject; /* a token that is not the system's */
    may = SeAccessCheck(&descriptor, &subject, FALSE, desired, 0, NULL, &mapping, UserMode,
                        &granted, status);
    SeReleaseSubjectContext(&subject);
    CHECK(may == NT_SUCCESS(*status));
    return granted;
}

TEST_WITH(driver, rights_are_checked)
{
    SECURITY_SUBJECT_CONTEXT subject = {0};
    ACCESS_MASK granted;
    NTSTATUS status;

    new_descriptor();
    add(0, 0, 3, everyone);
    CHECK_RULE("NT-183/a", check(FALSE, 3, &status) == 3 && status == STATUS_SUCCESS);
    CHECK_RULE("NT-183/a", check(FALSE, 4, &status) == 0 && status == STATUS_ACCESS_DENIED);
    CHECK_RULE("NT-183/b", check(FALSE, 0x80000000, &status) == 1);
    CHECK_RULE("NT-183/b", check(FALSE, 0x10000000, &status) == 0 && status == STATUS_ACCESS_DENIED);
    CHECK_RULE("NT-183/b", check(FALSE, 0x02000000, &status) == 3);
    add(0, 1, 2, everyone);
    add(1, 0, 7, everyone);
    CHECK_RULE("NT-183/c", check(FALSE, 5, &status) == 5 && check(FALSE, 2, &status) == 0);
    add(0, 0, 2, everyone);
    add(1, 1, 7, everyone);
    CHECK_RULE("NT-183/c", check(FALSE, 2, &status) == 2 && check(FALSE, 1, &status) == 0);
    descriptor.entry[0].flags = 8; /* for heirs only */
    CHECK_RULE("NT-183/c", check(FALSE, 2, &status) == 0);
    add(0, 0, 4, system_sid);
    CHECK_RULE("NT-183/a", check(TRUE, 4, &status) == 4 && check(FALSE, 4, &status) == 0);
    CHECK_RULE("NT-183/d", check(TRUE, 0x20000, &status) == 0x20000); /* an owner's */
    CHECK_RULE("NT-183/d", check(FALSE, 0x20000, &status) == 0);
    CHECK_RULE("NT-183/c",
               check(FALSE, 0x01000000, &status) == 0 && status == STATUS_PRIVILEGE_NOT_HELD);
    descriptor.acl.AclSize = sizeof(ACL) + 4; /* cut in an entry */
    CHECK_RULE("NT-183/c", check(TRUE, 4, &status) == 0);
    descriptor.control = 0x8000;
    CHECK_RULE("NT-183/e", check(FALSE, 7, &status) == 7); /* no list: everybody may */
    descriptor.revision = 2;
    CHECK_RULE("NT-183/e", check(FALSE, 1, &status) == 0 && status == STATUS_ACCESS_DENIED);
    CHECK_RULE("NT-183/f", SeAccessCheck(NULL, &subject, FALSE, 0x40000000, 0, NULL, &mapping,
                                         KernelMode, &granted, &status) &&
                               granted == 2);
    CHECK_RULE("NT-183/g", !SeAccessCheck(NULL, &subject, FALSE, 1, 0, NULL, &mapping, UserMode,
                                          &granted, &status) &&
                               granted == 0);
    CHECK(errors() == 0);
}

TEST_WITH(driver, providers_register)
{
    DEVICE_OBJECT device;

    CHECK_RULE("NT-183/j", IoWMIRegistrationControl(&device, WMIREG_ACTION_DEREGISTER) ==
                               STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-183/i",
               IoWMIRegistrationControl(&device, WMIREG_ACTION_REGISTER) == STATUS_SUCCESS);
    CHECK_RULE("NT-183/i",
               IoWMIRegistrationControl(&device, WMIREG_ACTION_UPDATE_GUIDS) == STATUS_SUCCESS);
    CHECK_RULE("NT-183/j", IoWMIRegistrationControl(&device, 9) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-183/i",
               IoWMIRegistrationControl(&device, WMIREG_ACTION_DEREGISTER) == STATUS_SUCCESS);
    CHECK_RULE("NT-183/j", IoWMIRegistrationControl(&device, WMIREG_ACTION_DEREGISTER) ==
                               STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-183/j",
               IoWMIRegistrationControl(NULL, WMIREG_ACTION_REGISTER) == STATUS_INVALID_PARAMETER);
}

static void call_pure_virtual(void)
{
    _purecall();
}

TEST_WITH(machine, pure_virtual_functions_are_no_functions)
{
    run_within(call_pure_virtual, 1000000);
    CHECK_RULE("NT-186", broken("NT-186"));
    CHECK_RULE("NT-186", reported("NT-002", 0x1E, (uint32_t)STATUS_NOT_IMPLEMENTED));
    h.threads_left = 1;
    forget_reports();
}
