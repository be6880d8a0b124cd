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

/* A task finds the adapter itself, which may be stopped before it begins. */
struct pointer_request {
    struct dxgk_machine *machine;
    unsigned adapter;
    const struct pointer_shape *shape; /* NULL: none */
    struct screens_cursor cursor;
    bool refused;
    char *error;
    size_t error_bytes;
};

/* False: with a reason. */
static bool check(struct pointer_request *request, unsigned adapter, unsigned source, char *error,
                  size_t error_bytes)
{
    struct dxgk_machine *machine = host_run_client_machine();
    const struct port_adapter *port = NULL;
    const struct modes *modes = NULL;

    if (machine && host_may_look(machine))
        port = host_display_adapter(machine, adapter);
    if (port)
        modes = port_display_modes(port);
    request->machine = machine;
    request->adapter = adapter;
    request->error = error;
    request->error_bytes = error_bytes;
    if (!machine)
        util_explain(error, error_bytes, "not a client's thread");
    else if (!modes)
        util_explain(error, error_bytes, "adapter %u has no display that runs", adapter);
    else if (source >= modes->sources)
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

/* Of a display-only driver, or of a full one; both NULL: it is stopped. */
static void find(struct pointer_request *request, struct screens **screens,
                 struct scanouts **scanouts)
{
    const struct port_adapter *port = host_display_adapter(request->machine, request->adapter);

    *screens = port ? port_display_screens(port) : NULL;
    *scanouts = port ? port_display_scanouts(port) : NULL;
    request->refused = !*screens && !*scanouts;
    if (request->refused)
        util_explain(request->error, request->error_bytes, "adapter %u was stopped",
                     request->adapter);
}

static void shape_it(void *arg)
{
    struct pointer_request *request = arg;
    struct scanouts *scanouts;
    struct screens *screens;

    find(request, &screens, &scanouts);
    if (request->refused)
        return;
    request->refused = screens ? !screens_set_pointer(screens, request->shape, request->error,
                                                      request->error_bytes)
                               : !scanouts_set_pointer(scanouts, request->shape, request->error,
                                                       request->error_bytes);
}

static void move_it(void *arg)
{
    struct pointer_request *request = arg;
    struct scanouts *scanouts;
    struct screens *screens;

    find(request, &screens, &scanouts);
    if (screens)
        screens_move_pointer(screens, &request->cursor);
    else if (scanouts)
        scanouts_move_pointer(scanouts, &request->cursor);
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

    if (!check(&request, adapter, 0, error, error_bytes))
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
                                                 .visible = pointer->visible,
                                                 .by_program = pointer->by_program}};

    return check(&request, adapter, pointer->source, error, error_bytes)
               ? perform(move_it, &request, error, error_bytes)
               : DXGK_ERROR;
}
