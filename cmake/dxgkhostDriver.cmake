# dxgkhost_add_driver(); the package file that includes this one describes it.
include(${CMAKE_CURRENT_LIST_DIR}/dxgkhostRaces.cmake)

# The compiler of a Windows image in <out>, or a reason to stop.
function(dxgkhost_windows_compiler wanted out)
    find_program(DXGKHOST_MINGW_GCC NAMES x86_64-w64-mingw32-gcc)
    find_program(DXGKHOST_CLANG NAMES clang)
    find_path(DXGKHOST_MINGW_DDK NAMES ntddk.h PATHS
              /usr/share/mingw-w64/include/ddk /usr/x86_64-w64-mingw32/include/ddk
              /usr/x86_64-w64-mingw32/sys-root/mingw/include/ddk NO_DEFAULT_PATH)
    if(NOT DXGKHOST_MINGW_GCC OR NOT DXGKHOST_MINGW_DDK)
        message(FATAL_ERROR "dxgkhost_add_driver: a .sys needs x86_64-w64-mingw32-gcc with mingw-w64's kernel headers (ddk)")
    endif()
    if(NOT EXISTS ${dxgkhost_windows}/libntoskrnl.a)
        message(FATAL_ERROR "dxgkhost_add_driver: a .sys needs ${dxgkhost_windows}/libntoskrnl.a, and this dxgkhost was built "
                            "without mingw-w64")
    endif()
    if(NOT wanted)
        set(wanted gcc)
        if(DXGKHOST_CLANG)
            set(wanted msvc)
        endif()
    elseif(NOT wanted MATCHES "^(gcc|clang|msvc)$")
        message(FATAL_ERROR "dxgkhost_add_driver: COMPILER is gcc, clang or msvc, not ${wanted}")
    elseif(NOT wanted STREQUAL gcc AND NOT DXGKHOST_CLANG)
        message(FATAL_ERROR "dxgkhost_add_driver: COMPILER ${wanted} needs clang")
    endif()
    set(${out} ${wanted} PARENT_SCOPE)
endfunction()

# name.sys as target name_sys. What is in options comes after what the compiler needs.
function(dxgkhost_add_image name compiler sources options depends)
    set(wdk ${dxgkhost_include}/dxgkhost/wdk)
    set(headers -D_CLANG_DISABLE_CRT_DEPRECATION_WARNINGS -D__USE_MINGW_ANSI_STDIO=0 -Wno-unknown-pragmas -isystem ${wdk} -isystem ${wdk}/mingw
                -isystem ${DXGKHOST_MINGW_DDK})
    set(compile ${DXGKHOST_MINGW_GCC})
    set(linker ${DXGKHOST_MINGW_GCC})
    if(compiler STREQUAL clang)
        set(compile ${DXGKHOST_CLANG} --target=x86_64-w64-mingw32 -fms-extensions -fasynchronous-unwind-tables)
    elseif(compiler STREQUAL msvc)
        set(compile ${DXGKHOST_CLANG} --target=x86_64-pc-windows-msvc -fgnuc-version=10.2 -fms-compatibility -fms-extensions
                    -fasynchronous-unwind-tables)
        list(APPEND headers -isystem ${DXGKHOST_MINGW_DDK}/..)
        find_program(DXGKHOST_LLD_LINK NAMES lld-link)
    endif()
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}_sys.dir)
    set(objects)
    foreach(source ${sources})
        cmake_path(GET source FILENAME file)
        cmake_path(GET source EXTENSION LAST_ONLY extension)
        set(language -std=gnu11)
        if(NOT extension STREQUAL ".c")
            set(language -x c++ -std=gnu++17 -fno-exceptions -fno-rtti -fno-threadsafe-statics)
        endif()
        string(MD5 tag ${source}) # files of one name in several folders
        string(SUBSTRING ${tag} 0 6 tag)
        set(object ${folder}/${file}.${tag}.o)
        cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
        add_custom_command(OUTPUT ${object}
            COMMAND ${compile} ${language} -O2 -g -gdwarf-4 -ffreestanding ${headers} ${options} -MD -MF ${object}.d -c ${source} -o ${object}
            DEPENDS ${source} ${depends} DEPFILE ${object}.d WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
            COMMENT "Building ${name}.sys: ${file}" VERBATIM)
        list(APPEND objects ${object})
    endforeach()
    file(MAKE_DIRECTORY ${folder})
    set(image ${CMAKE_CURRENT_BINARY_DIR}/${name}.sys)
    set(libraries ${dxgkhost_windows}/libdisplib.a ${dxgkhost_windows}/libntoskrnl.a)
    if(compiler STREQUAL msvc AND DXGKHOST_LLD_LINK)
        execute_process(COMMAND ${DXGKHOST_MINGW_GCC} -print-libgcc-file-name OUTPUT_VARIABLE libgcc
                        OUTPUT_STRIP_TRAILING_WHITESPACE) # the stack probe of libdisplib.a
        set(link ${DXGKHOST_LLD_LINK} /nologo /driver /subsystem:native /entry:DriverEntry /machine:x64 /nodefaultlib /Brepro
                 /section:INIT,erd /debug:dwarf ${objects} ${libraries} ${libgcc} /out:${image})
    else()
        set(link ${linker} -nostdlib -shared -Wl,--subsystem,native -Wl,--entry,DriverEntry -Wl,--dynamicbase
                 -Wl,--exclude-all-symbols -Wl,--no-insert-timestamp ${objects} ${libraries} -lgcc -o ${image})
    endif()
    add_custom_command(OUTPUT ${image} COMMAND ${link} DEPENDS ${objects} ${libraries} COMMENT "Linking ${name}.sys" VERBATIM)
    add_custom_target(${name}_sys ALL DEPENDS ${image})
    set(${name}_SYS ${image} PARENT_SCOPE)
endfunction()

function(dxgkhost_add_driver name)
    cmake_parse_arguments(D "ELF;SYS;CASE;RACES" "COMPILER" "SOURCES;WPP;INCLUDE;DEFINE;OPTIONS" ${ARGN})
    list(APPEND D_SOURCES ${D_UNPARSED_ARGUMENTS})
    if(NOT D_SOURCES)
        message(FATAL_ERROR "dxgkhost_add_driver(${name}): no SOURCES")
    endif()
    list(TRANSFORM D_INCLUDE PREPEND -I OUTPUT_VARIABLE folders)
    list(TRANSFORM D_DEFINE PREPEND -D OUTPUT_VARIABLE definitions)
    set(depends)
    if(D_WPP)
        set(tmh ${CMAKE_CURRENT_BINARY_DIR}/${name}_tmh)
        set(depends ${tmh}/written)
        list(TRANSFORM D_WPP PREPEND "--config;" OUTPUT_VARIABLE configuration)
        add_custom_command(OUTPUT ${tmh}/written
            COMMAND ${DXGKHOST_TMH} --output ${tmh} ${configuration} ${D_SOURCES}
            COMMAND ${CMAKE_COMMAND} -E touch ${tmh}/written
            WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} DEPENDS ${D_SOURCES} ${D_WPP} COMMENT "Writing trace headers of ${name}")
        list(PREPEND folders -I${tmh})
    endif()
    if(D_CASE) # at configuration: a changed source may include something else
        execute_process(COMMAND ${DXGKHOST_CASE_OVERLAY} --output ${CMAKE_CURRENT_BINARY_DIR}/${name}_case ${folders}
                                -I${dxgkhost_include}/dxgkhost/wdk -I${dxgkhost_include}/dxgkhost/wdk/base ${D_SOURCES}
                        WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE overlay OUTPUT_STRIP_TRAILING_WHITESPACE
                        COMMAND_ERROR_IS_FATAL ANY)
        list(PREPEND folders ${overlay})
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${D_SOURCES})
    endif()
    if(D_ELF OR NOT D_SYS)
        add_library(${name} MODULE ${D_SOURCES} ${depends})
        target_link_libraries(${name} PRIVATE dxgkhost::wdk)
        target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fno-threadsafe-statics>
                               ${folders} ${definitions} ${D_OPTIONS})
        set_target_properties(${name} PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden)
        if(D_RACES)
            dxgkhost_race_hooks(${name})
        endif()
        if(depends)
            set_source_files_properties(${D_SOURCES} PROPERTIES OBJECT_DEPENDS ${depends})
        endif()
    endif()
    if(D_SYS)
        dxgkhost_windows_compiler("${D_COMPILER}" compiler)
        dxgkhost_add_image(${name} ${compiler} "${D_SOURCES}" "${folders};${definitions};${D_OPTIONS}" "${depends}")
        set(${name}_SYS ${${name}_SYS} PARENT_SCOPE)
    endif()
endfunction()
