/* SPDX-License-Identifier: MIT */
/* What the machine tells and takes at the limits: system information, the BIOS, power settings, providers, routines. */
#include "nt/base/image.h"
#include "nt/base/nt_config.h"
#include "nt/io/bios.h"
#include "nt/io/device_object.h"
#include "nt/io/image_life.h"
#include "nt/nt.h"
#include "nt/routine.h"
#include "ram/ram.h"
#include "support/harness.h"

static uint64_t number_at(const uint8_t *data, size_t offset, size_t bytes)
{
    uint64_t number = 0;

    memcpy(&number, data + offset, bytes);
    return number;
}

/* ---- system information ---- */

TEST_WITH(driver_smp, each_member_of_the_basic_information)
{
    uint8_t data[65];
    ULONG needed = 0;

    memset(data, 0x5A, sizeof(data));
    CHECK_RULE("NT-180/a",
               ZwQuerySystemInformation(0, data, 65, &needed) == STATUS_INFO_LENGTH_MISMATCH &&
                   needed == 64 && data[0] == 0x5A);
    CHECK_RULE("NT-180/b", ZwQuerySystemInformation(0, data, 64, &needed) == STATUS_SUCCESS);
    CHECK(number_at(data, 0, 4) == 0 && number_at(data, 12, 4) == ram_bytes(h.ram) / PAGE_SIZE);
    CHECK(number_at(data, 16, 4) == 0 && number_at(data, 24, 4) == 0x10000);
    CHECK(number_at(data, 20, 4) == ram_bytes(h.ram) / PAGE_SIZE - 1);
    CHECK(number_at(data, 32, 8) == 0x10000 &&
          number_at(data, 40, 8) == (ULONG_PTR)MmHighestUserAddress);
    CHECK(data[64] == 0x5A);
    CHECK_RULE("NT-180/c", ZwQuerySystemInformation(1, data, 12, &needed) == STATUS_SUCCESS &&
                               number_at(data, 2, 2) == 6 && number_at(data, 4, 2) == 0 &&
                               number_at(data, 8, 4) == 0 && needed == 12);
    CHECK_RULE("NT-180/a",
               ZwQuerySystemInformation(1, data, 11, &needed) == STATUS_INFO_LENGTH_MISMATCH);
    CHECK_RULE("NT-180/a",
               ZwQuerySystemInformation(35, data, 1, &needed) == STATUS_INFO_LENGTH_MISMATCH &&
                   needed == 2);
    needed = 7;
    CHECK_RULE("NT-180/f",
               ZwQuerySystemInformation(2, data, 64, &needed) == STATUS_INVALID_INFO_CLASS &&
                   needed == 7);
}

TEST_WITH(driver, the_time_of_day_is_told_in_part)
{
    uint8_t data[48], part[48];
    ULONG needed = 5;

    pause_ns(5000000);
    memset(part, 0x5A, sizeof(part));
    CHECK_RULE("NT-180/d", ZwQuerySystemInformation(3, data, 48, &needed) == STATUS_SUCCESS &&
                               needed == 48 && number_at(data, 16, 8) == 0 &&
                               number_at(data, 24, 8) == 0 && number_at(data, 32, 8) == 0);
    CHECK(number_at(data, 8, 8) > number_at(data, 0, 8));
    CHECK_RULE("NT-180/d", ZwQuerySystemInformation(3, part, 12, &needed) == STATUS_SUCCESS &&
                               needed == 12 && memcmp(data, part, 12) == 0 && part[12] == 0x5A);
    CHECK_RULE("NT-180/d",
               ZwQuerySystemInformation(3, part, 0, &needed) == STATUS_SUCCESS && needed == 0);
    CHECK_RULE("NT-180/d",
               ZwQuerySystemInformation(3, NULL, 12, &needed) == STATUS_SUCCESS && needed == 0);
}

/* Of a list that is too long for the buffer the modules that fit are told, and their number always. */
TEST_WITH(driver, modules_that_fit_are_told)
{
    const ULONG one = 8 + 296;
    uint8_t data[4000];
    ULONG needed = 0, all;

    nt_image_place(h.image, 0x180000000, 0x5000);
    CHECK(ZwQuerySystemInformation(11, data, 0, &all) == STATUS_INFO_LENGTH_MISMATCH);
    for (ULONG room = 0; room <= all; room++) {
        NTSTATUS status;

        if (room > 5 && room != one - 1 && room != one && room != all - 1 && room != all)
            continue;
        memset(data, 0x5A, sizeof(data));
        status = ZwQuerySystemInformation(11, data, room, &needed);
        CHECK_RULE("NT-180/a",
                   status == (room < all ? STATUS_INFO_LENGTH_MISMATCH : STATUS_SUCCESS));
        CHECK(needed == all && data[room] == 0x5A);
        CHECK(room < 4 ? data[0] == 0x5A : number_at(data, 0, 4) == (all - 8) / 296);
        CHECK(room < one ? data[8] == 0x5A : number_at(data, 8 + 16, 8) == 0xFFFFF80000000000);
        CHECK(room < all ? data[all - 296] == 0x5A : number_at(data, all - 296, 8) == 0);
    }
    CHECK(number_at(data, 8 + 24, 4) == 0x1000000 && number_at(data, 8 + 32, 2) == 0 &&
          number_at(data, 8 + 36, 2) == 1);
    CHECK(number_at(data, one + 32, 2) == 1 && number_at(data, one + 36, 2) == 1);
    CHECK(strncmp((char *)data + one + 40, "\\SystemRoot\\System32\\drivers\\", 29) == 0 &&
          number_at(data, one + 38, 2) == 29);
}

/* ---- the BIOS ---- */

TEST_WITH(driver, real_mode_memory_has_limits)
{
    USHORT segment = 5, offset = 5;
    ULONG size = 0x1000;
    uint8_t bytes[8];

    CHECK_RULE("NT-184/b", x86BiosAllocateBuffer(&size, &segment, &offset) == STATUS_SUCCESS &&
                               size == 0x1000 && segment == 0x2000 && offset == 0);
    memset(bytes, 0x11, sizeof(bytes));
    CHECK_RULE("NT-184/c", x86BiosWriteMemory(0x2000, 0xFF8, bytes, 8) == STATUS_SUCCESS);
    CHECK_RULE("NT-184/e", x86BiosWriteMemory(0x2000, 0xFF9, bytes, 8) == STATUS_ACCESS_DENIED);
    CHECK_RULE("NT-184/e", x86BiosWriteMemory(0x1FFF, 0xF, bytes, 8) == STATUS_ACCESS_DENIED);
    CHECK_RULE("NT-184/e", x86BiosWriteMemory(0x1FFF, 0xF, bytes, 0) == STATUS_SUCCESS);
    CHECK(x86BiosWriteMemory(0x2000, 0, NULL, 8) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-184/f", x86BiosWriteMemory(0xFFFF, 0xD, bytes, 4) == STATUS_INVALID_PARAMETER);
    CHECK(x86BiosReadMemory(0x2000, 0, NULL, 8) == STATUS_INVALID_PARAMETER);
    memset(bytes, 0x5A, sizeof(bytes));
    CHECK_RULE("NT-184/c", x86BiosReadMemory(0x20FF, 0xC, bytes, 8) == STATUS_SUCCESS &&
                               memcmp(bytes, "\x11\x11\x11\x11\0\0\0\0", 8) == 0);
    CHECK_RULE("NT-184/c", x86BiosReadMemory(0x1FFF, 0xC, bytes, 8) == STATUS_SUCCESS &&
                               memcmp(bytes, "\0\0\0\0\0\0\0\0", 8) == 0);
    CHECK_RULE("NT-184/d", x86BiosReadMemory(0xBFFF, 0xC, bytes, 8) == STATUS_SUCCESS &&
                               memcmp(bytes, "\0\0\0\0\xFF\xFF\xFF\xFF", 8) == 0);
    bytes[0] = 0x5A;
    CHECK(x86BiosReadMemory(0xFFFF, 0x10, bytes, 0) == STATUS_INVALID_PARAMETER);
    CHECK(x86BiosReadMemory(0xFFFF, 0xF, bytes, 0) == STATUS_SUCCESS && bytes[0] == 0x5A);
    CHECK_RULE("NT-184/f", x86BiosReadMemory(0xFFFF, 0xF, bytes, 2) == STATUS_INVALID_PARAMETER);
    CHECK(x86BiosReadMemory(0xFFFF, 0xF, bytes, 1) == STATUS_SUCCESS && bytes[0] == 0xFF);
    CHECK_RULE("NT-184/f",
               x86BiosReadMemory(0x2000, 0, bytes, 0xFFFFFFFF) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-184/h", x86BiosFreeBuffer(0x2001, 0) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-184/h", x86BiosFreeBuffer(0x2000, 0) == STATUS_SUCCESS);
    CHECK(x86BiosReadMemory(0x20FF, 8, bytes, 1) == STATUS_SUCCESS && bytes[0] == 0);
    size = 5;
    CHECK(x86BiosAllocateBuffer(&size, &segment, &offset) == STATUS_SUCCESS && size == 0x1000);
    /* what was in it is not there any more */
    CHECK(x86BiosReadMemory(0x20FF, 8, bytes, 1) == STATUS_SUCCESS && bytes[0] == 0);
    CHECK(x86BiosFreeBuffer(segment, offset) == STATUS_SUCCESS && errors() == 0);
}

static void call_bios(void)
{
    CHECK(!x86BiosCall(0x10, NULL));
}

TEST_WITH(driver, the_bios_is_not_called_in_a_dpc)
{
    in_dpc(call_bios);
    CHECK_RULE("NT-184/i", broken("NT-184") && errors() == 1);
}

/* ---- power settings ---- */

static DEVICE_OBJECT pdo, other;
static ULONG value, calls;
static GUID told;

static NTSTATUS NTAPI on_setting(LPCGUID guid, PVOID data, ULONG length, PVOID context)
{
    CHECK(length == sizeof(value) && context == &value);
    memcpy(&value, data, sizeof(value));
    told = *guid;
    calls++;
    return STATUS_SUCCESS;
}

TEST_WITH(driver, each_setting_has_its_value)
{
    static const struct {
        GUID guid;
        ULONG value;
    } setting[] = {
        {{0x5D3E9A59, 0xE9D5, 0x4B00, {0xA6, 0xBD, 0xFF, 0x34, 0xFF, 0x51, 0x65, 0x48}}, 0},
        {{0x02731015, 0x4510, 0x4526, {0x99, 0xE6, 0xE5, 0xA1, 0x7E, 0xBD, 0x1A, 0xEA}}, 1},
        {{0x6FE69556, 0x704A, 0x47A0, {0x8F, 0x24, 0xC2, 0x8D, 0x93, 0x6F, 0xDA, 0x47}}, 1},
        {{0x2B84C20E, 0xAD23, 0x4DDF, {0x93, 0xDB, 0x05, 0xFF, 0xBD, 0x7E, 0xFC, 0xA5}}, 1},
        {{0xBA3E0F4D, 0xB817, 0x4094, {0xA2, 0xD1, 0xD5, 0x63, 0x79, 0xE6, 0xA0, 0xF3}}, 1},
        {{0x8FFEE2C6, 0x2D01, 0x46BE, {0xAD, 0xB9, 0x39, 0x8A, 0xDD, 0xC5, 0xB4, 0xFF}}, 100},
        {{0xE1233993, 0xEAF9, 0x4C9B, {0xB6, 0x8D, 0xA3, 0x06, 0x1D, 0x69, 0xE3, 0x73}}, 0},
    };
    PVOID handle;

    for (unsigned i = 0; i < RTL_NUMBER_OF(setting); i++) {
        calls = 0;
        value = 0x5A;
        CHECK_RULE("NT-182/a", PoRegisterPowerSettingCallback(NULL, &setting[i].guid, on_setting,
                                                              &value, &handle) == STATUS_SUCCESS);
        CHECK_RULE("NT-182/a", calls == 1 && value == setting[i].value &&
                                   memcmp(&told, &setting[i].guid, sizeof(told)) == 0);
        CHECK_RULE("NT-182/d", PoUnregisterPowerSettingCallback(handle) == STATUS_SUCCESS);
    }
    nt_device_object_register(&pdo);
    handle = &calls;
    CHECK_RULE("NT-182/c",
               PoRegisterPowerSettingCallback(&other, &setting[0].guid, on_setting, &value,
                                              &handle) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-182/c", PoRegisterPowerSettingCallback(&pdo, &setting[0].guid, NULL, &value,
                                                          &handle) == STATUS_INVALID_PARAMETER);
    CHECK(handle == &calls && calls == 1);
    CHECK(PoRegisterPowerSettingCallback(&pdo, &setting[0].guid, on_setting, &value, NULL) ==
              STATUS_SUCCESS &&
          calls == 2 && errors() == 0);
    nt_device_object_unregister(&pdo);
    CHECK_RULE("NT-182/e", nt_image_leak_check(h.image) == 1);
    forget_reports();
}

/* ---- providers ---- */

TEST_WITH(driver, actions_of_providers)
{
    static const ULONG actions[] = {WMIREG_ACTION_REREGISTER, WMIREG_ACTION_UPDATE_GUIDS,
                                    WMIREG_ACTION_BLOCK_IRPS};

    nt_device_object_register(&pdo);
    CHECK_RULE("NT-183/j", IoWMIRegistrationControl(&other, WMIREG_ACTION_REGISTER) ==
                               STATUS_INVALID_PARAMETER);
    for (unsigned i = 0; i < RTL_NUMBER_OF(actions); i++)
        CHECK_RULE("NT-183/j",
                   IoWMIRegistrationControl(&pdo, actions[i]) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-183/i", IoWMIRegistrationControl(&pdo, WMIREG_ACTION_REGISTER) == STATUS_SUCCESS);
    CHECK_RULE("NT-183/i", IoWMIRegistrationControl(&pdo, WMIREG_ACTION_REGISTER) == STATUS_SUCCESS);
    for (unsigned i = 0; i < RTL_NUMBER_OF(actions); i++)
        CHECK_RULE("NT-183/i", IoWMIRegistrationControl(&pdo, actions[i]) == STATUS_SUCCESS);
    CHECK_RULE("NT-183/i",
               IoWMIRegistrationControl(&pdo, WMIREG_ACTION_DEREGISTER) == STATUS_SUCCESS);
    CHECK_RULE("NT-183/j", IoWMIRegistrationControl(&pdo, WMIREG_ACTION_DEREGISTER) ==
                               STATUS_INVALID_PARAMETER);
    nt_device_object_unregister(&pdo);
    CHECK(errors() == 0);
}

/* ---- the error log ---- */

TEST_WITH(driver, entries_of_the_log_have_a_size)
{
    uint8_t *entry = IoAllocateErrorLogEntry(&pdo, 255), *block;

    CHECK(entry && entry[0] == 0 && entry[254] == 0);
    IoFreeErrorLogEntry(entry + 8); /* not its begin */
    CHECK_RULE("NT-005/e", errors() == 1);
    IoFreeErrorLogEntry(NULL);
    CHECK_RULE("NT-005/e", errors() == 2);
    IoFreeErrorLogEntry(entry);
    CHECK(errors() == 2);
    IoWriteErrorLogEntry(entry);
    CHECK_RULE("NT-005/e", errors() == 3);
    block = ExAllocatePoolWithTag(NonPagedPoolNx, 64, TAG);
    IoFreeErrorLogEntry(block);
    CHECK_RULE("NT-005/e", errors() == 4);
    ExFreePool(block);
    CHECK(errors() == 4 && nt_image_leak_check(h.image) == 0);
}

/* ---- work items ---- */

static unsigned worked;

static VOID NTAPI work(PDEVICE_OBJECT object, PVOID context)
{
    CHECK(object == &pdo && context == &worked);
    worked++;
}

static PIO_WORKITEM item;

static void use_item_raised(void)
{
    item = IoAllocateWorkItem(&pdo);
    CHECK(item && broken("NT-098") && errors() == 1);
    IoQueueWorkItem(item, work, DelayedWorkQueue, &worked);
    CHECK(errors() == 2);
}

TEST_WITH(driver, work_items_are_used_rightly)
{
    worked = 0;
    item = IoAllocateWorkItem(&pdo);
    IoQueueWorkItem(item, NULL, DelayedWorkQueue, &worked);
    CHECK(broken("NT-098") && errors() == 1);
    IoQueueWorkItem((PIO_WORKITEM)(void *)&worked, work, DelayedWorkQueue, &worked);
    CHECK(broken("NT-005") && errors() == 2);
    IoFreeWorkItem((PIO_WORKITEM)(void *)&worked);
    IoFreeWorkItem(NULL);
    CHECK(errors() == 4);
    forget_reports();
    IoQueueWorkItem(item, work, CriticalWorkQueue, &worked);
    CHECK(broken("NT-098") && errors() == 0); /* a note */
    pause_ns(1000000);
    CHECK_RULE("NT-098/a", worked == 1);
    forget_reports();
    IoQueueWorkItem(item, work, DelayedWorkQueue, &worked);
    pause_ns(1000000);
    CHECK_RULE("NT-098/a", worked == 2 && !broken("NT-098"));
    IoFreeWorkItem(item);
    in_interrupt(use_item_raised);
    pause_ns(1000000);
    CHECK(worked == 3);
    forget_reports();
    IoFreeWorkItem(item);
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
    h.threads_left = 4;
}

/* ---- routines by name ---- */

static PVOID routine(const WCHAR *text)
{
    UNICODE_STRING name = unicode_text(text);

    return MmGetSystemRoutineAddress(&name);
}

TEST_WITH(driver, routines_are_found_by_name)
{
    static WCHAR longest[200];
    UNICODE_STRING name = {0, sizeof(longest), longest};

    CHECK(routine(L"KeSetEvent") == (PVOID)(uintptr_t)KeSetEvent);
    CHECK(routine(L"KeSetEven") == NULL && routine(L"KeSetEvent2") == NULL);
    CHECK(routine(L"") == NULL && routine(L"KeSetE\x0176"
                                          L"ent") == NULL);
    CHECK(routine(L"strcpy_s") != NULL && routine(L"memcpy") != NULL);
    CHECK(MmGetSystemRoutineAddress(NULL) == NULL);
    for (unsigned i = 0; i < 200; i++)
        longest[i] = 'a';
    for (USHORT chars = 126; chars < 130; chars++) {
        name.Length = chars * sizeof(WCHAR);
        CHECK(MmGetSystemRoutineAddress(&name) == NULL);
    }
    CHECK(*(ULONG *)nt_routine_find("InitSafeBootMode") == 0);
    CHECK(*(CCHAR *)nt_routine_find("KeNumberProcessors") == 1);
    CHECK(*(PEPROCESS *)nt_routine_find("PsInitialSystemProcess") == IoGetCurrentProcess());
    CHECK(*(POBJECT_TYPE *)nt_routine_find("PsThreadType") == *PsThreadType);
    CHECK(nt_routine_find("MmUserProbeAddress") == &MmUserProbeAddress);
    CHECK(errors() == 0);
}

static void find_by_build(void)
{
    const ULONG build = *(ULONG *)nt_routine_find("NtBuildNumber") & 0xFFFFFFF;

    CHECK(*(ULONG *)nt_routine_find("NtBuildNumber") == (0xF0000000 | build));
    CHECK((routine(L"ExAllocatePool2") != NULL) == (build >= 19041));
    CHECK((routine(L"ExAllocatePool3") != NULL) == (build >= 19041));
    CHECK((routine(L"ExFreePool2") != NULL) == (build >= 19041));
    CHECK((routine(L"MmMapIoSpaceEx") != NULL) == (build >= 10240));
    CHECK(routine(L"ExAllocatePoolWithTag") != NULL);
}

TEST_WITH(machine, routines_come_with_a_build)
{
    static const uint32_t builds[] = {9600, 10239, 10240, 19040, 19041, 22000};

    for (unsigned i = 0; i < RTL_NUMBER_OF(builds); i++) {
        const struct nt_config config = {.os_build = builds[i]};

        harness_teardown();
        harness_boot(1, 1, &config);
        run(find_by_build);
    }
}
