# Compilers for Windows images, as far as they are installed: DXGK_MINGW_GCC, DXGK_MINGW_GXX, DXGK_MINGW_AR, DXGK_CLANG, and
# the kernel-mode headers of mingw-w64, DXGK_MINGW_DDK, which are the base headers of both.
find_program(DXGK_MINGW_GCC NAMES x86_64-w64-mingw32-gcc)
find_program(DXGK_MINGW_GXX NAMES x86_64-w64-mingw32-g++)
find_program(DXGK_MINGW_AR NAMES x86_64-w64-mingw32-ar llvm-ar)
find_program(DXGK_CLANG NAMES clang)
find_program(DXGK_CLANGXX NAMES clang++)
# mingw-w64 keeps its kernel-mode headers in a folder that is not searched by default.
find_path(DXGK_MINGW_DDK NAMES ntddk.h PATHS
          /usr/share/mingw-w64/include/ddk /usr/x86_64-w64-mingw32/include/ddk
          /usr/x86_64-w64-mingw32/sys-root/mingw/include/ddk NO_DEFAULT_PATH)
