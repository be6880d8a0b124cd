/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "port/running/stale.h"
#include "modes/vidpn.h"
#include "port/record/adapter_record.h"
#include "util/alloc.h"

static struct port_scanout no_signal(struct port_scanout scanout)
{
    scanout.off = true;
    scanout.pixels = NULL;
    return scanout;
}

/* As a person sees it: what is not visible was black, and no signal stays none. */
static struct port_scanout copy(struct port_adapter *adapter, UINT source)
{
    const struct modes *modes = adapter->display.modes;
    struct port_scanout scanout = port_display_scanout(adapter, source);
    uint8_t *pixels;

    scanout.stale = true;
    if (!scanout.pixels || !vidpn_path_from(modes->active, source, 0))
        return no_signal(scanout);
    pixels = util_zalloc(scanout.bytes, 1);
    if (!pixels)
        return no_signal(scanout);
    if (modes->source[source].visible)
        memcpy(pixels, scanout.pixels, scanout.bytes);
    scanout.pixels = pixels;
    return scanout;
}

void port_display_keep(struct port_adapter *adapter)
{
    struct port_stale *stale;

    if (!adapter->display.modes || adapter->display.stale)
        return;
    stale = util_zalloc(1, sizeof(*stale));
    if (!stale)
        return;
    for (UINT i = 0; i < adapter->display.modes->sources; i++)
        stale->scanout[i] = copy(adapter, i);
    adapter->display.stale = stale;
}

void port_display_forget(struct port_adapter *adapter)
{
    struct port_stale *stale = adapter->display.stale;

    for (UINT i = 0; stale && i < MODES_MAX_SOURCES; i++)
        util_free((void *)(uintptr_t)stale->scanout[i].pixels);
    util_free(stale);
    adapter->display.stale = NULL;
}
