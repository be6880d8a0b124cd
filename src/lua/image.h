/* SPDX-License-Identifier: MIT */
/* dxgk.image: PNG files from and to buffers. */
#ifndef DXGK_LUA_IMAGE_H
#define DXGK_LUA_IMAGE_H

#include <lua.h>

void lua_image_open(lua_State *L);
/* image_compare.c: image.compare{picture =, reference = [, tolerance =, allowed =,
 * difference =]} */
int lua_image_compare(lua_State *L);

#endif
