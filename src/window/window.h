/* SPDX-License-Identifier: MIT */
/*
 * A window that shows a picture and tells which keys were pressed. It is a module of its own, which
 * the program loads when a run is to be watched, so that nothing else needs SDL. All functions but
 * the window's own thread return at once.
 */
#ifndef DXGK_WINDOW_WINDOW_H
#define DXGK_WINDOW_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#define WINDOW_MODULE "libdxgkhost-window.so"
#define WINDOW_SYMBOL "dxgkhost_window"

struct window;

/* What window_functions.key returns: a character, or one of these. */
enum window_key {
    WINDOW_NO_KEY = 0,
    WINDOW_TAB = '\t',
    WINDOW_CLOSED = 0x100, /* by its button, or by Escape */
};

struct window_functions {
    /* NULL: `why` says why there is none. */
    struct window *(*open)(char *why, size_t why_bytes);
    /* Red, green and blue bytes without gaps, copied; NULL: nothing is shown. The window takes the
     * size of the picture when that changes. */
    void (*show)(struct window *window, uint32_t width, uint32_t height, const uint8_t *rgb);
    void (*title)(struct window *window, const char *title);
    /* The oldest key press that was not told yet. */
    int (*key)(struct window *window);
    void (*close)(struct window *window);
};

#endif
