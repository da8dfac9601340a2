# Builds for 64-bit Windows with Debian's gcc-mingw-w64-x86-64, and runs tests under wine (the
# package wine64): cmake --preset mingw, or -DCMAKE_TOOLCHAIN_FILE=tools/mingw.cmake.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
# No library of Windows has to be installed beside a program.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static)

# Debian has no xxHash for Windows, but its header is enough. It is copied, because the other
# headers beside it are those of Linux.
if(EXISTS /usr/include/xxhash.h)
  file(COPY /usr/include/xxhash.h DESTINATION ${CMAKE_BINARY_DIR}/xxhash)
  set(XXHASH_INCLUDE_DIR ${CMAKE_BINARY_DIR}/xxhash CACHE PATH "where xxhash.h is")
endif()

set(CMAKE_CROSSCOMPILING_EMULATOR sh ${CMAKE_CURRENT_LIST_DIR}/../tests/windows/wine.sh)
