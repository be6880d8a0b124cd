/* SPDX-License-Identifier: MIT */
/* Pictures of screens: of a source, and of what its path makes of it on a target (PRES-311). */
#include <stdlib.h>
#include <string.h>

#include "dxgkhost/display.h"
#include "host/display.h"
#include "host/enter.h"
#include "host/machine_record.h"
#include "modes/mode_check.h"
#include "modes/modes.h"
#include "modes/vidpn.h"
#include "port/running/display.h"
#include "port/running/post.h"
#include "screens/picture.h"
#include "screens/picture_format.h"
#include "screens/picture_turn.h"
#include "screens/scanout_pointer.h"
#include "screens/scanouts.h"
#include "util/explain.h"

/* ---- a source ---- */

static bool convert(const struct port_scanout *scanout, struct picture *picture, char *error,
                    size_t error_bytes)
{
    const struct picture_memory memory = {.bytes = scanout->pixels,
                                          .size = scanout->bytes,
                                          .pitch = scanout->pitch,
                                          .width = scanout->width,
                                          .height = scanout->height,
                                          .format = scanout->format};

    return picture_from_memory(picture, &memory, error, error_bytes);
}

/* No picture: there is no signal. */
static bool take(struct port_adapter *port, unsigned source, const struct port_scanout *scanout,
                 bool black, struct picture *picture, char *error, size_t error_bytes)
{
    if (scanout->off)
        return true;
    if (!scanout->pixels) {
        util_explain(error, error_bytes,
                     "nothing says what source %u scans out: the driver has not acquired the frame "
                     "buffer of the firmware, or it is not of this source",
                     source);
        return false;
    }
    if (!black) {
        if (!convert(scanout, picture, error, error_bytes))
            return false;
        if (port_display_scanouts(port) && !scanout->stale) /* PRES-227 */
            scanouts_draw_pointer(port_display_scanouts(port), source, picture);
        return true;
    }
    if (picture_make_black(picture, scanout->width, scanout->height))
        return true;
    util_explain(error, error_bytes, "out of memory");
    return false;
}

/* What a source shows, with flags beside it (PRES-316). No rows: there is no signal. */
struct taken {
    struct picture picture;
    bool black, inferred, stale;
};

static bool take_source(struct port_adapter *port, unsigned source, struct taken *taken,
                        char *error, size_t error_bytes)
{
    const struct modes *modes = port_display_modes(port);
    struct port_scanout scanout;
    struct dxgk_display display;

    memset(taken, 0, sizeof(*taken));
    memset(&display, 0, sizeof(display));
    host_display_describe(modes, modes->active, source, &display);
    scanout = port_display_scanout(port, source);
    taken->stale = scanout.stale; /* PRES-054 */
    if (!display.lit && !scanout.stale)
        return true;
    taken->black = !scanout.stale && !display.visible;
    if (!take(port, source, &scanout, taken->black, &taken->picture, error, error_bytes))
        return false;
    taken->inferred = taken->picture.rows && scanout.inferred;
    taken->black &= taken->picture.rows != NULL;
    return true;
}

/* ---- a target ---- */

/* A full driver's hardware scans the source out, and turns it on its way; of a display-only driver
 * what is scanned out has been turned. */
static bool turn(const struct port_adapter *port, const D3DKMDT_VIDPN_PRESENT_PATH *path,
                 struct picture *picture)
{
    const UINT quarters = ((UINT)path->ContentTransformation.Rotation - D3DKMDT_VPPR_IDENTITY) % 4;
    struct picture turned;

    if (!port_display_scanouts(port) || !quarters)
        return true;
    if (!picture_turn(&turned, picture, quarters))
        return false;
    picture_free(picture);
    *picture = turned;
    return true;
}

static bool scale(const struct modes *modes, const D3DKMDT_VIDPN_PRESENT_PATH *path,
                  struct picture *picture, char *error, size_t error_bytes)
{
    const union mode *mode = mode_set_pinned(*vidpn_target_set(modes->active, path->VidPnTargetId));
    const D3DKMDT_VIDEO_SIGNAL_INFO *signal = mode ? &mode->target.VideoSignalInfo : NULL;
    struct picture scaled;

    if (!signal || mode_follows_source(signal) ||
        (signal->ActiveSize.cx == picture->width && signal->ActiveSize.cy == picture->height))
        return true;
    if (!picture_scale(&scaled, picture, signal->ActiveSize.cx, signal->ActiveSize.cy,
                       path->ContentTransformation.Scaling, error, error_bytes))
        return false;
    picture_free(picture);
    *picture = scaled;
    return true;
}

static bool bring_to_target(const struct port_adapter *port, const D3DKMDT_VIDPN_PRESENT_PATH *path,
                            struct picture *picture, char *error, size_t error_bytes)
{
    if (turn(port, path, picture))
        return scale(port_display_modes(port), path, picture, error, error_bytes);
    util_explain(error, error_bytes, "out of memory");
    return false;
}

/* ---- for who asks ---- */

static enum dxgk_result hand_out(const struct taken *taken, struct dxgk_picture *picture,
                                 char *error, size_t error_bytes)
{
    const size_t bytes = (size_t)taken->picture.width * taken->picture.height * 3;

    picture->stale = taken->stale;
    if (!taken->picture.rows)
        return DXGK_OK;
    picture->width = taken->picture.width;
    picture->height = taken->picture.height;
    picture->black = taken->black;
    picture->inferred = taken->inferred;
    picture->checksum = picture_checksum(&taken->picture);
    picture->rgb = malloc(bytes);
    if (picture->rgb) {
        memcpy(picture->rgb, taken->picture.rows, bytes);
        return DXGK_OK;
    }
    util_explain(error, error_bytes, "out of memory");
    return DXGK_OUT_OF_MEMORY;
}

/* PRES-026: what firmware had lit, if no driver has the screen. False: there is nothing. */
static bool take_left(const struct dxgk_machine *machine, struct dxgk_picture *picture)
{
    DXGK_DISPLAY_INFORMATION info;
    const uint8_t *pixels = machine && host_may_look(machine) ? port_post_left(machine->port, &info)
                                                              : NULL;
    struct taken taken = {.black = false};
    char error[80];
    bool done;

    if (!pixels)
        return false;
    done = convert(&(struct port_scanout){.pixels = pixels,
                                          .bytes = (uint64_t)info.Pitch * info.Height,
                                          .pitch = info.Pitch,
                                          .width = info.Width,
                                          .height = info.Height,
                                          .format = info.ColorFormat},
                   &taken.picture, error, sizeof(error)) &&
           hand_out(&taken, picture, error, sizeof(error)) == DXGK_OK;
    picture_free(&taken.picture);
    return done;
}

enum dxgk_result host_display_capture(struct port_adapter *port, unsigned source,
                                      struct dxgk_picture *picture, char *error, size_t error_bytes)
{
    struct taken taken;
    enum dxgk_result result = DXGK_ERROR;

    memset(picture, 0, sizeof(*picture));
    if (take_source(port, source, &taken, error, error_bytes))
        result = hand_out(&taken, picture, error, error_bytes);
    picture_free(&taken.picture);
    return result;
}

DXGK_API enum dxgk_result dxgk_machine_capture(struct dxgk_machine *machine, unsigned adapter,
                                               unsigned source, struct dxgk_picture *picture,
                                               char *error, size_t error_bytes)
{
    memset(picture, 0, sizeof(*picture));
    if (!host_display_modes(machine, adapter, source, error, error_bytes))
        return !adapter && !source && take_left(machine, picture) ? DXGK_OK : DXGK_ERROR;
    return host_display_capture(host_display_adapter(machine, adapter), source, picture, error,
                                error_bytes);
}

DXGK_API enum dxgk_result dxgk_machine_capture_target(struct dxgk_machine *machine, unsigned adapter,
                                                      uint32_t target, struct dxgk_picture *picture,
                                                      char *error, size_t error_bytes)
{
    const struct modes *modes = host_display_modes(machine, adapter, 0, error, error_bytes);
    const D3DKMDT_VIDPN_PRESENT_PATH *path;
    enum dxgk_result result = DXGK_ERROR;
    struct port_adapter *port;
    struct taken taken;

    memset(picture, 0, sizeof(*picture));
    if (!modes)
        return DXGK_ERROR;
    if (!modes_target(modes, target)) {
        util_explain(error, error_bytes, "adapter %u has no target 0x%x", adapter, target);
        return DXGK_ERROR;
    }
    path = vidpn_path_to(modes->active, target);
    if (!path)
        return DXGK_OK;
    port = host_display_adapter(machine, adapter);
    if (take_source(port, path->VidPnSourceId, &taken, error, error_bytes) &&
        (!taken.picture.rows || bring_to_target(port, path, &taken.picture, error, error_bytes)))
        result = hand_out(&taken, picture, error, error_bytes);
    picture_free(&taken.picture);
    return result;
}

DXGK_API void dxgk_picture_free(struct dxgk_picture *picture)
{
    free(picture->rgb);
    memset(picture, 0, sizeof(*picture));
}
