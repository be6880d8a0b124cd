/* SPDX-License-Identifier: MIT */
/*
 * Displays of a machine's adapters: what a user does with a screen, and what is seen on it.
 * Adapters are counted from 0 in the order of their start, the video present sources of an adapter
 * from 0, too.
 */
#ifndef DXGKHOST_DISPLAY_H
#define DXGKHOST_DISPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dxgkhost/dxgkhost.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dxgk_display_mode {
    uint32_t width, height;                /* pixels of the source, before rotation */
    uint32_t hz_numerator, hz_denominator; /* 0, 0: not known; of a wish: any */
    unsigned quarter_turns;                /* counter-clockwise, 0 to 3 */
};

struct dxgk_display {
    bool lit;     /* it has a path to a monitor, and a mode */
    bool visible; /* the driver was told to show it */
    struct dxgk_display_mode mode;
    uint32_t target;                      /* ChildUid of its output */
    uint32_t canvas_width, canvas_height; /* pixels as who draws sees them: after rotation */
    uint64_t frames;                      /* presents that are complete */
};
/* False: the machine has no such source; *display is zeroed. */
DXGK_API bool dxgk_machine_display(struct dxgk_machine *machine, unsigned adapter, unsigned source,
                                   struct dxgk_display *display);

/* Called by a client: another mode for a source, among those that driver and monitor have. On
 * failure the old one stays, and *error says why. */
DXGK_API enum dxgk_result dxgk_client_set_mode(unsigned adapter, unsigned source,
                                               const struct dxgk_display_mode *mode, char *error,
                                               size_t error_bytes);
/* Called by a client: turn the display on which the source is seen off, or on. */
DXGK_API enum dxgk_result dxgk_client_display_power(unsigned adapter, uint32_t target, bool on,
                                                    char *error, size_t error_bytes);

/* A monitor on an output of a device whose model has monitors that come and go. Its EDID is made of
 * a list of modes, or is given; or there are width and height alone, and the model makes it. */
struct dxgk_monitor {
    uint32_t width, height; /* that it prefers; 0, 0: as the modes or the EDID say */
    const char *modes;      /* "1920x1080@60,1024x768@59.94": the first is preferred; NULL: none */
    const void *edid;       /* NULL: none */
    size_t edid_bytes;      /* whole blocks of 128 */
    bool force;             /* the EDID is not checked */
};
/* Called by a client: a monitor is plugged in, or takes the place of the one that was there; NULL: it
 * is pulled out. Outputs are counted from 0 as the device has them. The driver learns it from its
 * device, in its own time. */
DXGK_API enum dxgk_result dxgk_client_plug_monitor(unsigned adapter, unsigned output,
                                                   const struct dxgk_monitor *monitor, char *error,
                                                   size_t error_bytes);

/* Pixels of 32 bits, 0xXXRRGGBB, for a place of a screen; what is outside of it is left out. */
struct dxgk_drawing {
    const void *pixels;
    size_t pitch; /* bytes from a line to the next */
    int32_t x, y;
    uint32_t width, height;
};
/* Called by a client: draw into the image of a source of a display-only adapter, and return when
 * the driver has shown it; `settle` false: at once. Virtual time passes. */
DXGK_API enum dxgk_result dxgk_client_draw(unsigned adapter, unsigned source,
                                           const struct dxgk_drawing *drawing, bool settle,
                                           char *error, size_t error_bytes);

/* The picture of a mouse pointer. */
enum dxgk_pointer_kind {
    DXGK_POINTER_COLOR,        /* 0xAARRGGBB, blended by its alpha */
    DXGK_POINTER_MASKED_COLOR, /* the same, whose highest byte is 0xFF: exclusive or, or 0: as it is */
    DXGK_POINTER_MONOCHROME, /* bits, the leftmost highest: an AND mask, and below it an XOR mask */
};
struct dxgk_pointer_shape {
    enum dxgk_pointer_kind kind;
    uint32_t width, height; /* of one mask */
    uint32_t pitch;         /* bytes from a line to the next */
    uint32_t hot_x, hot_y;
    const void *pixels;
};
struct dxgk_pointer {
    unsigned source;
    int32_t x, y; /* of the hot spot; brought inside the source */
    bool visible;
};
/* Called by a client: another shape for the pointer of a display-only adapter, NULL: none; and
 * another place. The driver's hardware shows it if it can, else it is drawn into the frames. */
DXGK_API enum dxgk_result dxgk_client_shape_pointer(unsigned adapter,
                                                    const struct dxgk_pointer_shape *shape,
                                                    char *error, size_t error_bytes);
DXGK_API enum dxgk_result dxgk_client_move_pointer(unsigned adapter,
                                                   const struct dxgk_pointer *pointer, char *error,
                                                   size_t error_bytes);

/* What a screen shows: red, green and blue bytes, without gaps; to be freed. */
struct dxgk_picture {
    uint32_t width, height;
    uint8_t *rgb;      /* NULL: there is no signal */
    bool black;        /* the source is not visible, so the pixels are black */
    uint32_t checksum; /* CRC-32 over width, height and pixels; 0 without a signal */
};
/* The screen as it is now: nothing runs for it, and no time passes. On failure *error says why. */
DXGK_API enum dxgk_result dxgk_machine_capture(struct dxgk_machine *machine, unsigned adapter,
                                               unsigned source, struct dxgk_picture *picture,
                                               char *error, size_t error_bytes);
DXGK_API void dxgk_picture_free(struct dxgk_picture *picture);

#ifdef __cplusplus
}
#endif

#endif
