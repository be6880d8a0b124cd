/* SPDX-License-Identifier: MIT */
/* Domains of two devices: each has the buffers of its own device alone. */
#include "support/dma_rig.h"

static DEVICE_OBJECT second_pdo;
static struct bus_device *second;
static struct iommu_domain *second_domain;

static DMA_ADAPTER *adapter_of(DEVICE_OBJECT *object)
{
    DEVICE_DESCRIPTION description = description_of(3);
    ULONG count;

    return IoGetDmaAdapter(object, &description, &count);
}

static void begin_second(void)
{
    second_domain = iommu_domain_create(h.ram, mode, (struct logical_addr){UINT32_MAX});
    CHECK(second_domain && bus_device_attach(second, second_domain) == IOMMU_DONE);
    nt_dma_domain_begins(second, second_domain);
}

static void end_second(void)
{
    nt_dma_domain_ends(second_domain);
    CHECK(iommu_domain_mapped_pages(second_domain) == 0);
    bus_device_attach(second, NULL);
    CHECK(iommu_domain_delete(second_domain) == IOMMU_DONE);
}

static void check_domains(void)
{
    const struct nt_device_info info = {.slot = 7, .device = second = test_device_add(h.bus)};
    PHYSICAL_ADDRESS logical[2];
    DMA_ADAPTER *of[2];
    uint8_t *memory[2], seen = 0;
    PMDL mdl = scattered(2);

    CHECK(nt_device_object_register_physical(&second_pdo, &info));
    of[0] = adapter_of(&pdo);
    of[1] = adapter_of(&second_pdo);
    memory[0] = of[0]->DmaOperations->AllocateCommonBuffer(of[0], 2 * PAGE_SIZE, &logical[0], TRUE);
    memory[1] = of[1]->DmaOperations->AllocateCommonBuffer(of[1], 3 * PAGE_SIZE, &logical[1], TRUE);
    CHECK(memory[0] && memory[1]);
    adapter = of[0];
    ops = adapter->DmaOperations;
    CHECK(get_list(mdl, 0, 2 * PAGE_SIZE, TRUE) == STATUS_SUCCESS);
    begin_domain();
    CHECK(iommu_domain_mapped_pages(domain) == 2); /* no lists */
    put_list(TRUE);
    begin_second();
    CHECK(iommu_domain_mapped_pages(domain) == 2 && iommu_domain_mapped_pages(second_domain) == 3);
    memory[1][2 * PAGE_SIZE] = 0x66;
    logical[1].QuadPart += 2 * PAGE_SIZE;
    CHECK_RULE("NT-188/h", device_reads(logical[1], &seen, 1) && seen == 0x66);
    CHECK(get_list(mdl, 0, 2 * PAGE_SIZE, TRUE) == STATUS_SUCCESS);
    CHECK(iommu_domain_mapped_pages(domain) == 4);
    put_list(TRUE);
    CHECK(iommu_domain_mapped_pages(domain) == 2);
    end_domain(); /* the other one's stays */
    begin_domain();
    CHECK(iommu_domain_mapped_pages(domain) == 2); /* as in the first one */
    end_domain();
    memory[1][2 * PAGE_SIZE] = 0x77;
    CHECK_RULE("NT-188/h", device_reads(logical[1], &seen, 1) && seen == 0x77 && faults == 0);
    logical[1].QuadPart -= 2 * PAGE_SIZE;
    for (unsigned i = 0; i < 2; i++) {
        of[i]->DmaOperations->FreeCommonBuffer(of[i], (2 + i) * PAGE_SIZE, logical[i], memory[i],
                                               TRUE);
        of[i]->DmaOperations->PutDmaAdapter(of[i]);
    }
    CHECK(iommu_domain_mapped_pages(second_domain) == 0 && errors() == 0);
    end_second();
    nt_device_object_unregister(&second_pdo);
    free_scattered(mdl);
}

TEST(domains_have_what_their_device_has)
{
    in_each_mode(check_domains, false);
}
