# Compiler and linker flags that make it harder to exploit a mistake in our code. Each flag is used
# where the compiler knows it; tests/tree/test_hardened.py checks the products. When Tamis is part
# of another project, that project decides about all of this.
#
# These flags are left out, for these reasons:
#   -z nodlopen                     the Redis module is opened by dlopen, and so is libtamis.so by
#                                   other languages
#   -fexceptions                    nothing here has to be unwound: no thread is ever cancelled
#   -ftrivial-auto-var-init=zero    costs 50 to 180 % on bulk calls, whose batches are on the stack;
#                                   the guard, which talks to strangers and makes no batches, has it
#   -fno-delete-null-pointer-checks costs 10 to 20 % on the seal of fuse
#   -fstrict-flex-arrays=3, -fzero-init-padding-bits=all, -fhardened
#                                   are not in the compilers of Debian 12
include(CheckCCompilerFlag)
include(CheckPIESupported)

# Checks all flags at once, because each check takes a compilation, and one by one if that fails.
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
set(flags -fno-strict-overflow -fno-strict-aliasing -Wtrampolines -Wbidi-chars=any)
# On Windows, checks of the stack and of buffers would need libssp in every program that links the
# library, and -fstack-clash-protection crashes gcc 12.
if(NOT WIN32)
  list(PREPEND flags -fstack-protector-strong -fstack-clash-protection)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|i.86")
  list(APPEND flags -fcf-protection=full)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  list(APPEND flags -mbranch-protection=standard)
endif()
tamis_harden(${flags})

# Only in optimized builds: without optimization libc warns that it has no effect, and the
# sanitizers see more than it does. It is undefined first, because a distribution may define its
# own.
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
if(NOT "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${type}}" MATCHES "-fsanitize|-O0" AND
   NOT type STREQUAL DEBUG)
  set(TAMIS_OPTIMIZED TRUE)
  add_compile_options(-U_FORTIFY_SOURCE)
  if(NOT WIN32)
    add_compile_options(-D_FORTIFY_SOURCE=3)
  endif()
endif()

# Exceptions, where a flag costs more than 2 %, measured with gcc 12 on Zen 4: the reads of a few
# bytes in xxHash are no longer inlined (10 to 16 % of a single query).
set_source_files_properties(src/core/hash.c PROPERTIES COMPILE_OPTIONS -U_FORTIFY_SOURCE)
check_c_compiler_flag(-ftrivial-auto-var-init=zero TAMIS_HAS_AUTO_VAR_INIT)

if(NOT WIN32 AND NOT APPLE) # whose linkers have other options
  add_link_options(LINKER:-z,relro,-z,now,-z,noexecstack,--as-needed,--no-copy-dt-needed-entries)
endif()
# Without this, position-independent programs would be linked at a fixed place.
check_pie_supported(LANGUAGES C)
