/* SPDX-License-Identifier: MIT */
/* The modes that a source can be given, for clients. */
#include <stdlib.h>
#include <string.h>

#include "dxgkhost/display.h"
#include "host/display.h"
#include "host/run.h"
#include "host/task.h"
#include "modes/display_worker.h"
#include "modes/mode_check.h"
#include "modes/mode_list.h"
#include "modes/modes.h"
#include "verify/refusal.h"

struct request {
    struct modes *modes;
    UINT source;
    struct dxgk_listed_mode *list;
    size_t count;
    NTSTATUS status;
};

static struct dxgk_listed_mode translate(const struct modes_listed *from)
{
    struct dxgk_listed_mode to;

    memset(&to, 0, sizeof(to));
    to.mode.width = from->size.cx;
    to.mode.height = from->size.cy;
    to.target = from->target;
    to.turns = from->turns;
    if (mode_frequency_given(&from->rate)) {
        to.mode.hz_numerator = from->rate.Numerator;
        to.mode.hz_denominator = from->rate.Denominator;
    }
    return to;
}

/* On the display worker, which may change the list afterwards. */
static NTSTATUS list(struct modes *modes, void *arg)
{
    struct request *request = arg;
    const struct mode_list *found;
    NTSTATUS status = modes_list(modes, request->source, &found);

    if (!NT_SUCCESS(status) || !found->count)
        return status;
    request->list = calloc(found->count, sizeof(*request->list));
    if (!request->list)
        return STATUS_NO_MEMORY;
    for (UINT i = 0; i < found->count; i++)
        if (!i || !modes_listed_alike(&found->mode[i - 1], &found->mode[i]))
            request->list[request->count++] = translate(&found->mode[i]);
    return STATUS_SUCCESS;
}

static void ask(void *arg)
{
    struct request *request = arg;

    request->status = display_do(request->modes, list, request);
}

DXGK_API enum dxgk_result dxgk_client_list_modes(unsigned adapter, unsigned source,
                                                 struct dxgk_listed_mode **modes, size_t *count,
                                                 char *error, size_t error_bytes)
{
    struct request request = {
        .modes = host_display_modes(host_run_client_machine(), adapter, source, error, error_bytes),
        .source = source};
    enum dxgk_result result;

    *modes = NULL;
    *count = 0;
    if (!request.modes)
        return DXGK_ERROR;
    result = host_task_run("mode list", ask, &request);
    result = host_display_result(result, request.status, "no list of modes",
                                 "the driver does not give them", error, error_bytes);
    if (result != DXGK_OK) {
        free(request.list);
        return result;
    }
    *modes = request.list;
    *count = request.count;
    return DXGK_OK;
}
