# The Python package, complete in ${PROJECT_BINARY_DIR}/python: links to its sources, declarations that are made from
# the headers, and the library. With MPI there are two: libsaddle-mpi.so, which the package loads under mpirun, and
# libsaddle.so, which does not need libmpi.
#
# The interpreter must have cffi and NumPy; /usr/bin/python3 is tried before what the path has. Sanitized libraries
# cannot be loaded into it.
set(SADDLE_PYTHON AUTO CACHE STRING
    "The Python package: OFF, AUTO, or the interpreter that it is made by and tested with")
if(SADDLE_PYTHON STREQUAL AUTO)
  set(candidates /usr/bin/python3 python3)
elseif(SADDLE_PYTHON)
  set(candidates ${SADDLE_PYTHON})
endif()
if(NOT SADDLE_PYTHON OR SADDLE_SANITIZE OR SADDLE_COVERAGE OR SADDLE_FUZZ)
  return()
endif()
foreach(candidate ${candidates})
  if(NOT SADDLE_PYTHON_FOUND)
    execute_process(COMMAND ${candidate} -c "import cffi, pycparser, numpy" RESULT_VARIABLE missing
                    OUTPUT_QUIET ERROR_QUIET)
    if(missing STREQUAL 0)
      set(SADDLE_PYTHON_FOUND ${candidate})
    endif()
  endif()
endforeach()
if(NOT SADDLE_PYTHON_FOUND)
  message(STATUS "The Python package is not built: no python3 with cffi and NumPy")
  return()
endif()

set(package ${PROJECT_BINARY_DIR}/python/saddle)
file(MAKE_DIRECTORY ${package})
file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python/saddle
     ${PROJECT_SOURCE_DIR}/python/saddle/*.py ${PROJECT_SOURCE_DIR}/python/saddle/py.typed)
file(GLOB before RELATIVE ${package} ${package}/*.py)
list(REMOVE_ITEM before ${sources} _declarations.py)
foreach(name ${before})
  file(REMOVE ${package}/${name})
endforeach()
foreach(source ${sources})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/saddle/${source} ${package}/${source} SYMBOLIC)
endforeach()
file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/saddle/*.h)
add_custom_command(
  OUTPUT ${package}/_declarations.py
  COMMAND ${SADDLE_PYTHON_FOUND} ${PROJECT_SOURCE_DIR}/python/declarations.py ${CMAKE_C_COMPILER}
          ${PROJECT_SOURCE_DIR}/include ${PROJECT_VERSION} libsaddle.so.${SADDLE_SOVERSION}
          ${package}/_declarations.py
  DEPENDS ${headers} ${PROJECT_SOURCE_DIR}/python/declarations.py ${PROJECT_SOURCE_DIR}/CMakeLists.txt VERBATIM)
if(MPI_C_FOUND)
  add_library(saddle_serial SHARED ${PROJECT_SOURCE_DIR}/src/engines/no_mpi.c
              $<FILTER:$<TARGET_OBJECTS:saddle_objects>,EXCLUDE,/engines/mpi>)
  set(serial ${SADDLE_LIBRARIES})
  list(REMOVE_ITEM serial MPI::MPI_C)
  target_include_directories(saddle_serial PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(saddle_serial PRIVATE saddle_flags ${serial})
  target_link_options(saddle_serial PRIVATE ${SADDLE_HARDEN_LINK} -Wl,--version-script=${SADDLE_EXPORTS})
  set_target_properties(saddle_serial PROPERTIES OUTPUT_NAME saddle LIBRARY_OUTPUT_DIRECTORY ${package}
                        LINK_DEPENDS ${SADDLE_EXPORTS})
  set(shared libsaddle-mpi.so)
else()
  set(shared libsaddle.so)
endif()
add_custom_command(
  OUTPUT ${package}/${shared}
  COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:saddle_shared> ${package}/${shared}
  DEPENDS saddle_shared VERBATIM)
add_custom_command(
  OUTPUT ${PROJECT_BINARY_DIR}/python/METADATA
  COMMAND ${SADDLE_PYTHON_FOUND} -B ${PROJECT_SOURCE_DIR}/python/backend.py > ${PROJECT_BINARY_DIR}/python/METADATA
  DEPENDS ${PROJECT_SOURCE_DIR}/python/backend.py ${PROJECT_SOURCE_DIR}/CMakeLists.txt VERBATIM)
add_custom_target(saddle_python ALL DEPENDS ${package}/_declarations.py ${package}/${shared}
                                            ${PROJECT_BINARY_DIR}/python/METADATA)

# The Debian package python3-saddle (cmake/Package.cmake). `cmake --install` leaves it out, because where an interpreter
# looks for packages depends on the interpreter; `pip install ./python` knows. Without MPI the
# package loads the library of libsaddle${SADDLE_SOVERSION} by its soname. With MPI it has its own library and a link to
# that of libsaddle${SADDLE_SOVERSION}; where that package is not installed, the link is dangling and is ignored.
set(debian lib/python3/dist-packages)
list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/python/saddle/)
install(FILES ${sources} ${package}/_declarations.py DESTINATION ${debian}/saddle COMPONENT python EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_BINARY_DIR}/python/METADATA DESTINATION ${debian}/saddle-${PROJECT_VERSION}.dist-info
        COMPONENT python EXCLUDE_FROM_ALL)
if(MPI_C_FOUND)
  add_dependencies(saddle_python saddle_serial)
  install(TARGETS saddle_serial LIBRARY DESTINATION ${debian}/saddle COMPONENT python EXCLUDE_FROM_ALL)
  file(RELATIVE_PATH link /${debian}/saddle /${CMAKE_INSTALL_LIBDIR}/libsaddle.so.${SADDLE_SOVERSION})
  file(CREATE_LINK ${link} ${PROJECT_BINARY_DIR}/python/libsaddle-mpi.so SYMBOLIC)
  install(FILES ${PROJECT_BINARY_DIR}/python/libsaddle-mpi.so DESTINATION ${debian}/saddle COMPONENT python
          EXCLUDE_FROM_ALL)
endif()
