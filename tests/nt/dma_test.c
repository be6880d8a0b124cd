/* SPDX-License-Identifier: MIT */
/* DMA adapters: versions and widths of what IoGetDmaAdapter gives, and the members that it does not offer. */
#include "support/dma_rig.h"

/* ---- adapters ---- */

static ULONG bits_of(DEVICE_DESCRIPTION description)
{
    DMA_ADAPTER_INFO info = {.Version = DMA_ADAPTER_INFO_VERSION1};
    PHYSICAL_ADDRESS logical;
    ULONG bits = 0;
    PVOID memory;

    if (!get(description))
        return 0;
    if (description.Version == 3 && ops->GetDmaAdapterInfo(adapter, &info) == STATUS_SUCCESS)
        bits = info.V1.DmaAddressWidth;
    memory = ops->AllocateCommonBuffer(adapter, PAGE_SIZE, &logical, TRUE);
    if (!bits && memory)
        bits = logical.QuadPart < 1 << 24 ? 24 : 32;
    if (memory)
        ops->FreeCommonBuffer(adapter, PAGE_SIZE, logical, memory, TRUE);
    put();
    return bits;
}

static void check_versions(void)
{
    DEVICE_DESCRIPTION d = description_of(2), bad;
    PPUT_DMA_ADAPTER again;
    ULONG size = 0;

    for (ULONG version = 0; version <= 3; version++) {
        CHECK_RULE("NT-187/a", get(description_of(version)) && registers == 17);
        CHECK_RULE("NT-187/a", adapter->Version == 1 && adapter->Size == sizeof(DMA_ADAPTER));
        CHECK_RULE("NT-187/a", version == 1 ? ops->Size == size : ops->Size > size);
        size = ops->Size;
        CHECK_RULE("NT-187/a", ops->GetDmaAlignment(adapter) == 1);
        put();
    }
    CHECK_RULE("NT-187/a", size == sizeof(DMA_OPERATIONS));
    CHECK_RULE("NT-187/a", nt_image_leak_check(h.image) == 0 && errors() == 0);

    bad = d;
    bad.Version = 4;
    CHECK_RULE("NT-187/b", !get(bad) && broken("NT-187"));
    forget_reports();
    bad = d;
    bad.Master = FALSE;
    CHECK_RULE("NT-187/b", !get(bad) && broken("NT-187"));
    forget_reports();
    bad = description_of(3);
    bad.DmaAddressWidth = 0;
    CHECK_RULE("NT-187/b", !get(bad) && broken("NT-187"));
    forget_reports();
    bad.DmaAddressWidth = 65;
    CHECK_RULE("NT-187/b", !get(bad) && broken("NT-187"));
    forget_reports();
    CHECK_RULE("NT-187/c", !IoGetDmaAdapter(&pdo, NULL, &registers) && broken("NT-187"));
    forget_reports();
    CHECK_RULE("NT-187/c", !IoGetDmaAdapter(&pdo, &d, NULL) && broken("NT-187"));
    forget_reports();
    CHECK_RULE("NT-187/c",
               !IoGetDmaAdapter((PDEVICE_OBJECT)(void *)&d, &d, &registers) && broken("NT-187"));
    forget_reports();
    CHECK_RULE("NT-187/f", get(d) && nt_image_leak_check(h.image) == 1 && broken("NT-187"));
    forget_reports();
    CHECK_RULE("NT-187/d", IoGetDmaAdapter(NULL, &d, &registers) != NULL && errors() == 0);
    CHECK(nt_image_leak_check(h.image) == 1);
    forget_reports();
    get(d);
    again = ops->PutDmaAdapter;
    put();
    again(adapter);
    CHECK_RULE("NT-187/e", broken("NT-187"));
    forget_reports();
}

TEST(adapters_have_the_table_of_their_version)
{
    in_each_mode(check_versions, true);
}

static void check_widths(void)
{
    DEVICE_DESCRIPTION d = description_of(3);

    d.DmaAddressWidth = 40;
    CHECK_RULE("NT-187/g", bits_of(d) == 40);
    d.DmaAddressWidth = 64;
    CHECK_RULE("NT-192/i", bits_of(d) == 64);
    d = description_of(0);
    d.Dma64BitAddresses = FALSE;
    CHECK_RULE("NT-187/g",
               bits_of(d) == (mode == IOMMU_REMAP ? 24 : 32)); /* scatter/gather on PCI */
    d.ScatterGather = FALSE;
    CHECK_RULE("NT-187/g", bits_of(d) == 24);
    d.Dma32BitAddresses = TRUE;
    CHECK_RULE("NT-187/g", bits_of(d) == (mode == IOMMU_REMAP ? 24 : 32));
    d.Dma32BitAddresses = FALSE;
    d.ScatterGather = TRUE;
    d.InterfaceType = Isa;
    CHECK_RULE("NT-187/g", bits_of(d) == 24);
    CHECK(errors() == 0);
}

TEST(addresses_are_as_wide_as_the_device)
{
    in_each_mode(check_widths, true);
}

/* ---- what is not offered ---- */

static bool said(const char *member)
{
    size_t count = 0;
    const struct verify_record *record;

    for (; (record = verify_record_at(h.log, count)); count++)
        if (strcmp(record->rule, "NT-193") == 0 && strstr(record->seen, member))
            return true;
    return false;
}

static void check_not_offered(void)
{
    PVOID *member;

    get(description_of(3));
    member = (PVOID *)(PVOID)&ops->PutDmaAdapter;
    for (size_t i = 0; i < (sizeof(*ops) - 8) / sizeof(PVOID); i++)
        CHECK_RULE("NT-193/a", member[i] != NULL);
    CHECK_RULE("NT-193/b", ops->ReadDmaCounter(adapter) == 0 && said("ReadDmaCounter"));
    CHECK_RULE("NT-193/d", ops->BuildMdlFromScatterGatherList(adapter, NULL, NULL, NULL) ==
                                   STATUS_NOT_SUPPORTED &&
                               said("BuildMdlFromScatterGatherList"));
    CHECK_RULE("NT-193/b", ops->ConfigureAdapterChannel(adapter, 0, NULL) == STATUS_NOT_SUPPORTED &&
                               said("ConfigureAdapterChannel"));
    CHECK_RULE("NT-193/b", ops->CancelMappedTransfer(adapter, NULL) == STATUS_NOT_SUPPORTED &&
                               said("CancelMappedTransfer"));
    CHECK_RULE("NT-193/b",
               ops->JoinDmaDomain(adapter, NULL) == STATUS_NOT_SUPPORTED && said("JoinDmaDomain"));
    CHECK_RULE("NT-193/b",
               ops->LeaveDmaDomain(adapter) == STATUS_NOT_SUPPORTED && said("LeaveDmaDomain"));
    CHECK_RULE("NT-193/b", ops->GetDmaDomain(adapter) == NULL && said("GetDmaDomain"));
    CHECK_RULE("NT-193/b", ops->AllocateDomainCommonBuffer(adapter, NULL, NULL, 1, 0, NULL, 0, NULL,
                                                           NULL) == STATUS_NOT_SUPPORTED &&
                               said("AllocateDomainCommonBuffer"));
    CHECK_RULE("NT-193/c",
               ops->AllocateCommonBufferVector(adapter, physical(0), physical(0), MmCached, 0, 0, 1,
                                               1, NULL) == STATUS_NOT_SUPPORTED &&
                   said("AllocateCommonBufferVector"));
    ops->GetCommonBufferFromVectorByIndex(adapter, NULL, 0, NULL, NULL);
    ops->FreeCommonBufferFromVector(adapter, NULL, 0);
    ops->FreeCommonBufferVector(adapter, NULL);
    CHECK_RULE("NT-193/c", said("GetCommonBufferFromVectorByIndex") &&
                               said("FreeCommonBufferFromVector") && said("FreeCommonBufferVector"));
    CHECK_RULE("NT-193/d", ops->CreateCommonBufferFromMdl(adapter, NULL, NULL, 0, NULL) ==
                                   STATUS_NOT_SUPPORTED &&
                               said("CreateCommonBufferFromMdl"));
    put();
    CHECK_RULE("NT-193/e", errors() == 0);
}

TEST(members_that_are_not_offered_say_so)
{
    in_each_mode(check_not_offered, true);
}
