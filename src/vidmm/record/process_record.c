/* SPDX-License-Identifier: MIT */
#include "vidmm/record/process_record.h"
#include "ddi/ddi.h"
#include "ddi/handle.h"
#include "nt/base/current.h"
#include "nt/base/kprocess.h"
#include "sim/wait.h"
#include "util/alloc.h"
#include "util/list.h"
#include "vidmm/record/paging_record.h"
#include "vidmm/record/vidmm_record.h"

struct vidmm_process *process_record_new(struct vidmm *vidmm, struct nt_process *nt)
{
    struct vidmm_process *process = util_zalloc(1, sizeof(*process));

    if (!process)
        return NULL;
    process->vidmm = vidmm;
    process->nt = nt;
    process->handles = nt ? &nt->handles : &nt_process_system()->handles;
    process->references = 1;
    list_init(&process->link);
    list_init(&process->contexts);
    list_init(&process->fence_pages);
    paging_queue_init(&process->fence_departures, vidmm, NULL, 0);
    sim_waitq_init(&process->idle);
    process->host_handle = ddi_handle_create(&vidmm->ddi->handles, DDI_HANDLE_PROCESS, process);
    if (!process->host_handle) {
        util_free(process);
        return NULL;
    }
    return process;
}

void process_record_free(struct vidmm_process *process)
{
    (void)ddi_handle_remove(&process->vidmm->ddi->handles, process->host_handle, DDI_HANDLE_PROCESS);
    util_free(process);
}
