/* SPDX-License-Identifier: MIT */
#include "host/frames.h"
#include "dxgkhost/display.h"
#include "host/display.h"
#include "host/driver.h"
#include "host/machine_record.h"
#include "screens/region.h"
#include "screens/frame.h"
#include "sim/machine.h"
#include "util/alloc.h"
#include "util/list.h"

/* One that starts comes after those that have started. */
static unsigned number_of(const struct dxgk_machine *machine, const struct port_adapter *adapter)
{
    unsigned number = 0;

    LIST_FOR(node, &machine->adapters) {
        if (CONTAINER(node, struct host_adapter, link)->port == adapter)
            break;
        number++;
    }
    return number;
}

static void tell(struct dxgk_machine *machine, struct port_adapter *adapter,
                 const struct screens_frame *frame)
{
    static const char *const cause[] = {
        [SCREENS_MODE] = "mode", [SCREENS_PRESENT] = "present", [SCREENS_FLIP] = "flip"};
    int32_t rectangle[REGION_MOST][4];
    char error[300] = "";
    struct dxgk_frame told = {.adapter = number_of(machine, adapter),
                              .source = frame->source,
                              .number = frame->number,
                              .virtual_ns = sim_now(),
                              .cause = cause[frame->cause],
                              .rectangle = (const int32_t(*)[4])rectangle,
                              .rectangles = frame->rectangles,
                              .error = error};

    for (UINT i = 0; i < frame->rectangles; i++) {
        rectangle[i][0] = frame->rectangle[i].left;
        rectangle[i][1] = frame->rectangle[i].top;
        rectangle[i][2] = frame->rectangle[i].right;
        rectangle[i][3] = frame->rectangle[i].bottom;
    }
    (void)host_display_capture(adapter, frame->source, &told.picture, error, sizeof(error));
    machine->hooks++;
    machine->config.frame(machine->config.log_context, &told);
    machine->hooks--;
    dxgk_picture_free(&told.picture);
}

/* Adapters that stop have no number any more. What the hook allocates is not the machine's. */
void host_frame(void *context, struct port_adapter *adapter, const struct screens_frame *frame)
{
    struct dxgk_machine *machine = context;
    struct util_heap *heap = util_heap_current;

    if (machine->shut_down)
        return;
    util_heap_current = NULL;
    tell(machine, adapter, frame);
    util_heap_current = heap;
}
