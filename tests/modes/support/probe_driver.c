/* SPDX-License-Identifier: MIT */
/* That of tests/port serves here, too. */
#include "port/support/probe_driver.c"
