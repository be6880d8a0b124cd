# Drivers as Windows images (.sys), where the cross compilers are installed: with gcc and binutils of mingw-w64, or with clang
# and lld-link, which lays images out as Microsoft's linker does. Both compile against include/wdk and mingw-w64's kernel
# headers, and link against libdisplib.a and an import library of exactly what the host offers.
#
#   dxgk_windows_driver(target COMPILER gcc|clang|msvc|msvc_wdk OUTPUT file SOURCES source...
#                       [ENTRY function|none] [OPTIONS compiler option...] [LINK linker option...] [LIBRARIES file...]
#                       [DEPENDS target or file...] [HEADER header] [OBJECTS_OF target])
#
# Compiler msvc is clang for Microsoft's own environment, without headers; msvc_wdk is the same over include/wdk and
# mingw-w64's kernel headers. Sources may be C, C++ or assembly (clang's).
#
# HEADER is included first by every source, which are C, and precompiled (precompiled.cmake). With OBJECTS_OF, the objects of another
# image are linked, too.
#
# With DXGK_IMAGES_OF, the folder of another build of these sources, its images are brought up to date and taken: no option of a
# build changes them.
#
# The entry point is DriverEntry, unless ENTRY names another one, or none. Where the compiler is missing there is no target.
find_program(DXGK_DLLTOOL NAMES x86_64-w64-mingw32-dlltool)
find_program(DXGK_LLD_LINK NAMES lld-link)
set(DXGK_WINDOWS_FOLDER ${CMAKE_BINARY_DIR}/windows)

set(DXGK_CAN_GCC OFF)
set(DXGK_CAN_CLANG OFF)
if(DXGK_DLLTOOL AND DXGK_MINGW_DDK AND DXGK_MINGW_GCC AND DXGK_MINGW_AR)
    set(DXGK_CAN_GCC ON)
    if(DXGK_CLANG AND DXGK_LLD_LINK)
        set(DXGK_CAN_CLANG ON)
        execute_process(COMMAND ${DXGK_MINGW_GCC} -print-libgcc-file-name OUTPUT_VARIABLE DXGK_LIBGCC
                        OUTPUT_STRIP_TRAILING_WHITESPACE) # the stack probe, named as this target has it
    endif()
endif()

add_custom_target(windows_images)
set(DXGK_TAKE_IMAGES OFF)
if(DXGK_IMAGES_OF AND EXISTS "${DXGK_IMAGES_OF}/build.ninja")
    set(DXGK_TAKE_IMAGES ON)
endif()

# `output` of this build is that of DXGK_IMAGES_OF.
function(dxgk_take_image target output)
    cmake_path(RELATIVE_PATH output BASE_DIRECTORY ${CMAKE_BINARY_DIR} OUTPUT_VARIABLE name)
    cmake_path(GET output PARENT_PATH folder)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${output} COMMAND ${CMAKE_COMMAND} -E copy ${DXGK_IMAGES_OF}/${name} ${output}
                       DEPENDS ${DXGK_IMAGES_OF}/${name} other_images)
    add_custom_target(${target} ALL DEPENDS ${output})
    set_property(GLOBAL APPEND PROPERTY DXGK_TAKEN_IMAGES ${DXGK_IMAGES_OF}/${name})
endfunction()

# After the last image: what makes them in the other build.
function(dxgk_taken_images)
    if(DXGK_TAKE_IMAGES)
        get_property(taken GLOBAL PROPERTY DXGK_TAKEN_IMAGES)
        add_custom_target(other_images COMMAND ${CMAKE_COMMAND} --build ${DXGK_IMAGES_OF} --target windows_images BYPRODUCTS ${taken}
                          COMMENT "Windows images of ${DXGK_IMAGES_OF}")
    endif()
endfunction()

# lib<name>.a in DXGK_WINDOWS_FOLDER, from a module definition file; both linkers read it.
function(dxgk_import_library name definition)
    cmake_path(ABSOLUTE_PATH definition BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    add_custom_command(
        OUTPUT ${DXGK_WINDOWS_FOLDER}/lib${name}.a
        COMMAND ${DXGK_DLLTOOL} --deterministic-libraries -m i386:x86-64 -d ${definition} -l ${DXGK_WINDOWS_FOLDER}/lib${name}.a
        DEPENDS ${definition})
endfunction()

# Where the names stand that a driver may import.
file(GLOB_RECURSE DXGK_ROUTINES ${CMAKE_SOURCE_DIR}/src/nt/routines.inc)
file(GLOB_RECURSE DXGK_ROUTINE_TABLES ${CMAKE_SOURCE_DIR}/src/nt/crt.c ${CMAKE_SOURCE_DIR}/src/nt/variable.c
    ${CMAKE_SOURCE_DIR}/src/x64/runtime.c ${CMAKE_SOURCE_DIR}/src/x64/routines.c)
set(DXGK_ROUTINE_LISTS ${DXGK_ROUTINES} ${DXGK_ROUTINE_TABLES})
if(DXGK_CAN_GCC)
    file(MAKE_DIRECTORY ${DXGK_WINDOWS_FOLDER})
    add_custom_command(
        OUTPUT ${DXGK_WINDOWS_FOLDER}/ntoskrnl.def
        COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/gen_def.py ${DXGK_WINDOWS_FOLDER}/ntoskrnl.def
                ${DXGK_ROUTINE_LISTS}
        DEPENDS ${CMAKE_SOURCE_DIR}/tools/gen_def.py ${DXGK_ROUTINE_LISTS})
    dxgk_import_library(ntoskrnl ${DXGK_WINDOWS_FOLDER}/ntoskrnl.def)
    add_custom_target(windows_import_library ALL DEPENDS ${DXGK_WINDOWS_FOLDER}/libntoskrnl.a)
endif()

function(dxgk_windows_driver target)
    cmake_parse_arguments(D "" "COMPILER;OUTPUT;ENTRY;HEADER;OBJECTS_OF" "SOURCES;OPTIONS;LINK;LIBRARIES;DEPENDS" ${ARGN})
    if((D_COMPILER STREQUAL gcc AND NOT DXGK_CAN_GCC) OR (NOT D_COMPILER STREQUAL gcc AND NOT DXGK_CAN_CLANG))
        return()
    endif()
    add_dependencies(windows_images ${target})
    if(DXGK_TAKE_IMAGES)
        dxgk_take_image(${target} ${D_OUTPUT})
        return()
    endif()
    if(NOT D_ENTRY)
        set(D_ENTRY DriverEntry)
    endif()
    if(D_ENTRY STREQUAL none)
        set(gnu_entry 0)
        set(lld_entry /dll /noentry)
    else()
        set(gnu_entry ${D_ENTRY})
        set(lld_entry /entry:${D_ENTRY})
    endif()
    get_property(displib GLOBAL PROPERTY DXGK_DISPLIB)
    set(libraries ${D_LIBRARIES} ${displib} ${DXGK_WINDOWS_FOLDER}/libntoskrnl.a)
    cmake_path(GET DXGK_MINGW_DDK PARENT_PATH mingw_include)
    # Headers of mingw-w64 include one that clang 19 calls deprecated.
    set(headers -D_CLANG_DISABLE_CRT_DEPRECATION_WARNINGS -isystem ${CMAKE_SOURCE_DIR}/include/wdk -isystem ${CMAKE_SOURCE_DIR}/include/wdk/mingw
                -isystem ${DXGK_MINGW_DDK})
    set(options -O2 -g0 -Wall -Wextra ${DXGK_ERROR_FLAG} ${headers} ${D_OPTIONS})
    set(support ${DXGK_LIBGCC})
    if(D_COMPILER STREQUAL gcc)
        set(compile ${DXGK_MINGW_GCC} ${options})
    elseif(D_COMPILER STREQUAL msvc)
        set(support)
        set(compile ${DXGK_CLANG} --target=x86_64-windows-msvc -O2 -Wall -Wextra ${DXGK_ERROR_FLAG} -ffreestanding
                    -fasynchronous-unwind-tables ${D_OPTIONS}) # Microsoft's compiler always writes .pdata
    elseif(D_COMPILER STREQUAL msvc_wdk)
        set(support)
        set(compile ${DXGK_CLANG} --target=x86_64-pc-windows-msvc -fgnuc-version=10.2 -fms-compatibility ${options}
                    -isystem ${mingw_include} -fasynchronous-unwind-tables)
    else()
        set(compile ${DXGK_CLANG} --target=x86_64-w64-mingw32 ${options})
    endif()
    cmake_path(GET D_OUTPUT PARENT_PATH folder)
    file(MAKE_DIRECTORY ${folder} ${CMAKE_CURRENT_BINARY_DIR}/${target})
    set(objects)
    if(D_OBJECTS_OF)
        get_property(objects GLOBAL PROPERTY DXGK_OBJECTS_OF_${D_OBJECTS_OF})
        list(APPEND D_DEPENDS ${D_OBJECTS_OF})
    endif()
    set(precompiled)
    if(D_HEADER AND DXGK_PRECOMPILES)
        cmake_path(ABSOLUTE_PATH D_HEADER BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
        set(header ${CMAKE_CURRENT_BINARY_DIR}/${target}/precompiled.h)
        file(CONFIGURE OUTPUT ${header} CONTENT "#include \"${D_HEADER}\"\n")
        if(D_COMPILER STREQUAL gcc)
            set(precompiled ${header}.gch)
            set(with_precompiled -Winvalid-pch -include ${header})
        else()
            set(precompiled ${header}.pch)
            set(with_precompiled -include-pch ${precompiled})
        endif()
        add_custom_command(OUTPUT ${precompiled} COMMAND ${compile} -std=gnu11 -MD -MF ${precompiled}.d -x c-header -c ${header} -o ${precompiled}
                           DEPENDS ${D_HEADER} DEPFILE ${precompiled}.d)
    endif()
    foreach(source ${D_SOURCES})
        cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
        cmake_path(GET source STEM stem)
        cmake_path(GET source EXTENSION LAST_ONLY extension)
        set(object ${CMAKE_CURRENT_BINARY_DIR}/${target}/${stem}.o)
        set(language -std=gnu11)
        if(extension STREQUAL ".cpp")
            set(language -std=gnu++17 -fno-exceptions -fno-rtti -fno-threadsafe-statics)
        elseif(extension STREQUAL ".S")
            set(language -Wno-unused-command-line-argument)
        endif()
        set(first)
        if(precompiled AND extension STREQUAL ".c")
            set(first ${with_precompiled})
        endif()
        add_custom_command(OUTPUT ${object} COMMAND ${compile} ${language} ${first} -MD -MF ${object}.d -c ${source} -o ${object}
                           DEPENDS ${source} ${precompiled} DEPFILE ${object}.d)
        list(APPEND objects ${object})
    endforeach()
    set_property(GLOBAL PROPERTY DXGK_OBJECTS_OF_${target} ${objects})
    if(D_COMPILER STREQUAL gcc)
        add_custom_command(OUTPUT ${D_OUTPUT}
            COMMAND ${DXGK_MINGW_GCC} -nostdlib -shared -Wl,--subsystem,native -Wl,--entry,${gnu_entry} -Wl,--dynamicbase
                    -Wl,--exclude-all-symbols -Wl,--no-insert-timestamp ${D_LINK} ${objects} ${libraries} -lgcc
                    -o ${D_OUTPUT}
            DEPENDS ${objects} ${D_DEPENDS} ${libraries})
    else()
        add_custom_command(OUTPUT ${D_OUTPUT}
            COMMAND ${DXGK_LLD_LINK} /nologo /driver /subsystem:native ${lld_entry} /machine:x64 /nodefaultlib /Brepro
                    /debug:symtab ${D_LINK} ${objects} ${libraries} ${support} /out:${D_OUTPUT}
            DEPENDS ${objects} ${D_DEPENDS} ${libraries})
    endif()
    add_custom_target(${target} ALL DEPENDS ${D_OUTPUT})
    add_dependencies(${target} displib windows_import_library)
endfunction()
