# Finds the libraries that a build needs, and those that it can do without. What is missing is named as it is called
# upstream and in Debian.
find_package(Threads REQUIRED)
find_package(PkgConfig)
set(SADDLE_MODULES sleef arpack lapacke yaml-0.1 zlib libsodium)
set(names "sleef: SLEEF (libsleef-dev)" "arpack: ARPACK-NG (libarpack2-dev)" "lapacke: LAPACKE (liblapacke-dev)"
    "yaml-0.1: libyaml (libyaml-dev)" "zlib: zlib (zlib1g-dev)" "libsodium: libsodium (libsodium-dev)")
set(missing "")
if(PkgConfig_FOUND)
  pkg_check_modules(SADDLE_DEPS QUIET IMPORTED_TARGET ${SADDLE_MODULES})
  foreach(module name IN ZIP_LISTS SADDLE_MODULES names)
    if(NOT SADDLE_DEPS_FOUND)
      pkg_check_modules(SADDLE_ONE_${module} QUIET ${module})
      if(NOT SADDLE_ONE_${module}_FOUND)
        list(APPEND missing ${name})
      endif()
    endif()
  endforeach()
else()
  list(APPEND missing "pkg-config: pkgconf (pkg-config)")
endif()
find_path(RANDOM123_INCLUDE_DIR Random123/philox.h)
if(NOT RANDOM123_INCLUDE_DIR)
  list(APPEND missing "Random123/philox.h: Random123 (librandom123-dev)")
endif()
if(missing)
  list(JOIN missing "\n  " missing)
  message(FATAL_ERROR "Saddle needs these, which were not found; the names in parentheses are Debian's:\n  ${missing}\n"
                      "docs/install.md lists all packages, also those of conda-forge and Spack. PKG_CONFIG_PATH and "
                      "CMAKE_PREFIX_PATH say where else to look.")
endif()
list(JOIN SADDLE_MODULES " " SADDLE_MODULES)

# saddle_left_out(OPTION WHAT NAME): reports what is not built, and what it needs; refuses it if the option, where there
# is one, says that it is required.
set(SADDLE_LEFT_OUT "")
macro(saddle_left_out option what name)
  if(${option} AND NOT ${option} STREQUAL AUTO)
    message(FATAL_ERROR "${option} is ${${option}}: ${what}, which needs ${name} in Debian's names")
  endif()
  list(APPEND SADDLE_LEFT_OUT "${what}: it needs ${name}")
endmacro()

# The module of the engine mpi, and METIS to place its agents.
if(SADDLE_MPI)
  find_package(MPI QUIET COMPONENTS C)
endif()
# The module of the engine cuda.
if(SADDLE_CUDA)
  find_program(SADDLE_NVCC nvcc HINTS ${CUDAToolkit_ROOT}/bin /usr/local/cuda/bin)
  if(NOT SADDLE_NVCC)
    saddle_left_out(SADDLE_CUDA "the engine cuda" "nvcc of CUDA 13 or later")
  endif()
endif()
find_path(METIS_INCLUDE_DIR metis.h)
find_library(METIS_LIBRARY metis)
if(NOT MPI_C_FOUND)
  saddle_left_out(SADDLE_MPI "the engine mpi" "an MPI such as Open MPI (libopenmpi-dev openmpi-bin)")
elseif(NOT METIS_INCLUDE_DIR OR NOT METIS_LIBRARY)
  saddle_left_out(AUTO "placing agents of the engine mpi by the network" "METIS (libmetis-dev)")
endif()

# The module of peers.
if(SADDLE_PEERS)
  pkg_check_modules(ZMQ QUIET IMPORTED_TARGET libzmq)
endif()
if(NOT ZMQ_FOUND)
  saddle_left_out(SADDLE_PEERS "saddle peer" "ZeroMQ (libzmq3-dev)")
endif()
