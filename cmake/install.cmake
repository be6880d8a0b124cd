# cmake --install: the program, the library, both sets of headers, libdisplib.a and libntoskrnl.a, dxgk-tmh, dxgk-case-overlay,
# pkg-config files, a CMake package and the examples, all relocatable.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/dxgkhost)
file(RELATIVE_PATH PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" PREFIX_FROM_PC ${PREFIX_FROM_PC})

install(TARGETS dxgkhost LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET dxgkhost_window)
    install(TARGETS dxgkhost_window LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/dxgkhost)
endif()
if(TARGET dxgkhost_fuzz)
    install(TARGETS dxgkhost_fuzz RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/dxgkhost)
endif()
install(TARGETS dxgkhost_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(PROGRAMS tools/dxgk-tmh tools/dxgk-case-overlay DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/dxgkhost DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
install(DIRECTORY include/wdk DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dxgkhost FILES_MATCHING PATTERN *.h)
install(FILES docs/man/dxgkhost.1 docs/man/dxgk-tmh.1 docs/man/dxgk-case-overlay.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/dxgkhost PATTERN CMakeLists.txt EXCLUDE PATTERN build EXCLUDE)
install(FILES examples/blitter/CMakeLists.txt DESTINATION ${CMAKE_INSTALL_DATADIR}/dxgkhost/examples/blitter)
install(FILES examples/display/CMakeLists.txt DESTINATION ${CMAKE_INSTALL_DATADIR}/dxgkhost/examples/display)

set(packages dxgkhost dxgkhost-wdk)
get_property(displib GLOBAL PROPERTY DXGK_DISPLIB)
if(displib)
    install(FILES ${displib} DESTINATION ${CMAKE_INSTALL_LIBDIR}/dxgkhost/windows)
    list(APPEND packages dxgkhost-wdk-windows)
endif()
if(TARGET windows_import_library)
    install(FILES ${DXGK_WINDOWS_FOLDER}/libntoskrnl.a DESTINATION ${CMAKE_INSTALL_LIBDIR}/dxgkhost/windows)
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
