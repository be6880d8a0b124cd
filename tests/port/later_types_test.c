/* SPDX-License-Identifier: MIT */
/* Queries of WDDM 3.2: the size of the paging process's address space, and dirty bit tracking (CAPS-120). */
#include "port/support/paged.h"

#include <dxgk_wddm3_2.h>
#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static struct {
    UINT megabytes, input, output; /* of the size; what was passed with the question */
    bool has_size;                 /* the driver answers it */
    UINT32 tracking;               /* DXGK_DIRTY_BIT_TRACKING_CAPS */
    bool has_tracking;
    UINT page_size;
    NTSTATUS of_segment;               /* its status */
    UINT sizes, caps, segments, asked; /* questions; bit n: segment n */
} driver;

static void answer(struct probe *p, struct probe_call *call)
{
    const DXGKARG_QUERYADAPTERINFO *q = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    if (q->Type == DXGKQAITYPE_PAGINGPROCESSGPUVASIZE) {
        driver.sizes++;
        driver.input = q->InputDataSize == sizeof(UINT) ? *(UINT *)q->pInputData : 77;
        driver.output = q->OutputDataSize;
        *(UINT *)q->pOutputData = driver.megabytes;
        call->answered = true;
        call->result = (uint32_t)(driver.has_size ? STATUS_SUCCESS : STATUS_NOT_SUPPORTED);
    } else if (q->Type == DXGKQAITYPE_DIRTYBITTRACKINGCAPS) {
        driver.caps++;
        CHECK(q->InputDataSize == 0 && q->OutputDataSize == sizeof(UINT32));
        *(UINT32 *)q->pOutputData = driver.tracking;
        call->answered = true;
        call->result = (uint32_t)(driver.has_tracking ? STATUS_SUCCESS : STATUS_NOT_IMPLEMENTED);
    } else if (q->Type == DXGKQAITYPE_DIRTYBITTRACKINGSEGMENTCAPS) {
        driver.segments++;
        CHECK(q->InputDataSize == sizeof(UINT) && q->OutputDataSize == sizeof(UINT32));
        driver.asked |= 1u << *(UINT *)q->pInputData;
        *(UINT32 *)q->pOutputData = driver.page_size;
        call->answered = true;
        call->result = (uint32_t)driver.of_segment;
    }
}

static uint64_t reports, highest; /* of CAPS-120; address that a paging operation used */

static void note_highest(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    if (op->Operation == DXGK_OPERATION_VIRTUAL_FILL &&
        op->FillVirtual.DestinationVirtualAddress + op->FillVirtual.FillSizeInBytes > highest)
        highest = op->FillVirtual.DestinationVirtualAddress + op->FillVirtual.FillSizeInBytes;
}

static void body(struct probe *p)
{
    struct probe_gpu gpu;
    D3DKMT_HANDLE allocation;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, 12 * PAGED_MIB, &allocation)));
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

static NTSTATUS run(UINT version, DXGK_WDDMVERSION wddm, bool wddm_3_2, UINT segments)
{
    const struct probe_options options = {.version = version, .port = {.wddm_3_2 = wddm_3_2}};
    struct probe *p = probe_create(&options);
    struct probe_client *client;
    NTSTATUS status;

    driver.sizes = driver.caps = driver.segments = driver.asked = 0;
    highest = 0;
    p->caps.WDDMVersion = p->device_wddm = wddm;
    p->before[PROBE_QueryAdapterInfo] = answer;
    p->before[PROBE_BuildPagingBuffer] = note_highest;
    for (UINT i = p->segments; i < segments; i++) {
        p->segment[i] = p->segment[0];
        p->segment[i].BaseAddress.QuadPart += (LONGLONG)i << 32;
    }
    if (segments)
        p->segments = segments;
    probe_clients_begin(p);
    status = probe_start(p);
    if (NT_SUCCESS(status)) {
        client = probe_client_run(p, body);
        probe_client_end(p, client);
    }
    reports = probe_rule(p, "CAPS-120");
    probe_clients_end(p);
    probe_destroy(p);
    return status;
}

#define NEW DXGKDDI_INTERFACE_VERSION_WDDM3_1, DXGKDDI_WDDMv3_1

/* Two windows of half the area each: a fill of 12 MiB in a space of 16 MiB takes several. */
TEST(the_driver_says_how_large_the_paging_space_is)
{
    uint64_t usual;

    memset(&driver, 0, sizeof(driver));
    CHECK(IS(run(NEW, true, 0), STATUS_SUCCESS));
    usual = highest;
    CHECK_RULE("GPUVA-228", driver.sizes == 1 && driver.input == 0 && driver.output == sizeof(UINT));
    driver.megabytes = 16; /* although the call fails */
    CHECK(IS(run(NEW, true, 0), STATUS_SUCCESS));
    CHECK_RULE("GPUVA-228", highest == usual);
    driver.has_size = true;
    CHECK(IS(run(NEW, true, 0), STATUS_SUCCESS));
    CHECK_RULE("GPUVA-228", highest > 0 && highest <= 16 * PAGED_MIB);
    CHECK_RULE("PAGE-064", highest < usual);
    driver.megabytes = 17; /* whole leaf tables, of 2 MiB */
    CHECK(IS(run(NEW, true, 0), STATUS_SUCCESS));
    CHECK_RULE("GPUVA-228", highest > 16 * PAGED_MIB && highest <= 18 * PAGED_MIB);
    driver.megabytes = 0;
    CHECK(IS(run(NEW, true, 0), STATUS_SUCCESS));
    CHECK_RULE("PAGE-064", highest == usual);
    driver.megabytes = 16;
    CHECK(IS(run(NEW, false, 0), STATUS_SUCCESS));
    CHECK_RULE("PAGE-064", driver.sizes == 0 && highest == usual);
    CHECK(IS(run(DXGKDDI_INTERFACE_VERSION_WDDM3_0, DXGKDDI_WDDMv3_0, true, 0), STATUS_SUCCESS));
    CHECK_RULE("PAGE-064", driver.sizes == 0 && driver.caps == 0 && highest == usual);
}

TEST(dirty_bits_are_asked_for_by_memory_segment)
{
    memset(&driver, 0, sizeof(driver));
    driver.page_size = 65536;
    driver.tracking = 1; /* although the call fails */
    CHECK(IS(run(NEW, true, 4), STATUS_SUCCESS));
    CHECK_RULE("CAPS-120", driver.caps == 1 && driver.segments == 0);
    driver.has_tracking = true;
    CHECK(IS(run(NEW, true, 4), STATUS_SUCCESS));
    CHECK_RULE("CAPS-120", driver.caps == 1 && driver.segments == 3 && driver.asked == 0x1A);
    CHECK_RULE("SEG-090", reports == 0);
    driver.tracking = 2;
    CHECK(IS(run(NEW, true, 4), STATUS_SUCCESS));
    CHECK_RULE("SEG-090", driver.caps == 1 && driver.segments == 0 && reports == 0);
    driver.tracking = 5;
    CHECK(IS(run(NEW, true, 4), STATUS_SUCCESS));
    CHECK_RULE("CAPS-120", reports == 1);
    driver.tracking = 1;
    driver.of_segment = STATUS_NOT_IMPLEMENTED;
    driver.page_size = 5;
    CHECK(IS(run(NEW, true, 4), STATUS_SUCCESS));
    CHECK_RULE("SEG-090", driver.segments == 3 && reports == 0);
    driver.of_segment = STATUS_SUCCESS;
    driver.page_size = 2048;
    CHECK(IS(run(NEW, true, 4), STATUS_SUCCESS));
    CHECK_RULE("CAPS-120", reports > 0);
    driver.page_size = 12288;
    CHECK(IS(run(NEW, true, 4), STATUS_SUCCESS));
    CHECK_RULE("CAPS-120", reports > 0);
    driver.page_size = 4096;
    CHECK(IS(run(NEW, true, 4), STATUS_SUCCESS));
    CHECK_RULE("CAPS-120", reports == 0);
}
