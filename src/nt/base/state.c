/* SPDX-License-Identifier: MIT */
#include "nt/base/state.h"

struct sim_slot nt_slot;
SIM_SLOT_CLAIM(nt_slot)
