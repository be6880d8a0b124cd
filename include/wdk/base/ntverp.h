/* SPDX-License-Identifier: MIT */
/* The version of the system that these headers stand for, as resource files and version checks of drivers ask for it. */
#ifndef DXGK_WDK_NTVERP_H
#define DXGK_WDK_NTVERP_H

#define VER_PRODUCTMAJORVERSION     10
#define VER_PRODUCTMINORVERSION     0
#define VER_PRODUCTBUILD            22621
#define VER_PRODUCTBUILD_QFE        1
#define VER_PRODUCTVERSION_W        (0x0A00)
#define VER_PRODUCTVERSION_DW       (0x0A000000 | VER_PRODUCTBUILD)
#define VER_PRODUCTVERSION          VER_PRODUCTMAJORVERSION, VER_PRODUCTMINORVERSION, VER_PRODUCTBUILD, VER_PRODUCTBUILD_QFE
#define VER_PRODUCTVERSION_STRING   "10.0"
#define VER_PRODUCTVERSION_STR      "10.0.22621.1"

#endif /* DXGK_WDK_NTVERP_H */
