/* SPDX-License-Identifier: MIT */
/* dxgk.image: PNG files from and to buffers. */
#ifndef DXGK_LUA_IMAGE_H
#define DXGK_LUA_IMAGE_H

#include <lua.h>

void lua_image_open(lua_State *L);

#endif
