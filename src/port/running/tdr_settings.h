/* SPDX-License-Identifier: MIT */
/* The settings of timeout detection as the registry has them when an adapter starts. */
#ifndef DXGK_PORT_TDR_SETTINGS_H
#define DXGK_PORT_TDR_SETTINGS_H

#include "vidsch/vidsch.h"

/* `defaults` for what the registry does not say. */
struct vidsch_tdr_settings port_tdr_settings(const struct vidsch_tdr_settings *defaults);

#endif
