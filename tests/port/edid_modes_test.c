/* SPDX-License-Identifier: MIT */
/* The modes of a monitor, as a driver reads them, from the descriptor that the driver gave. */
#include "port/support/display.h"
#include "support/test.h"

#include <string.h>

static uint8_t edid[2][128];

static void sum_up(uint8_t *block)
{
    uint8_t sum = 0;

    for (unsigned i = 0; i < 127; i++)
        sum = (uint8_t)(sum + block[i]);
    block[127] = (uint8_t)-sum;
}

/* 148.5 MHz, 1920 of 2200 pixels, 1080 of 1125 lines. */
static const uint8_t full_hd[18] = {0x02, 0x3A, 0x80, 0x18, 0x71, 0x38, 0x2D, 0x40, 0x58,
                                    0x2C, 0x45, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1E};
/* 533.25 MHz, 3840 of 4000 pixels, 2160 of 2222 lines. */
static const uint8_t wide[18] = {0x4D, 0xD0, 0x00, 0xA0, 0xF0, 0x70, 0x3E, 0x80, 0x30,
                                 0x20, 0x35, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1A};
/* 74.25 MHz, 1920 of 2200 pixels, two fields of 540 lines, 562.5 in all. */
static const uint8_t fields[18] = {0x01, 0x1D, 0x80, 0x18, 0x71, 0x1C, 0x16, 0x20, 0x58,
                                   0x2C, 0x25, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x9E};
/* Of 63 pixels. */
static const uint8_t narrow[18] = {0x64, 0x19, 0x3F, 0x40, 0x01, 0x00, 0x26, 0x30, 0x18,
                                   0x88, 0x36, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x18};

static void make_edid(uint8_t revision)
{
    static const uint8_t header[8] = {0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0};

    memset(edid, 0, sizeof(edid));
    memcpy(edid[0], header, sizeof(header));
    edid[0][18] = 1;
    edid[0][19] = 4;
    edid[0][35] = 0x21; /* 640 x 480 and 800 x 600 at 60 Hz */
    edid[0][36] = 0x08; /* 1024 x 768 at 60 Hz */
    memset(edid[0] + 38, 1, 16);
    edid[0][38] = 0x81; /* 1280 x 1024 at 60 Hz */
    edid[0][39] = 0x80;
    edid[0][40] = 0x45; /* 800 x 600 at 60 Hz, once more */
    edid[0][41] = 0x40;
    memcpy(edid[0] + 54, full_hd, 18);
    memcpy(edid[0] + 72, narrow, 18);
    edid[0][90 + 3] = 0x10;
    edid[0][108 + 3] = 0x10;
    edid[0][126] = 1;
    edid[1][0] = 2;
    edid[1][1] = revision;
    edid[1][2] = 8;    /* where the detailed timings begin */
    edid[1][4] = 0x43; /* three video codes: */
    edid[1][5] = 4;    /* 1280 x 720 at 60 Hz */
    edid[1][6] = 16;   /* 1920 x 1080 at 60 Hz, which is there already */
    edid[1][7] = 102;  /* 4096 x 2160 at 60 Hz: too wide for a code */
    memcpy(edid[1] + 8, wide, 18);
    memcpy(edid[1] + 26, fields, 18);
    sum_up(edid[0]);
    sum_up(edid[1]);
}

static void answer(struct probe *p, struct probe_call *call)
{
    const DXGK_DEVICE_DESCRIPTOR *d = (const DXGK_DEVICE_DESCRIPTOR *)(uintptr_t)call->arg[2];

    (void)p;
    call->answered = true;
    call->result = STATUS_SUCCESS;
    memcpy(d->DescriptorBuffer, edid[d->DescriptorOffset / 128], 128);
}

/* ---- the list ---- */

struct wanted {
    UINT cx, cy, total_x, total_y, vsync[2], hsync[2];
    SIZE_T rate;
    D3DKMDT_VIDEO_SIGNAL_STANDARD standard;
};

static const struct wanted golden[] = {
    {1920, 1080, 2200, 1125, {60, 1}, {67500, 1}, 148500000, D3DKMDT_VSS_OTHER},
    {640, 480, 800, 525, {5035, 84}, {125875, 4}, 25175000, D3DKMDT_VSS_VESA_DMT},
    {800, 600, 1056, 628, {312500, 5181}, {1250000, 33}, 40000000, D3DKMDT_VSS_VESA_DMT},
    {1024, 768, 1344, 806, {78125, 1302}, {1015625, 21}, 65000000, D3DKMDT_VSS_VESA_DMT},
    {1280, 1024, 1688, 1066, {6750000, 112463}, {13500000, 211}, 108000000, D3DKMDT_VSS_VESA_DMT},
    {3840, 2160, 4000, 2222, {266625, 4444}, {266625, 2}, 533250000, D3DKMDT_VSS_OTHER},
    {1920, 1080, 2200, 1125, {60, 1}, {33750, 1}, 74250000, D3DKMDT_VSS_OTHER},
    {1280, 720, 1650, 750, {60, 1}, {45000, 1}, 74250000, D3DKMDT_VSS_EIA_861B},
};
enum { GOLDEN = sizeof(golden) / sizeof(golden[0]) };

static unsigned listed;
static D3DKMDT_MONITOR_SOURCE_MODE list[32];

static void read_modes(struct probe *p)
{
    const HANDLE adapter = p->state[0].dxgk.DeviceHandle;
    const DXGK_MONITORSOURCEMODESET_INTERFACE *table;
    const DXGK_MONITOR_INTERFACE *m = NULL;
    const D3DKMDT_MONITOR_SOURCE_MODE *mode = NULL, *next;
    D3DKMDT_HMONITORSOURCEMODESET set;

    CHECK(p->state[0].dxgk.DxgkCbQueryMonitorInterface(adapter, DXGK_MONITOR_INTERFACE_VERSION_V1,
                                                       &m) == STATUS_SUCCESS &&
          m->pfnAcquireMonitorSourceModeSet(adapter, DISPLAY_CHILD, &set, &table) == STATUS_SUCCESS &&
          table->pfnAcquireFirstModeInfo(set, &mode) == STATUS_SUCCESS);
    for (listed = 0; mode && listed < 32; listed++) {
        list[listed] = *mode;
        next = NULL;
        (void)table->pfnAcquireNextModeInfo(set, mode, &next);
        CHECK(table->pfnReleaseModeInfo(set, mode) == STATUS_SUCCESS);
        mode = next;
    }
    CHECK(m->pfnReleaseMonitorSourceModeSet(adapter, set) == STATUS_SUCCESS);
}

static bool ratio_is(const D3DDDI_RATIONAL *ratio, const UINT wanted[2])
{
    return ratio->Numerator == wanted[0] && ratio->Denominator == wanted[1];
}

static bool is_interlaced(const D3DKMDT_VIDEO_SIGNAL_INFO *s)
{
    return s->ScanLineOrdering == D3DDDI_VSSLO_INTERLACED_UPPERFIELDFIRST ||
           s->ScanLineOrdering == D3DDDI_VSSLO_INTERLACED_LOWERFIELDFIRST;
}

/* How many of the list are so. */
static unsigned count(const struct wanted *w)
{
    unsigned found = 0;

    for (unsigned i = 0; i < listed; i++) {
        const D3DKMDT_VIDEO_SIGNAL_INFO *s = &list[i].VideoSignalInfo;

        found += s->ActiveSize.cx == w->cx && s->ActiveSize.cy == w->cy &&
                 s->TotalSize.cx == w->total_x && s->TotalSize.cy == w->total_y &&
                 ratio_is(&s->VSyncFreq, w->vsync) && ratio_is(&s->HSyncFreq, w->hsync) &&
                 s->PixelRate == w->rate && s->VideoStandard == w->standard &&
                 is_interlaced(s) == (w->hsync[0] == 33750);
    }
    return found;
}

static void check_list(struct probe *p)
{
    read_modes(p);
    CHECK_RULE("DISP-104", listed == GOLDEN);
    for (unsigned i = 0; i < GOLDEN; i++)
        CHECK_RULE("DISP-105", count(&golden[i]) == 1);
    for (unsigned i = 0; i < listed; i++)
        CHECK_RULE("DISP-104", (list[i].Preference == D3DKMDT_MP_PREFERRED) ==
                                       (list[i].VideoSignalInfo.ActiveSize.cx == 1920 &&
                                        list[i].VideoSignalInfo.PixelRate == 148500000) &&
                                   list[i].Preference != D3DKMDT_MP_UNINITIALIZED);
}

static void check_old_extension(struct probe *p)
{
    read_modes(p);
    CHECK_RULE("DISP-104", listed == GOLDEN - 1 && count(&golden[GOLDEN - 1]) == 0 &&
                               count(&golden[5]) == 1); /* detailed timings, but no codes */
}

static void run(uint8_t revision, void (*body)(struct probe *p))
{
    struct probe *p = display_create(NULL);

    make_edid(revision);
    p->before[PROBE_QueryDeviceDescriptor] = answer;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, body);
}

TEST(a_list_from_a_descriptor)
{
    run(3, check_list);
}

TEST(codes_come_with_revision_3)
{
    run(2, check_old_extension);
}
