/* SPDX-License-Identifier: MIT */
/*
 * Marks for routines that drivers import.
 */
#ifndef DXGK_NT_EXPORT_H
#define DXGK_NT_EXPORT_H

#define NT_EXPORT __attribute__((visibility("default")))
/* Before a variable that drivers import as it is. Other variables point to what Windows exports
 * under their names. */
#define NT_EXPORT_VALUE NT_EXPORT
/* A routine that holds nothing of the host's while it touches what the driver passed: if that is
 * not there, the exception is the driver's (x64/exceptions/fault.c), as from a loop of its own. */
#define NT_TRANSPARENT __attribute__((section("dxgk_transparent")))
/* The return address in the driver, from an exported routine. */
#define NT_CALLER() __builtin_return_address(0)

#endif
