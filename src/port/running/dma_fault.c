/* SPDX-License-Identifier: MIT */
/* Reports of forbidden memory accesses by a device (IOMMU-059, IOMMU-072, IOMMU-075, TDR-046). */
#include <stdio.h>

#include "port/running/dma_fault.h"
#include "iommu/iommu.h"
#include "nt/base/caller.h"
#include "nt/mm/address_query.h"
#include "port/record/adapter_info.h"
#include "sim/machine.h"
#include "trace/trace.h"
#include "verify/verify.h"
#include "vidsch/vidsch.h"

#define DRIVER_VERIFIER_DMA_VIOLATION 0xE6u
#define ILLEGAL_IOMMU_PAGE_FAULT      0x158u
#define HAL_ILLEGAL_IOMMU_PAGE_FAULT  0x159u
#define IOMMU_FAULT                   0x26u /* its first parameter */

/* The rule that the access breaks. */
static const char *rule_of(enum iommu_cause cause)
{
    switch (cause) {
    case IOMMU_CAUSE_EXCLUSIVE:
        return "IOMMU-059";
    case IOMMU_CAUSE_RESET:
        return "TDR-046";
    case IOMMU_CAUSE_NOT_HELD:
        return "IOMMU-075";
    default:
        return "IOMMU-072";
    }
}

/* A physical address that a driver has asked for, and given to its device as if the IOMMU were not
 * there. */
static void say_asked(uint64_t address, char *text, size_t bytes, char *stack, size_t stack_bytes)
{
    const uintptr_t caller = (uintptr_t)nt_address_asked(address);
    char place[96];

    text[0] = '\0';
    if (!caller)
        return;
    nt_caller_name((const void *)caller, place, sizeof(place));
    snprintf(text, bytes, "; it is the physical address that MmGetPhysicalAddress gave to %s",
             place);
    if (nt_caller_stack(&caller, 1, stack, stack_bytes))
        verify_set_stack(stack);
}

void port_dma_fault(void *context, const struct iommu_fault *fault)
{
    struct vidsch *scheduler = port_adapter_vidsch(context);
    const bool retired = fault->cause == IOMMU_CAUSE_PASID_RETIRED;
    char engine[32] = "", asked[192], stack[512];

    if (fault->engine != UINT32_MAX)
        snprintf(engine, sizeof(engine), ", engine %u", fault->engine);
    if (retired || fault->cause == IOMMU_CAUSE_PASID) {
        verify_fatal("IOMMU-108", retired ? HAL_ILLEGAL_IOMMU_PAGE_FAULT : ILLEGAL_IOMMU_PAGE_FAULT,
                     0, fault->requester, fault->address.value, fault->access,
                     "device %u%s accessed 0x%llx %s", fault->requester, engine,
                     (unsigned long long)fault->address.value, iommu_cause_text(fault->cause));
        return;
    }
    say_asked(fault->address.value, asked, sizeof(asked), stack, sizeof(stack));
    verify_report_code(rule_of(fault->cause), DRIVER_VERIFIER_DMA_VIOLATION, IOMMU_FAULT,
                       fault->requester, fault->address.value, fault->access,
                       "device %u%s tried to %s logical address 0x%llx (access of %llu bytes), %s%s",
                       fault->requester, engine, fault->access == IOMMU_WRITE ? "write" : "read",
                       (unsigned long long)fault->address.value, (unsigned long long)fault->bytes,
                       iommu_cause_text(fault->cause), asked);
    if (fault->count == 1)
        trace_instant(TRACE_PROCESSOR(sim_current->processor), "IOMMU fault", "logical",
                      fault->address.value, "write", fault->access == IOMMU_WRITE);
    if (scheduler)
        vidsch_note_bus_fault(scheduler, fault);
}
