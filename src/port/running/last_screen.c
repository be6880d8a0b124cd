/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "port/running/last_screen.h"
#include "bus/dma.h"
#include "ddi/entries_display.h"
#include "modes/modes.h"
#include "modes/vidpn.h"
#include "nt/base/status_name.h"
#include "port/record/adapter_record.h"
#include "port/record/machine.h"
#include "port/running/display.h"
#include "util/alloc.h"
#include "verify/verify.h"

#define BAND    16u /* lines of a block */
#define SCALE   2u  /* pixels of a dot */
#define GLYPH_W 5u
#define GLYPH_H 7u
#define LEFT    32u
#define TOP     32u
#define PAPER   0xFF000080u
#define INK     0xFFFFFFFFu

#define LEAST_WIDTH  640u /* PRES-047 */
#define LEAST_HEIGHT 480u

/* ---- the image ---- */

/* A line of a glyph: the highest of five bits is the leftmost dot. */
static const struct {
    char is;
    uint8_t line[GLYPH_H];
} glyphs[] = {
    {'0', {0x0E, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0E}},
    {'1', {0x04, 0x0C, 0x04, 0x04, 0x04, 0x04, 0x0E}},
    {'2', {0x0E, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1F}},
    {'3', {0x1F, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0E}},
    {'4', {0x02, 0x06, 0x0A, 0x12, 0x1F, 0x02, 0x02}},
    {'5', {0x1F, 0x10, 0x1E, 0x01, 0x01, 0x11, 0x0E}},
    {'6', {0x06, 0x08, 0x10, 0x1E, 0x11, 0x11, 0x0E}},
    {'7', {0x1F, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08}},
    {'8', {0x0E, 0x11, 0x11, 0x0E, 0x11, 0x11, 0x0E}},
    {'9', {0x0E, 0x11, 0x11, 0x0F, 0x01, 0x02, 0x0C}},
    {'A', {0x0E, 0x11, 0x11, 0x1F, 0x11, 0x11, 0x11}},
    {'B', {0x1E, 0x11, 0x11, 0x1E, 0x11, 0x11, 0x1E}},
    {'C', {0x0E, 0x11, 0x10, 0x10, 0x10, 0x11, 0x0E}},
    {'D', {0x1E, 0x11, 0x11, 0x11, 0x11, 0x11, 0x1E}},
    {'E', {0x1F, 0x10, 0x10, 0x1E, 0x10, 0x10, 0x1F}},
    {'F', {0x1F, 0x10, 0x10, 0x1E, 0x10, 0x10, 0x10}},
    {'O', {0x0E, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0E}},
    {'P', {0x1E, 0x11, 0x11, 0x1E, 0x10, 0x10, 0x10}},
    {'S', {0x0F, 0x10, 0x10, 0x0E, 0x01, 0x01, 0x1E}},
    {'T', {0x1F, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04}},
    {'x', {0x00, 0x00, 0x11, 0x0A, 0x04, 0x0A, 0x11}},
};

/* "STOP 0x...", with the top byte of each pixel 0xFF (PRES-050). */
static uint32_t pixel_of(const char *text, UINT x, UINT y)
{
    const UINT column = (x - LEFT) / (SCALE * (GLYPH_W + 1)), line = (y - TOP) / SCALE;
    const UINT dot = (x - LEFT) / SCALE % (GLYPH_W + 1);

    if (x < LEFT || y < TOP || line >= GLYPH_H || dot >= GLYPH_W || column >= strlen(text))
        return PAPER;
    for (size_t i = 0; i < sizeof(glyphs) / sizeof(glyphs[0]); i++)
        if (glyphs[i].is == text[column])
            return glyphs[i].line[line] >> (GLYPH_W - 1 - dot) & 1 ? INK : PAPER;
    return PAPER;
}

/* ---- the driver ---- */

/* PRES-045, PRES-046: what the last commit has lit. */
static UINT lit_target(const struct port_adapter *adapter)
{
    const struct modes *modes = adapter->display.modes;

    return modes && modes->active->paths ? modes_lit_target(modes) : D3DDDI_ID_UNINITIALIZED;
}

/* What the driver has done so far. */
struct doings {
    uint64_t dma;
    size_t records;
};

static struct doings doings_of(const struct port_adapter *adapter)
{
    return (struct doings){.dma = bus_device_dma_bytes(adapter->device),
                           .records = verify_records(verify_current)};
}

/* PRES-051: a kernel service that waits, or gives memory, at this level is reported as that. What
 * stops the machine once more is told in ddi/place.c. */
static void judge(const struct port_adapter *adapter, const struct doings *before, const char *name)
{
    const struct doings now = doings_of(adapter);

    if (now.dma != before->dma)
        VIOLATION("PRES-051",
                  "%s had the device read or write memory; it is to draw with the processor alone",
                  name);
    for (size_t i = before->records; i < now.records; i++) {
        const struct verify_record *record = verify_record_at(verify_current, i);

        if (record->severity >= VERIFY_ERROR && strncmp(record->rule, "NT-", 3) == 0)
            VIOLATION("PRES-051", "%s is to draw with the processor alone, not: %s", name,
                      record->seen);
    }
}

static bool enable(struct port_adapter *adapter, struct ddi_system_display *screen)
{
    const struct doings before = doings_of(adapter);
    NTSTATUS status;

    memset(screen, 0, sizeof(*screen));
    status = ddi_system_display_enable(&adapter->ddi, lit_target(adapter), screen);
    judge(adapter, &before, "DxgkDdiSystemDisplayEnable");
    if (!NT_SUCCESS(status)) {
        if (status != STATUS_NOT_SUPPORTED)
            NOTE("PRES-045", "DxgkDdiSystemDisplayEnable returned %s", nt_status_text(status).text);
        return false;
    }
    if (screen->width >= LEAST_WIDTH && screen->height >= LEAST_HEIGHT &&
        (screen->format == D3DDDIFMT_X8R8G8B8 || screen->format == D3DDDIFMT_A8R8G8B8 ||
         screen->format == D3DDDIFMT_R8G8B8))
        return true;
    VIOLATION("PRES-047", "DxgkDdiSystemDisplayEnable gives a screen of %u x %u in format %d",
              screen->width, screen->height, (int)screen->format);
    return false;
}

static void write_all(struct port_adapter *adapter, const struct ddi_system_display *screen,
                      const char *text, uint32_t *block)
{
    const struct doings before = doings_of(adapter);

    for (UINT top = 0; top < screen->height; top += BAND) {
        const UINT lines = screen->height - top < BAND ? screen->height - top : BAND;

        for (UINT y = 0; y < lines; y++)
            for (UINT x = 0; x < screen->width; x++)
                block[(size_t)y * screen->width + x] = pixel_of(text, x, top + y);
        ddi_system_display_write(&adapter->ddi, block, screen->width, lines, top);
    }
    judge(adapter, &before, "DxgkDdiSystemDisplayWrite");
}

/* 0: the format has other color bits than the image. */
static unsigned pixel_bytes(D3DDDIFORMAT format)
{
    switch ((int)format) {
    case D3DDDIFMT_X8R8G8B8:
    case D3DDDIFMT_A8R8G8B8:
        return 4;
    case D3DDDIFMT_R8G8B8:
        return 3;
    default:
        return 0;
    }
}

/* PRES-052 */
static void compare(struct port_adapter *adapter, const struct ddi_system_display *screen,
                    const char *text)
{
    const struct port_scanout shown = port_display_scanout(adapter, 0);
    const unsigned bytes = pixel_bytes(shown.format);
    unsigned differ = 0, first_x = 0, first_y = 0;

    if (!shown.pixels || shown.width != screen->width || shown.height != screen->height || !bytes)
        return;
    for (UINT y = 0; y < shown.height; y++)
        for (UINT x = 0; x < shown.width; x++) {
            uint32_t pixel = 0;

            memcpy(&pixel, shown.pixels + (size_t)y * shown.pitch + (size_t)x * bytes, bytes);
            if (!((pixel ^ pixel_of(text, x, y)) & 0xFFFFFF))
                continue;
            first_x = differ ? first_x : x;
            first_y = differ ? first_y : y;
            differ++;
        }
    if (differ)
        WARNING("PRES-052",
                "%u pixels of the screen of the bug check are others than were written, the first "
                "at %u, %u",
                differ, first_x, first_y);
}

/* At HIGH_LEVEL, while nothing else runs. False: the driver gives no screen. */
static bool draw(struct ddi_adapter *ddi, const struct verify_bugcheck *bugcheck)
{
    struct port_adapter *adapter = port_adapter_of_ddi(ddi);
    struct ddi_system_display screen;
    uint32_t *block;
    char text[24];

    if (!ddi_has(ddi, DxgkDdiSystemDisplayEnable) || !ddi_has(ddi, DxgkDdiSystemDisplayWrite) ||
        !enable(adapter, &screen))
        return false;
    block = util_alloc((size_t)screen.width * BAND * sizeof(*block));
    if (!block)
        return false;
    snprintf(text, sizeof(text), "STOP 0x%08X", bugcheck->code);
    write_all(adapter, &screen, text, block);
    util_free(block);
    compare(adapter, &screen, text);
    return true;
}

void port_last_screen_begin(struct port_adapter *adapter)
{
    if (adapter->port->config.reset_device && adapter->post.bytes)
        ddi_set_screen(&adapter->ddi, draw);
}

void port_last_screen_end(struct port_adapter *adapter)
{
    if (adapter->port->config.reset_device && adapter->post.bytes)
        ddi_set_screen(&adapter->ddi, NULL);
}
