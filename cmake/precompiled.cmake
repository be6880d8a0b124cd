# Precompiled headers, with DXGK_PRECOMPILED: what most sources of a target include is parsed once for all of them, which takes half
# of a compiler's time otherwise. Not with a compiler cache, which keeps nothing that was made with them. Each source still includes
# what it uses: clang-tidy and builds without this option see it without them.
#
#   dxgk_precompile(target header...)    # the headers as the target's folders find them; after its last source
#
# A source that defines something before it includes a header, which may ask for it, is compiled without; so is one with the property
# SKIP_PRECOMPILE_HEADERS. The sources are looked at when the build is configured: configure it anew where one begins to do so.
set(DXGK_PRECOMPILES OFF)
file(REAL_PATH "${CMAKE_C_COMPILER}" compiler)
if(DXGK_PRECOMPILED AND NOT CMAKE_C_COMPILER_LAUNCHER AND NOT compiler MATCHES "ccache$")
    set(DXGK_PRECOMPILES ON)
endif()

function(dxgk_precompile target)
    if(NOT DXGK_PRECOMPILES)
        return()
    endif()
    get_target_property(sources ${target} SOURCES)
    foreach(source ${sources})
        cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE file)
        if(source MATCHES "\\.c$" AND EXISTS ${file})
            file(STRINGS ${file} lines REGEX "^# *(define|include) ")
            if(lines MATCHES "^# *define" OR lines MATCHES ";# *define .*;# *include " OR lines MATCHES "<initguid\\.h>")
                set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
            endif()
        endif()
    endforeach()
    list(TRANSFORM ARGN REPLACE ".+" "<\\0>")
    target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()
