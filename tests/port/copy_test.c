/* SPDX-License-Identifier: MIT */
/* Copies and fills of clients: from D3DKMTPresent through DxgkDdiPresent and the GPU to the screen. */
#include "port/support/copies.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define V1                 DXGKDDI_INTERFACE_VERSION_WDDM1_3

static struct copies_client client;

static bool is_rect(const RECT *r, LONG left, LONG top, LONG right, LONG bottom)
{
    return r->left == left && r->top == top && r->right == right && r->bottom == bottom;
}

static void blt_and_fill(struct probe *p)
{
    D3DKMT_HANDLE surface;
    D3DKMT_PRESENT args;

    copies_begin(&client);
    surface = copies_surface(&client, 64, 32, 0x112233);
    args = copies_args(&client, surface);
    args.Flags.SrcRectValid = args.Flags.DstRectValid = 1;
    args.SrcRect = (RECT){0, 0, 64, 32};
    args.DstRect = (RECT){100, 200, 164, 232};
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    CHECK(copies_seen.presents == 1 && copies_seen.done == 1);
    CHECK_RULE("PRES-282", copies_pixel(p, 100, 200) == 0x112233 &&
                               copies_pixel(p, 163, 231) == 0x112233 &&
                               copies_pixel(p, 99, 200) == 0 && copies_pixel(p, 164, 231) == 0);
    CHECK(is_rect(&copies_last()->rect[0], 100, 200, 164, 232));
    args = copies_args(&client, 0);
    args.Color = 0xFF00FF00;
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    CHECK_RULE("PRES-093",
               copies_pixel(p, 0, 0) == 0xFF00FF00 && copies_pixel(p, 1023, 767) == 0xFF00FF00);
    copies_end(&client);
}

TEST(a_blt_and_a_fill_are_seen)
{
    copies_run(copies_create(V1), blt_and_fill);
}
