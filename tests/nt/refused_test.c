/* SPDX-License-Identifier: MIT */
/* What a refused call says, and what parts of an MDL are. */
#include "nt/io/bios.h"
#include "support/harness.h"

static void raised(NTSTATUS (*call)(void))
{
    KIRQL before;

    KeRaiseIrql(DISPATCH_LEVEL, &before);
    CHECK_RULE("NT-184/i", call() == STATUS_INVALID_DEVICE_REQUEST && broken("NT-184"));
    KeLowerIrql(before);
    forget_reports();
}

static NTSTATUS write_memory(void)
{
    uint8_t byte = 1;

    return x86BiosWriteMemory(0x2000, 0, &byte, 1);
}

static NTSTATUS read_memory(void)
{
    uint8_t byte;

    return x86BiosReadMemory(0xC000, 0, &byte, 1);
}

static NTSTATUS allocate_buffer(void)
{
    USHORT segment, offset;
    ULONG size = 16;

    return x86BiosAllocateBuffer(&size, &segment, &offset);
}

static NTSTATUS free_buffer(void)
{
    return x86BiosFreeBuffer(0x2000, 0);
}

TEST_WITH(driver, the_bios_is_called_at_passive_level)
{
    raised(write_memory);
    raised(read_memory);
    raised(allocate_buffer);
    raised(free_buffer);
}

TEST_WITH(driver, parts_of_an_mdl_inherit_what_it_is)
{
    uint8_t *pages = ExAllocatePoolWithTag(NonPagedPoolNx, 2 * PAGE_SIZE, TAG);
    PMDL whole = IoAllocateMdl(pages, 2 * PAGE_SIZE, FALSE, FALSE, NULL);
    PMDL part = IoAllocateMdl(pages, PAGE_SIZE, FALSE, FALSE, NULL);

    MmBuildMdlForNonPagedPool(whole);
    IoBuildPartialMdl(whole, part, pages + PAGE_SIZE, PAGE_SIZE);
    CHECK_RULE("NT-128/e", part->MdlFlags & MDL_PARTIAL &&
                               part->MdlFlags & MDL_SOURCE_IS_NONPAGED_POOL &&
                               !(part->MdlFlags & (MDL_WRITE_OPERATION | MDL_IO_SPACE)));
    IoFreeMdl(part);
    IoFreeMdl(whole);
    whole = IoAllocateMdl(pages, 2 * PAGE_SIZE, FALSE, FALSE, NULL);
    part = IoAllocateMdl(pages, PAGE_SIZE, FALSE, FALSE, NULL);
    MmProbeAndLockPages(whole, KernelMode, IoWriteAccess);
    IoBuildPartialMdl(whole, part, pages, PAGE_SIZE);
    CHECK_RULE("NT-128/e", part->MdlFlags & MDL_WRITE_OPERATION);
    IoFreeMdl(part);
    MmUnlockPages(whole);
    IoFreeMdl(whole);
    ExFreePoolWithTag(pages, TAG);
}
