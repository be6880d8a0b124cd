/* SPDX-License-Identifier: MIT */
/* The settings of timeout detection, read from the registry when an adapter starts. */
#ifndef DXGK_PORT_TDR_SETTINGS_H
#define DXGK_PORT_TDR_SETTINGS_H

#include "vidsch/vidsch.h"

/* `defaults` holds for values that the registry does not have. */
struct vidsch_tdr_settings port_tdr_settings(const struct vidsch_tdr_settings *defaults);

/* How long threads may take to leave a driver that is to start again, s (TDR-011, PRES-258). */
UINT port_tdr_ddi_delay(const struct vidsch_tdr_settings *defaults);
/* TdrDodPresentDelay (PRES-218), s. */
UINT port_tdr_present_delay(void);
/* TdrDodVSyncDelay (PRES-328), s; as above. */
UINT port_tdr_vsync_delay(void);
/* VsyncIdleTimeout (PRES-170), in periods of the mode. */
UINT port_vsync_idle_periods(void);

#endif
