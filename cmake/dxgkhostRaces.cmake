# dxgkhost_race_hooks(TARGET): the sources are compiled so that each access of memory calls a hook, which dxgkhost offers
# (docs/races.md). The runtime of the compiler's own thread sanitizer is not linked.
function(dxgkhost_race_hooks target)
    foreach(language C CXX)
        if(CMAKE_${language}_COMPILER_ID STREQUAL GNU)
            target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:${language}>:-fno-sanitize=all -fsanitize=thread --param=tsan-distinguish-volatile=1 -Wno-tsan>)
        elseif(CMAKE_${language}_COMPILER_ID)
            target_compile_options(${target} PRIVATE
                "$<$<COMPILE_LANGUAGE:${language}>:SHELL:-fno-sanitize=all -fsanitize=thread -mllvm -tsan-distinguish-volatile=1>")
        endif()
    endforeach()
    # What the hooks do not see otherwise: copies by routines. Those that check sizes would be others.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-U_FORTIFY_SOURCE>)
    target_compile_definitions(${target} PRIVATE memcpy=__tsan_memcpy memmove=__tsan_memmove memset=__tsan_memset)
endfunction()
