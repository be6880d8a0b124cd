# cmake --install: the program with the reference drivers, device models, workloads and documentation; the library, both sets of
# headers, libdisplib.a and libntoskrnl.a, dxgk-tmh, dxgk-case-overlay, pkg-config files, a CMake package and the examples; manual pages
# and the completion of bash. All is relocatable, but for names of paths in the manual. Components are those of packages
# (debian/rules): runtime, window, development.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/dxgkhost)
set(library_folder ${CMAKE_INSTALL_LIBDIR}/dxgkhost)
set(data_folder ${CMAKE_INSTALL_DATADIR}/dxgkhost)
file(RELATIVE_PATH PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" PREFIX_FROM_PC ${PREFIX_FROM_PC})

# ---- to run drivers ----

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME runtime)
install(TARGETS dxgkhost_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS dxgkhost LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_COMPONENT development)
if(TARGET dxgkhost_fuzz)
    install(TARGETS dxgkhost_fuzz RUNTIME DESTINATION ${library_folder})
endif()
install(PROGRAMS tools/merge-explore DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME dxgk-merge-explore)
install(TARGETS refgpu_driver bootfb_driver LIBRARY DESTINATION ${library_folder}/drivers)
install(TARGETS refgpu_device stdvga_device virtio_gpu_device LIBRARY DESTINATION ${library_folder}/devices)
install(TARGETS workload_reference LIBRARY DESTINATION ${library_folder}/workloads)
install(DIRECTORY workloads DESTINATION ${data_folder} FILES_MATCHING PATTERN *.lua PATTERN *.png PATTERN reference EXCLUDE)
file(GLOB gdb_scripts CONFIGURE_DEPENDS gdb/*.py)
install(FILES ${gdb_scripts} DESTINATION ${data_folder}/gdb)
install(DIRECTORY ${DXGK_MANUAL}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} PATTERN dxgk-tmh.1 EXCLUDE PATTERN dxgk-case-overlay.1 EXCLUDE)
install(FILES ${DXGK_COMPLETION} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN *.md PATTERN *.png PATTERN *.tsv PATTERN man EXCLUDE)

# ---- the window of --watch ----

if(TARGET dxgkhost_window)
    install(TARGETS dxgkhost_window LIBRARY DESTINATION ${library_folder} COMPONENT window)
endif()

# ---- to build drivers, device models, and programs with the library ----

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
install(PROGRAMS tools/dxgk-tmh tools/dxgk-case-overlay DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/dxgkhost DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
install(DIRECTORY include/wdk DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dxgkhost FILES_MATCHING PATTERN *.h)
install(FILES ${DXGK_MANUAL}/man1/dxgk-tmh.1 ${DXGK_MANUAL}/man1/dxgk-case-overlay.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(DIRECTORY ${DXGK_MANUAL}/man3 ${DXGK_MANUAL}/man7 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(DIRECTORY examples DESTINATION ${data_folder} PATTERN CMakeLists.txt EXCLUDE PATTERN build EXCLUDE PATTERN *.sh EXCLUDE PATTERN *.sbatch EXCLUDE)
file(GLOB scripts RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS examples/ci/*.sh examples/fuzz/*.sh examples/fuzz/*.sbatch examples/fuzz/.clusterfuzzlite/*.sh)
foreach(script ${scripts})
    cmake_path(GET script PARENT_PATH script_folder)
    install(PROGRAMS ${script} DESTINATION ${data_folder}/${script_folder})
endforeach()
foreach(example blitter npu display)
    install(FILES examples/${example}/CMakeLists.txt DESTINATION ${data_folder}/examples/${example})
endforeach()

set(packages dxgkhost dxgkhost-wdk)
get_property(displib GLOBAL PROPERTY DXGK_DISPLIB)
if(displib)
    install(FILES ${displib} DESTINATION ${library_folder}/windows)
    list(APPEND packages dxgkhost-wdk-windows)
endif()
if(TARGET windows_import_library)
    install(FILES ${DXGK_WINDOWS_FOLDER}/libntoskrnl.a DESTINATION ${library_folder}/windows)
endif()
foreach(package ${packages})
    configure_file(cmake/${package}.pc.in ${CMAKE_BINARY_DIR}/pkgconfig/${package}.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/pkgconfig/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

configure_package_config_file(cmake/dxgkhostConfig.cmake.in ${CMAKE_BINARY_DIR}/cmake/dxgkhostConfig.cmake
    INSTALL_DESTINATION ${package_folder}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cmake/dxgkhostConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/cmake/dxgkhostConfig.cmake ${CMAKE_BINARY_DIR}/cmake/dxgkhostConfigVersion.cmake
        cmake/dxgkhostDriver.cmake cmake/dxgkhostRaces.cmake DESTINATION ${package_folder})

# What packages have; of the rest, the drivers as Windows images take longest.
add_custom_target(packaged DEPENDS dxgkhost_program dxgkhost refgpu_driver bootfb_driver refgpu_device stdvga_device virtio_gpu_device
                  workload_reference manual)
foreach(target dxgkhost_window dxgkhost_fuzz displib windows_import_library)
    if(TARGET ${target})
        add_dependencies(packaged ${target})
    endif()
endforeach()
