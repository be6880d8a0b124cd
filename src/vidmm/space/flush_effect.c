/* SPDX-License-Identifier: MIT */
#include "vidmm/space/flush_effect.h"
#include "bus/mmu.h"
#include "ddi/routine.h"
#include "util/address.h"
#include "verify/verify.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/gpu_mmu.h"

struct flush_effect flush_effect_before(const struct vidmm_space *space)
{
    const struct vidmm *vidmm = space->vidmm;

    return (struct flush_effect){
        .bytes = vidmm->statistics.bytes_built,
        .touches = vidmm->config.device ? bus_device_touches(vidmm->config.device) : 0,
    };
}

void flush_effect_check(const struct vidmm_space *space, const struct flush_effect *before,
                        uint64_t number, uint64_t first, uint64_t count)
{
    const struct flush_effect after = flush_effect_before(space);

    if (!space->mmu->watch.on || space->vidmm->lost || after.bytes != before->bytes ||
        after.touches != before->touches)
        return;
    ddi_blame(space->vidmm->ddi, "DxgkDdiBuildPagingBuffer");
    WARNING(
        "GPUVA-262",
        "DxgkDdiBuildPagingBuffer call %llu (FLUSH_TLB, addresses 0x%llx to 0x%llx): the driver "
        "wrote no commands, nor private data, and touched no register of the device",
        (unsigned long long)number, (unsigned long long)(first << PAGE_BITS),
        (unsigned long long)(((first + (count ? count : space->mmu->geometry.end)) << PAGE_BITS) -
                             1));
}
