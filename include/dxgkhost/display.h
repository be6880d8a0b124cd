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
    /* Of a wish: it is for this source on the output `target` (ChildUid), and refused where the
     * source is not seen there */
    bool on_target;
    uint32_t target;
};

struct dxgk_display {
    bool lit;     /* it has a path to a monitor, and a mode */
    bool visible; /* the driver was told to show it */
    struct dxgk_display_mode mode;
    uint32_t target;                      /* ChildUid of its output */
    uint32_t canvas_width, canvas_height; /* pixels as who draws sees them: after rotation */
    uint64_t frames;                      /* that were shown */
    /* Vertical syncs: reported by the driver; made up, of a display-only driver without VSync
     * control, for who waits for one; and made up where nobody reports one */
    uint64_t vsyncs_reported, vsyncs_simulated, vsyncs_substituted;
};
/* The display of a source as it is now. False: the machine has no such source; *display is zeroed. */
DXGK_API bool dxgk_machine_display(struct dxgk_machine *machine, unsigned adapter, unsigned source,
                                   struct dxgk_display *display);

/* Called by a client: give a source another mode, among those that driver and monitor have. On
 * failure the old one stays, and *error says why. */
DXGK_API enum dxgk_result dxgk_client_set_mode(unsigned adapter, unsigned source,
                                               const struct dxgk_display_mode *mode, char *error,
                                               size_t error_bytes);
/* One of the modes that a source can be given while the others keep theirs (VIDPN-205). */
struct dxgk_listed_mode {
    struct dxgk_display_mode mode; /* not turned */
    uint32_t target;               /* ChildUid of the output */
    unsigned turns;                /* bit n: it can be turned by n quarters */
};
/* Called by a client: the modes of a source, by output, size and rate; to be freed with free. None,
 * and *modes NULL: the source is dark. The driver is asked if something has changed since it was
 * asked last. */
DXGK_API enum dxgk_result dxgk_client_list_modes(unsigned adapter, unsigned source,
                                                 struct dxgk_listed_mode **modes, size_t *count,
                                                 char *error, size_t error_bytes);
/* Called by a client: turn the display on which the source is seen off, or on. */
DXGK_API enum dxgk_result dxgk_client_display_power(unsigned adapter, uint32_t target, bool on,
                                                    char *error, size_t error_bytes);

/* Called by a client: have all displays that are on show the same source, or each one of its own, as
 * at the start. Fails with the reason if the driver does not support it, and nothing changes. */
enum dxgk_topology { DXGK_TOPOLOGY_EXTEND, DXGK_TOPOLOGY_CLONE };
DXGK_API enum dxgk_result dxgk_client_set_topology(unsigned adapter, enum dxgk_topology topology,
                                                   char *error, size_t error_bytes);
/* Called by a client: drive an analog output although no monitor is known to be on it, or no more. */
DXGK_API enum dxgk_result dxgk_client_force_display(unsigned adapter, uint32_t target, bool on,
                                                    char *error, size_t error_bytes);

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

/* A part of a screen that moves: what stands `by_x` and `by_y` before it comes to this place. Parts
 * outside, or from outside, are left out. */
struct dxgk_scroll {
    int32_t x, y; /* the new place */
    uint32_t width, height;
    int32_t by_x, by_y; /* from the old place to the new one */
};
/* Called by a client: move a part of the image of a source of a display-only adapter, whose driver
 * moves it on the screen (or copies it, where the old place is not on the screen as it is in the
 * image), and return when it has. `settle` false: at once. */
DXGK_API enum dxgk_result dxgk_client_scroll(unsigned adapter, unsigned source,
                                             const struct dxgk_scroll *scroll, bool settle,
                                             char *error, size_t error_bytes);
/* Called by a client: have all of the image sent to the driver of a display-only adapter again, and
 * return when it is shown. */
DXGK_API enum dxgk_result dxgk_client_redraw(unsigned adapter, unsigned source, char *error,
                                             size_t error_bytes);

/* Called by a client: the entries of an adapter's driver that were called (by any thread) during the
 * last change of a mode, of a display's or the machine's power, or full redraw that a client has
 * asked for on it, successful or not. The `index`-th from 0; NULL: there are no more, or it is past
 * the first 256. Valid until the next such change. */
DXGK_API const char *dxgk_client_entry_called(unsigned adapter, size_t index);

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
    bool by_program; /* who moves it: a program, not a device */
};
/* Called by a client: give the pointer of an adapter another shape (NULL: none), or another place.
 * The driver's hardware shows it if it can, else it is drawn into the frames; of a full driver, into
 * pictures alone. */
DXGK_API enum dxgk_result dxgk_client_shape_pointer(unsigned adapter,
                                                    const struct dxgk_pointer_shape *shape,
                                                    char *error, size_t error_bytes);
DXGK_API enum dxgk_result dxgk_client_move_pointer(unsigned adapter,
                                                   const struct dxgk_pointer *pointer, char *error,
                                                   size_t error_bytes);

/* Surfaces that a full driver describes to the host in both of its calls
 * (DxgkDdiGetStandardAllocationDriverData), beside shared primaries. */
enum dxgk_surface_kind {
    DXGK_SURFACE_SHADOW,  /* of the size and format of the source's primary */
    DXGK_SURFACE_STAGING, /* 32 bits a pixel, as the rest */
    DXGK_SURFACE_GDI_TEXTURE,
    DXGK_SURFACE_GDI_STAGING_CPU_VISIBLE,
    DXGK_SURFACE_GDI_STAGING,
    DXGK_SURFACE_GDI_LOOKUP_TABLE,
    DXGK_SURFACE_GDI_EXISTING_SYSTEM_MEMORY,
};
struct dxgk_surface {
    enum dxgk_surface_kind kind;
    uint32_t width, height; /* not of a shadow */
    uint32_t pitch;         /* out: as the driver says; 0: it says nothing */
    uint64_t bytes;         /* out: of the allocation that it made */
};
/* Called by a client: have the driver describe and create such a surface, and destroy it again. On
 * failure *error says why. */
DXGK_API enum dxgk_result dxgk_client_try_surface(unsigned adapter, unsigned source,
                                                  struct dxgk_surface *surface, char *error,
                                                  size_t error_bytes);

/* What a screen shows: red, green and blue bytes, without gaps; to be freed. */
struct dxgk_picture {
    uint32_t width, height;
    uint8_t *rgb;      /* NULL: there is no signal */
    bool black;        /* the source is not visible, so the pixels are black */
    uint32_t checksum; /* CRC-32 over width, height and pixels; 0 without a signal */
    bool inferred;     /* the device model does not say what it scans out: it is the primary whose
                        * address the driver was given last */
    bool stale;        /* the device was removed: it is the last complete frame before that */
};
/* The screen as it is now: nothing runs for it, and no time passes. On failure *error says why. */
DXGK_API enum dxgk_result dxgk_machine_capture(struct dxgk_machine *machine, unsigned adapter,
                                               unsigned source, struct dxgk_picture *picture,
                                               char *error, size_t error_bytes);
/* The picture on a target: turned, and brought to the size of its signal, as the path of the source to
 * it says. No path goes to it: there is no signal. Fails for a scaling that is the driver's own. */
DXGK_API enum dxgk_result dxgk_machine_capture_target(struct dxgk_machine *machine, unsigned adapter,
                                                      uint32_t target, struct dxgk_picture *picture,
                                                      char *error, size_t error_bytes);
DXGK_API void dxgk_picture_free(struct dxgk_picture *picture);

/* A frame that was shown, for the hook `frame` of the configuration. */
struct dxgk_frame {
    unsigned adapter, source;
    uint64_t number; /* of the source, from 1 on */
    uint64_t virtual_ns;
    const char *cause; /* "present": pixels were drawn; "mode": all of it is shown anew; "flip":
                        * another primary of a full driver */
    /* What is new on the screen: left, top, right and bottom of each. */
    const int32_t (*rectangle)[4];
    size_t rectangles;
    struct dxgk_picture picture; /* of the screen afterwards; the host's. No rgb: `error` says why */
    const char *error;
};

#ifdef __cplusplus
}
#endif

#endif
