/* SPDX-License-Identifier: MIT */
/* The probe of tests/port serves here, too. */
#include "port/support/probe_levels.c"
