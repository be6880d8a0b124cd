/* SPDX-License-Identifier: MIT */
/* How the page of --html looks, light and dark. */
#ifndef DXGK_CLI_RESULT_STYLE_H
#define DXGK_CLI_RESULT_STYLE_H

extern const char cli_result_style[];

#endif
