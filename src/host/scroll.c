/* SPDX-License-Identifier: MIT */
/* Parts of a screen that move, and all of it once more, as a client asks for it. */
#include "dxgkhost/display.h"
#include "host/called.h"
#include "host/display.h"
#include "host/run.h"
#include "host/task.h"
#include "port/running/display.h"
#include "screens/screens.h"

#define FAR (INT32_MAX / 2)

/* The adapter may be stopped before the task begins: it finds it itself. */
struct scroll_request {
    struct dxgk_machine *machine;
    unsigned adapter, source;
    const struct dxgk_scroll *scroll; /* NULL: all of it is sent anew */
    bool settle, shown;
    NTSTATUS failure; /* of the driver's present */
};

static struct screens *screens_of(const struct scroll_request *request)
{
    const struct port_adapter *port = host_display_adapter(request->machine, request->adapter);

    return port ? port_display_screens(port) : NULL;
}

static void change(struct screens *screens, const struct scroll_request *request)
{
    const struct dxgk_scroll *scroll = request->scroll;
    RECT to;

    if (!scroll) {
        screens_redraw(screens, request->source);
        return;
    }
    to = (RECT){scroll->x, scroll->y, scroll->x + (LONG)scroll->width,
                scroll->y + (LONG)scroll->height};
    screens_move(screens, request->source, &to, (POINT){scroll->by_x, scroll->by_y});
}

static void perform(void *arg)
{
    struct scroll_request *request = arg;
    struct screens *screens = screens_of(request);
    struct screens_image image;

    request->shown = screens && screens_draw(screens, request->source, &image);
    if (!request->shown)
        return;
    change(screens, request);
    if (request->settle)
        request->shown = screens_settle(screens, request->source);
    if (!request->shown)
        request->failure = screens_failure(screens, request->source);
}

static enum dxgk_result run(struct scroll_request *request, const char *what, char *error,
                            size_t error_bytes)
{
    enum dxgk_result result;

    if (!host_display_modes(request->machine, request->adapter, request->source, error, error_bytes))
        return DXGK_ERROR;
    if (!screens_of(request))
        return host_display_result(DXGK_OK, STATUS_NOT_SUPPORTED, what,
                                   "the host draws on display-only adapters alone", error,
                                   error_bytes);
    host_called_begin(request->machine, request->adapter);
    result = host_task_run("draw", perform, request);
    host_called_end(request->machine, request->adapter);
    if (request->failure)
        return host_display_result(result, request->failure, what, "the driver failed the present",
                                   error, error_bytes);
    return host_display_result(
        result, request->shown ? STATUS_SUCCESS : STATUS_GRAPHICS_PRESENT_OCCLUDED, what,
        "the source shows nothing, because it is dark", error, error_bytes);
}

static bool is_far(const struct dxgk_scroll *s)
{
    return s->width > FAR || s->height > FAR || s->x > FAR || s->x < -FAR || s->y > FAR ||
           s->y < -FAR || s->by_x > FAR || s->by_x < -FAR || s->by_y > FAR || s->by_y < -FAR;
}

DXGK_API enum dxgk_result dxgk_client_scroll(unsigned adapter, unsigned source,
                                             const struct dxgk_scroll *scroll, bool settle,
                                             char *error, size_t error_bytes)
{
    static const char what[] = "what has moved is not on the screen";
    struct scroll_request request = {.machine = host_run_client_machine(),
                                     .adapter = adapter,
                                     .source = source,
                                     .scroll = scroll,
                                     .settle = settle};

    return is_far(scroll) ? host_display_result(DXGK_OK, STATUS_INVALID_PARAMETER, what,
                                                "it is out of all bounds", error, error_bytes)
                          : run(&request, what, error, error_bytes);
}

DXGK_API enum dxgk_result dxgk_client_redraw(unsigned adapter, unsigned source, char *error,
                                             size_t error_bytes)
{
    struct scroll_request request = {
        .machine = host_run_client_machine(), .adapter = adapter, .source = source, .settle = true};

    return run(&request, "the screen was not drawn again", error, error_bytes);
}
