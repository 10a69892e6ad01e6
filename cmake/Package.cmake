# `cpack` makes Debian packages: libsaddle with the number of the soname (libsaddle0.2), libsaddle-dev, saddle and, if
# they are built, libsaddle0.3-mpi, libsaddle0.3-peer and python3-saddle. Configured with -DCMAKE_INSTALL_PREFIX=/usr
# (the preset deb), libraries go where Debian has them, /usr/lib/x86_64-linux-gnu.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "The Saddle authors")
# The authors that LICENSE and CITATION.cff name. No domain ends in .invalid (RFC 2606), so this is nobody's address.
if(NOT CPACK_PACKAGE_CONTACT)
  set(CPACK_PACKAGE_CONTACT "The Saddle authors <saddle@packages.invalid>")
endif()
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# A program works with every later version of its soname; the default of CPack is "=".
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian/documents.cmake)

set(library "libsaddle${SADDLE_SOVERSION} (= ${PROJECT_VERSION})")
set(about "Agents that keep their data to themselves solve a constrained min-max problem,
communicating only with their neighbours. Saddle implements PRECISION,
PRECISION+ and the methods they are compared with. Runs repeat bit for bit.
")

# saddle_debian(COMPONENT PACKAGE SECTION SUMMARY TEXT): describe the package of a component.
macro(saddle_debian component package section summary text)
  string(TOUPPER ${component} upper)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${PROJECT_DESCRIPTION} (${summary})\n${about}.\n${text}")
endmacro()

set(CPACK_COMPONENTS_ALL "")
saddle_debian(library libsaddle${SADDLE_SOVERSION} libs "shared library"
              "This package has the shared library.")
set(debian ${PROJECT_SOURCE_DIR}/cmake/debian)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${debian}/library/triggers ${debian}/library/postinst
                                               ${debian}/library/postrm)

saddle_debian(development libsaddle-dev libdevel "development files"
              "This package has headers, the static library and files for pkg-config and\nCMake.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ${library})
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "libarpack2-dev, liblapacke-dev, libsleef-dev,\
 libsodium-dev, libyaml-dev, pkgconf, zlib1g-dev")

if(MPI_C_FOUND)
  set(module libsaddle${SADDLE_SOVERSION}-mpi)
  saddle_debian(mpi ${module} libs "module for MPI"
                "This package has the module of the engine mpi, for the program, the library and\nthe Python package.")
  set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS openmpi-bin)
  set(CPACK_DEBIAN_MPI_PACKAGE_CONTROL_EXTRA ${debian}/library/postinst ${debian}/library/postrm)
endif()

if(ZMQ_FOUND)
  saddle_debian(peer libsaddle${SADDLE_SOVERSION}-peer libs "module for peers"
                "This package has the module of saddle peer, for programs and Python.")
  list(APPEND module libsaddle${SADDLE_SOVERSION}-peer)
  set(CPACK_DEBIAN_PEER_PACKAGE_CONTROL_EXTRA ${debian}/library/postinst ${debian}/library/postrm)
endif()
list(JOIN module ", " module)

if(TARGET saddle)
  saddle_debian(program saddle math "program" "This package has the program saddle, its manual page and completions.")
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "curl, gnuplot-nox")
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS ${module})
endif()

if(TARGET saddle_python)
  saddle_debian(python python3-saddle python "Python 3"
                "This package has the Python package and its own program, which makes reports.")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3:any (>= 3.9), python3-cffi (>= 1.15), python3-numpy (>= 1:1.22)")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS
      "python3-matplotlib, python3-networkx, python3-pandas, python3-scipy, python3-sklearn,\
 python3-torch, python3-tqdm")
  if(module)
    string(APPEND CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS ", ${module}")
  endif()
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${debian}/python/postinst ${debian}/python/prerm)
endif()
include(CPack)
