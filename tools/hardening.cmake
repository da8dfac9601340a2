# What the compiler and the linker can do against mistakes in our code becoming somebody's way in. Each flag is taken where
# the compiler knows it; tests/tree/test_hardened.py looks at the products. As a part of another project we leave all of this to it.
#
# Left out, with the reasons:
#   -z nodlopen                     the Redis module and, from other languages, libtamis.so are opened by dlopen
#   -fexceptions                    nothing here is to be unwound: no thread is ever cancelled
#   -ftrivial-auto-var-init=zero    50 to 180 % on bulk calls, whose batches are on the stack; the guard, which strangers talk
#                                   to and which makes no batches, has it
#   -fno-delete-null-pointer-checks 10 to 20 % on the seal of fuse
#   -fstrict-flex-arrays=3, -fzero-init-padding-bits=all, -fhardened    not in the compilers of Debian 12
include(CheckCCompilerFlag)
include(CheckPIESupported)

# All at once, since each check takes a compilation; one by one where one of them is refused.
function(tamis_harden)
  string(JOIN " " all ${ARGN})
  check_c_compiler_flag("${all}" TAMIS_HAS_ALL_FLAGS)
  foreach(flag ${ARGN})
    set(known TAMIS_HAS_ALL_FLAGS)
    if(NOT TAMIS_HAS_ALL_FLAGS)
      string(MAKE_C_IDENTIFIER "TAMIS_HAS${flag}" known)
      check_c_compiler_flag(${flag} ${known})
    endif()
    if(${known})
      add_compile_options(${flag})
    endif()
  endforeach()
endfunction()

add_compile_options(-Werror=format-security -Werror=implicit -Werror=incompatible-pointer-types
                    -Werror=int-conversion)
set(flags -fstack-protector-strong -fstack-clash-protection
    -fno-strict-overflow -fno-strict-aliasing
    -Wtrampolines -Wbidi-chars=any)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|i.86")
  list(APPEND flags -fcf-protection=full)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  list(APPEND flags -mbranch-protection=standard)
endif()
tamis_harden(${flags})

# Only where it is optimized: without, libc warns that it cannot, and the sanitizers see more than it does. Undefined first,
# for a distribution that brings its own.
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
if(NOT "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${type}}" MATCHES "-fsanitize|-O0" AND NOT type STREQUAL DEBUG)
  set(TAMIS_OPTIMIZED TRUE)
  add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
endif()

# Where one of them costs more than 2 %, measured on gcc 12, Zen 4: xxHash's reads of a few bytes are no more inlined (10 to
# 16 % of a single question).
set_source_files_properties(src/core/hash.c PROPERTIES COMPILE_OPTIONS -U_FORTIFY_SOURCE)
check_c_compiler_flag(-ftrivial-auto-var-init=zero TAMIS_HAS_AUTO_VAR_INIT)

add_link_options(LINKER:-z,relro,-z,now,-z,noexecstack,--as-needed,--no-copy-dt-needed-entries)
check_pie_supported(LANGUAGES C) # else position-independent programs would be linked at a fixed place
