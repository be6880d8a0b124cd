/* SPDX-License-Identifier: MIT */
#include "vidmm/check/root_check.h"
#include "util/list.h"
#include "verify/verify.h"
#include "vidmm/check/table_finding.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/space/page_table.h"

static bool is_root_of(const struct vidmm_space *space, uint64_t root)
{
    return space && space->root && !space->root->absent &&
           table_address(space->root).SegmentOffset == root;
}

/* "process 2 (client)". */
static struct table_call_text owner_of(const struct gpu_mmu *mmu, uint64_t root)
{
    LIST_FOR(node, &mmu->spaces) {
        const struct vidmm_space *space = CONTAINER(node, struct vidmm_space, link);

        if (is_root_of(space, root))
            return table_process_say(space);
    }
    return (struct table_call_text){"no process"};
}

void vidmm_check_root(const struct vidmm_process *process, uint32_t context, unsigned node,
                      uint32_t fence, uint64_t root)
{
    const struct vidmm_space *space = process->space;
    D3DGPU_PHYSICAL_ADDRESS announced;

    if (!space || !space->root || space->root->absent || !space->mmu->watch.on)
        return;
    announced = table_address(space->root);
    if (announced.SegmentOffset == root ||
        is_root_of(process->privileged, root)) /* of companion contexts */
        return;
    VIOLATION(
        "GPUVA-265",
        "the GPU uses another root table than was announced: %s, context %u, node %u, fence "
        "%u: the root at 0x%llx, that of %s; DxgkDdiSetRootPageTable got segment %u offset 0x%llx",
        table_process_say(space).text, context, node, fence, (unsigned long long)root,
        owner_of(space->mmu, root).text, announced.SegmentId,
        (unsigned long long)announced.SegmentOffset);
}
