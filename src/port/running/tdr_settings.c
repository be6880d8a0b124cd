/* SPDX-License-Identifier: MIT */
/* The settings of timeout detection and of the scheduler, under their documented names in the
 * registry (TDR-015). */
#include <string.h>

#include "port/running/tdr_settings.h"
#include "nt/cm/registry.h"

#define DRIVERS "\\Registry\\Machine\\System\\CurrentControlSet\\Control\\GraphicsDrivers"

#define PRESENT_DELAY      2u /* s */
#define MOST_PRESENT_DELAY 900u
#define DDI_DELAY          5u
#define VSYNC_IDLE_PERIODS 10u
#define MOST_IDLE_PERIODS  1000000u
#define MOST_LIMIT_COUNT   1024u /* that many reset times are kept for the limit */

/* The value does not change if the registry has none, or one of another type. */
static bool read_setting(const char *path, const char *name, UINT *value)
{
    uint32_t type, bytes;
    const void *data = nt_registry_get(path, name, &type, &bytes);

    if (!data || type != REG_DWORD || bytes != sizeof(*value))
        return false;
    memcpy(value, data, sizeof(*value));
    return true;
}

struct vidsch_tdr_settings port_tdr_settings(const struct vidsch_tdr_settings *defaults)
{
    struct vidsch_tdr_settings settings = *defaults;
    UINT enable;

    read_setting(DRIVERS, "TdrLevel", &settings.level);
    read_setting(DRIVERS, "TdrDelay", &settings.delay);
    read_setting(DRIVERS, "TdrDdiDelay", &settings.ddi_delay);
    read_setting(DRIVERS, "TdrLimitCount", &settings.limit_count);
    read_setting(DRIVERS, "TdrLimitTime", &settings.limit_time);
    read_setting(DRIVERS, "TdrDebugMode", &settings.debug_mode);
    if (settings.limit_count > MOST_LIMIT_COUNT)
        settings.limit_count = MOST_LIMIT_COUNT;
    if (read_setting(DRIVERS "\\Scheduler", "EnablePreemption", &enable)) /* PREEMPT-006 */
        settings.enable_preemption = enable != 0;
    return settings;
}

UINT port_tdr_ddi_delay(const struct vidsch_tdr_settings *defaults)
{
    const UINT delay = port_tdr_settings(defaults).ddi_delay;

    return delay ? delay : DDI_DELAY;
}

UINT port_vsync_idle_periods(void)
{
    UINT periods = VSYNC_IDLE_PERIODS;

    read_setting(DRIVERS "\\Scheduler", "VsyncIdleTimeout", &periods);
    return periods < MOST_IDLE_PERIODS ? periods : MOST_IDLE_PERIODS;
}

static UINT display_only_delay(const char *name)
{
    UINT delay = PRESENT_DELAY;

    read_setting(DRIVERS, name, &delay);
    return delay < 1 ? 1 : delay > MOST_PRESENT_DELAY ? MOST_PRESENT_DELAY : delay;
}

UINT port_tdr_present_delay(void)
{
    return display_only_delay("TdrDodPresentDelay");
}

UINT port_tdr_vsync_delay(void)
{
    return display_only_delay("TdrDodVSyncDelay");
}
