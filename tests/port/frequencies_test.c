/* SPDX-License-Identifier: MIT */
/* Frequencies of target modes, with VSync control and without. */
#include "port/support/presents.h"
#include "support/test.h"

/* Member 0 to 2 is given, or is not; as bits of `given`. */
static struct probe *with(bool control, unsigned given)
{
    static const enum probe_ddi entries[] = {PROBE_ControlInterrupt, PROBE_GetScanLine};
    struct probe *p = display_create(NULL);
    D3DKMDT_VIDEO_SIGNAL_INFO *signal = &display.target_mode[0].VideoSignalInfo;

    if (given & 1)
        signal->VSyncFreq = (D3DDDI_RATIONAL){60, 1};
    if (given & 2)
        signal->HSyncFreq = (D3DDDI_RATIONAL){60 * 768, 1};
    if (given & 4)
        signal->PixelRate = (SIZE_T)60 * 768 * 1024;
    display.target_modes = 1;
    for (unsigned i = 0; i < 2; i++)
        probe_set_entry(p, entries[i], control);
    return p;
}

TEST(a_driver_without_control_gives_none_of_the_three)
{
    for (unsigned given = 0; given < 8; given++) {
        struct probe *p = with(false, given);

        CHECK(probe_start(p) == STATUS_SUCCESS);
        CHECK_RULE("PRES-194", (probe_rule(p, "PRES-195") == 0) == (given == 0) &&
                                   display_seen.visible[0] && display_seen.commits == 1);
        display_end(p);
    }
}

TEST(a_driver_with_control_gives_all_three)
{
    for (unsigned given = 0; given < 8; given++) {
        struct probe *p = with(true, given);

        (void)probe_start(p);
        CHECK_RULE("PRES-194", display_seen.visible[0] == (given == 7) && /* nothing can be lit */
                                   probe_rule(p, "PRES-195") == 0);
        display_end(p);
    }
}
