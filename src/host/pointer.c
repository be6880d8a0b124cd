/* SPDX-License-Identifier: MIT */
/* The mouse pointer, as a user has it: its shape, and where it is. */
#include "dxgkhost/display.h"
#include "host/display.h"
#include "host/enter.h"
#include "host/run.h"
#include "host/task.h"
#include "modes/modes.h"
#include "port/running/display.h"
#include "screens/pointer.h"
#include "screens/pointer_shape.h"
#include "screens/scanout_pointer.h"
#include "screens/screens.h"
#include "util/explain.h"

struct pointer_request {
    struct screens *screens;           /* of a display-only driver */
    struct scanouts *scanouts;         /* of a full one */
    const struct pointer_shape *shape; /* NULL: none */
    struct screens_cursor cursor;
    bool refused;
    char *error;
    size_t error_bytes;
};

/* False: with a reason. */
static bool find(struct pointer_request *request, unsigned adapter, unsigned source, char *error,
                 size_t error_bytes)
{
    struct dxgk_machine *machine = host_run_client_machine();
    const struct port_adapter *port = NULL;

    if (machine && host_may_look(machine))
        port = host_display_adapter(machine, adapter);
    if (port) {
        request->screens = port_display_screens(port);
        request->scanouts = port_display_scanouts(port);
    }
    request->error = error;
    request->error_bytes = error_bytes;
    if (!machine)
        util_explain(error, error_bytes, "not a client's thread");
    else if (!request->screens && !request->scanouts)
        util_explain(error, error_bytes, "adapter %u has no display that runs", adapter);
    else if (source >= port_display_modes(port)->sources)
        util_explain(error, error_bytes, "adapter %u has no video present source %u", adapter,
                     source);
    else
        return true;
    return false;
}

static enum dxgk_result perform(void (*task)(void *), struct pointer_request *request, char *error,
                                size_t error_bytes)
{
    const enum dxgk_result result = host_task_run("pointer", task, request);

    if (result == DXGK_OK)
        return request->refused ? DXGK_ERROR : DXGK_OK;
    util_explain(error, error_bytes,
                 result == DXGK_OUT_OF_MEMORY ? "out of memory" : "a bug check stopped the machine");
    return result;
}

static void shape_it(void *arg)
{
    struct pointer_request *request = arg;

    request->refused = request->screens
                           ? !screens_set_pointer(request->screens, request->shape, request->error,
                                                  request->error_bytes)
                           : !scanouts_set_pointer(request->scanouts, request->shape,
                                                   request->error, request->error_bytes);
}

static void move_it(void *arg)
{
    const struct pointer_request *request = arg;

    if (request->screens)
        screens_move_pointer(request->screens, &request->cursor);
    else
        scanouts_move_pointer(request->scanouts, &request->cursor);
}

DXGK_API enum dxgk_result dxgk_client_shape_pointer(unsigned adapter,
                                                    const struct dxgk_pointer_shape *shape,
                                                    char *error, size_t error_bytes)
{
    static const enum pointer_kind kinds[] = {[DXGK_POINTER_COLOR] = POINTER_COLOR,
                                              [DXGK_POINTER_MASKED_COLOR] = POINTER_MASKED_COLOR,
                                              [DXGK_POINTER_MONOCHROME] = POINTER_MONOCHROME};
    struct pointer_request request = {.shape = NULL};
    struct pointer_shape given;

    if (!find(&request, adapter, 0, error, error_bytes))
        return DXGK_ERROR;
    if (shape) {
        if ((unsigned)shape->kind > DXGK_POINTER_MONOCHROME) {
            util_explain(error, error_bytes, "there is no pointer of kind %u",
                         (unsigned)shape->kind);
            return DXGK_ERROR;
        }
        given = (struct pointer_shape){.kind = kinds[shape->kind],
                                       .width = shape->width,
                                       .height = shape->height,
                                       .pitch = shape->pitch,
                                       .hot_x = shape->hot_x,
                                       .hot_y = shape->hot_y,
                                       .pixels = (uint8_t *)(uintptr_t)shape->pixels};
        request.shape = &given;
    }
    return perform(shape_it, &request, error, error_bytes);
}

DXGK_API enum dxgk_result dxgk_client_move_pointer(unsigned adapter,
                                                   const struct dxgk_pointer *pointer, char *error,
                                                   size_t error_bytes)
{
    struct pointer_request request = {.cursor = {.source = pointer->source,
                                                 .x = pointer->x,
                                                 .y = pointer->y,
                                                 .visible = pointer->visible}};

    return find(&request, adapter, pointer->source, error, error_bytes)
               ? perform(move_it, &request, error, error_bytes)
               : DXGK_ERROR;
}
