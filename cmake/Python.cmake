# The Python package, complete in ${PROJECT_BINARY_DIR}/python: links to its sources, declarations that are made from
# the headers, the library, the module of the engine mpi and the program.
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
  saddle_left_out(AUTO "the Python package" "Python 3 with cffi and NumPy (python3-cffi python3-numpy)")
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
# The paper's experiments are saddle.reproduce.
set(experiments ${package}/reproduce)
file(MAKE_DIRECTORY ${experiments})
file(GLOB experiment_sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/experiments
     ${PROJECT_SOURCE_DIR}/experiments/*.py)
file(GLOB before RELATIVE ${experiments} ${experiments}/*.py)
list(REMOVE_ITEM before ${experiment_sources})
foreach(name ${before})
  file(REMOVE ${experiments}/${name})
endforeach()
foreach(source ${experiment_sources})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/experiments/${source} ${experiments}/${source} SYMBOLIC)
endforeach()
file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/saddle/*.h)
add_custom_command(
  OUTPUT ${package}/_declarations.py
  COMMAND ${SADDLE_PYTHON_FOUND} ${PROJECT_SOURCE_DIR}/python/declarations.py ${CMAKE_C_COMPILER}
          ${PROJECT_SOURCE_DIR}/include ${PROJECT_VERSION} ${package}/_declarations.py
  DEPENDS ${headers} ${PROJECT_SOURCE_DIR}/python/declarations.py ${PROJECT_SOURCE_DIR}/CMakeLists.txt VERBATIM)

# The library of the package also has the program, so that bin/saddle is main() alone and needs no internals of the
# library: what is exported in addition to the public functions is saddle_main().
file(READ ${SADDLE_EXPORTS} exports)
string(REPLACE "global:\n" "global:\n    saddle_main;\n" exports "${exports}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/package.map CONTENT "${exports}" @ONLY)
add_library(saddle_package SHARED $<TARGET_OBJECTS:saddle_program> $<TARGET_OBJECTS:saddle_objects>)
if(MPI_C_FOUND)
  add_custom_command(
    OUTPUT ${package}/libsaddle-mpi.so
    COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:saddle_mpi> ${package}/libsaddle-mpi.so
    DEPENDS saddle_mpi VERBATIM)
  set(modules ${package}/libsaddle-mpi.so)
endif()
if(ZMQ_FOUND)
  add_custom_command(
    OUTPUT ${package}/libsaddle-peer.so
    COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:saddle_peer> ${package}/libsaddle-peer.so
    DEPENDS saddle_peer VERBATIM)
  list(APPEND modules ${package}/libsaddle-peer.so)
endif()
if(TARGET saddle_cuda)
  add_custom_command(
    OUTPUT ${package}/libsaddle-cuda.so
    COMMAND ${CMAKE_COMMAND} -E create_symlink ${SADDLE_CUDA_MODULE} ${package}/libsaddle-cuda.so
    DEPENDS ${SADDLE_CUDA_MODULE} VERBATIM)
  list(APPEND modules ${package}/libsaddle-cuda.so)
endif()
target_include_directories(saddle_package PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(saddle_package PRIVATE saddle_flags ${SADDLE_LIBRARIES})
target_link_options(saddle_package PRIVATE -Wl,--version-script=${PROJECT_BINARY_DIR}/package.map)
set_target_properties(saddle_package PROPERTIES OUTPUT_NAME saddle LIBRARY_OUTPUT_DIRECTORY ${package}
                      LINK_DEPENDS ${PROJECT_BINARY_DIR}/package.map)
add_executable(saddle_packaged ${PROJECT_SOURCE_DIR}/cli/main.c)
target_include_directories(saddle_packaged PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}
                                                   ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/cli)
target_link_libraries(saddle_packaged PRIVATE saddle_flags saddle_package)
# LD_LIBRARY_PATH, which may name a libsaddle.so without the program, comes after an RPATH, but before a RUNPATH.
target_link_options(saddle_packaged PRIVATE -Wl,--disable-new-dtags)
set_target_properties(saddle_packaged PROPERTIES OUTPUT_NAME saddle RUNTIME_OUTPUT_DIRECTORY ${package}/bin
                      BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/..")
add_custom_command(
  OUTPUT ${PROJECT_BINARY_DIR}/python/METADATA
  COMMAND ${SADDLE_PYTHON_FOUND} -B ${PROJECT_SOURCE_DIR}/python/backend.py > ${PROJECT_BINARY_DIR}/python/METADATA
  DEPENDS ${PROJECT_SOURCE_DIR}/python/backend.py ${PROJECT_SOURCE_DIR}/CMakeLists.txt VERBATIM)
# Signatures for editors and type checkers, with all options; made by the package itself.
list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/python/saddle/)
add_custom_command(
  OUTPUT ${package}/__init__.pyi
  COMMAND ${CMAKE_COMMAND} -E env --unset=SADDLE_LIBRARY ${SADDLE_PYTHON_FOUND} -B
          ${PROJECT_SOURCE_DIR}/python/stubs.py ${PROJECT_BINARY_DIR}/python
  DEPENDS saddle_package ${package}/_declarations.py ${sources} ${PROJECT_SOURCE_DIR}/python/stubs.py VERBATIM)
add_custom_target(saddle_python ALL DEPENDS ${package}/_declarations.py ${package}/__init__.pyi ${modules}
                                            ${PROJECT_BINARY_DIR}/python/METADATA)
add_dependencies(saddle_python saddle_packaged)

# The Debian package python3-saddle (cmake/Package.cmake). `cmake --install` leaves it out, because where an interpreter
# looks for packages depends on the interpreter; `pip install ./python` knows. It has its own library and program, which
# find modules where the package libsaddle${SADDLE_SOVERSION}-mpi has them.
set(debian lib/python3/dist-packages)
install(FILES ${sources} ${package}/_declarations.py ${package}/__init__.pyi DESTINATION ${debian}/saddle
        COMPONENT python EXCLUDE_FROM_ALL)
list(TRANSFORM experiment_sources PREPEND ${PROJECT_SOURCE_DIR}/experiments/)
install(FILES ${experiment_sources} DESTINATION ${debian}/saddle/reproduce COMPONENT python EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_BINARY_DIR}/python/METADATA DESTINATION ${debian}/saddle-${PROJECT_VERSION}.dist-info
        COMPONENT python EXCLUDE_FROM_ALL)
install(TARGETS saddle_package LIBRARY DESTINATION ${debian}/saddle COMPONENT python EXCLUDE_FROM_ALL)
install(TARGETS saddle_packaged RUNTIME DESTINATION ${debian}/saddle/bin COMPONENT python EXCLUDE_FROM_ALL)
