# SPDX-License-Identifier: MIT
# Manual pages, below man/ of the build: of the table of options, of the public headers, and those that are written by hand.
set(DXGK_RELEASE_DATE 2026-11-27) # of the version of the project
set(DXGK_MANUAL ${CMAKE_BINARY_DIR}/man)
file(GLOB written CONFIGURE_DEPENDS docs/man/*.1.in)
foreach(page ${written})
    cmake_path(GET page STEM LAST_ONLY name)
    configure_file(${page} ${DXGK_MANUAL}/man1/${name} @ONLY)
endforeach()
file(GLOB public_headers CONFIGURE_DEPENDS include/dxgkhost/*.h)
set(tools ${CMAKE_SOURCE_DIR}/tools)
add_custom_command(
    OUTPUT ${CMAKE_BINARY_DIR}/man.stamp
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${DXGK_MANUAL}/man3 ${DXGK_MANUAL}/man7
    COMMAND ${Python3_EXECUTABLE} ${tools}/gen_man.py ${DXGK_MANUAL} ${PROJECT_VERSION} ${DXGK_RELEASE_DATE}
    COMMAND ${Python3_EXECUTABLE} ${tools}/gen_header_pages.py ${DXGK_MANUAL} ${PROJECT_VERSION} ${DXGK_RELEASE_DATE} ${public_headers}
    COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_BINARY_DIR}/man.stamp
    DEPENDS ${public_headers} src/cli/options.txt ${tools}/gen_man.py ${tools}/gen_header_pages.py ${tools}/option_table.py ${tools}/roff.py
    VERBATIM)
# What bash completes.
set(DXGK_COMPLETION ${CMAKE_BINARY_DIR}/completions/dxgkhost)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/completions)
add_custom_command(
    OUTPUT ${DXGK_COMPLETION}
    COMMAND ${Python3_EXECUTABLE} ${tools}/gen_completion.py ${DXGK_COMPLETION}
    DEPENDS src/cli/options.txt ${tools}/gen_completion.py ${tools}/option_table.py
    VERBATIM)
add_custom_target(manual ALL DEPENDS ${CMAKE_BINARY_DIR}/man.stamp ${DXGK_COMPLETION})
