# The Python package, complete in ${PROJECT_BINARY_DIR}/python: links to its sources, declarations that are made from
# the headers, and the library. With MPI there are two: libsaddle-mpi.so, which the package loads under mpirun, and
# libsaddle.so, which does not need libmpi.
#
# The interpreter must have cffi and NumPy; /usr/bin/python3 is tried before what the path has. Sanitized libraries
# cannot be loaded into it.
set(SADDLE_PYTHON AUTO CACHE STRING "The Python package: OFF, AUTO, or the interpreter that it is made by and tested with")
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
          ${PROJECT_SOURCE_DIR}/include ${package}/_declarations.py
  DEPENDS ${headers} ${PROJECT_SOURCE_DIR}/python/declarations.py VERBATIM)
set(libraries ${package}/libsaddle.so)
if(MPI_C_FOUND)
  add_library(saddle_serial SHARED ${PROJECT_SOURCE_DIR}/src/engines/no_mpi.c
              $<FILTER:$<TARGET_OBJECTS:saddle_objects>,EXCLUDE,/engines/mpi>)
  set(serial ${SADDLE_LIBRARIES})
  list(REMOVE_ITEM serial MPI::MPI_C)
  target_include_directories(saddle_serial PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(saddle_serial PRIVATE saddle_flags ${serial})
  target_link_options(saddle_serial PRIVATE ${SADDLE_HARDEN_LINK} -Wl,--version-script=${SADDLE_EXPORTS})
  set_target_properties(saddle_serial PROPERTIES OUTPUT_NAME saddle-serial LINK_DEPENDS ${SADDLE_EXPORTS})
  set(plain saddle_serial)
  list(APPEND libraries ${package}/libsaddle-mpi.so)
  add_custom_command(
    OUTPUT ${package}/libsaddle-mpi.so
    COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:saddle_shared> ${package}/libsaddle-mpi.so
    DEPENDS saddle_shared VERBATIM)
else()
  set(plain saddle_shared)
endif()
add_custom_command(
  OUTPUT ${package}/libsaddle.so
  COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:${plain}> ${package}/libsaddle.so
  DEPENDS ${plain} VERBATIM)
add_custom_target(saddle_python ALL DEPENDS ${package}/_declarations.py ${libraries})
