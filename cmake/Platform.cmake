# Refuses systems that Saddle does not support (docs/stability.md), before the search for libraries reports something
# that is not the reason. Warns on processors that no test has run on.
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  message(FATAL_ERROR "Saddle needs Linux: it uses futexes, /proc and unnamed files. "
                      "CMAKE_SYSTEM_NAME is '${CMAKE_SYSTEM_NAME}'. "
                      "On other systems, build it in a virtual machine or container with Debian 12.")
endif()
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64|aarch64|arm64)$")
  message(WARNING "Saddle is not tested on '${CMAKE_SYSTEM_PROCESSOR}', only on x86-64 and arm64. The bits of results "
                  "may differ from those of x86-64.")
endif()
