# What `cmake --install` (or `make install`) puts in place, below any prefix and DESTDIR: headers,
# both libraries, pkg-config and CMake packages, the program, its manual page and completions. Components are the
# Debian packages of cmake/Package.cmake.
include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/saddle TYPE INCLUDE COMPONENT development
        FILES_MATCHING PATTERN "*.h")

# Two export files: whoever links the shared library needs none of the libraries inside it, so the
# static one is only offered where those can be found.
set(SADDLE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/saddle)
foreach(kind static shared)
  install(TARGETS saddle_${kind} EXPORT saddle_${kind} ARCHIVE COMPONENT development
          LIBRARY COMPONENT library NAMELINK_COMPONENT development)
  install(EXPORT saddle_${kind} FILE saddle-${kind}.cmake NAMESPACE saddle::
          DESTINATION ${SADDLE_CMAKE_DIR} COMPONENT development)
endforeach()
if(MPI_C_FOUND)
  install(TARGETS saddle_mpi LIBRARY DESTINATION ${SADDLE_MODULE_DIR} COMPONENT mpi)
endif()
if(ZMQ_FOUND)
  install(TARGETS saddle_peer LIBRARY DESTINATION ${SADDLE_MODULE_DIR} COMPONENT peer)
endif()
if(TARGET saddle_cuda)
  install(FILES ${SADDLE_CUDA_MODULE} DESTINATION ${SADDLE_MODULE_DIR} COMPONENT cuda
          PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endif()
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/saddleConfig.cmake.in ${PROJECT_BINARY_DIR}/saddleConfig.cmake
  INSTALL_DESTINATION ${SADDLE_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/saddleConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/saddleConfig.cmake
              ${PROJECT_BINARY_DIR}/saddleConfigVersion.cmake
        DESTINATION ${SADDLE_CMAKE_DIR} COMPONENT development)

# pkg-config. The libraries are named rather than required as modules: only the ones that libsaddle
# calls itself are wanted, not what they would need in a fully static program.
set(SADDLE_PC_LIBS ${SADDLE_DEPS_LDFLAGS})
list(JOIN SADDLE_PC_LIBS " " SADDLE_PC_LIBS)
file(RELATIVE_PATH SADDLE_PC_TO_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" SADDLE_PC_TO_PREFIX "${SADDLE_PC_TO_PREFIX}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/saddle.pc.in ${PROJECT_BINARY_DIR}/saddle.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/saddle.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)

if(TARGET saddle)
  install(TARGETS saddle COMPONENT program)

  # The manual page and the completions are printed by the program itself, so that they cannot
  # disagree with its options.
  set(SADDLE_MANUAL ${PROJECT_BINARY_DIR}/share/saddle.1)
  set(SADDLE_COMPLETION ${PROJECT_BINARY_DIR}/share/completion)
  add_custom_command(
    OUTPUT ${SADDLE_MANUAL} ${SADDLE_COMPLETION}.bash ${SADDLE_COMPLETION}.zsh
           ${SADDLE_COMPLETION}.fish
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/share
    COMMAND saddle man > ${SADDLE_MANUAL}
    COMMAND saddle completion bash > ${SADDLE_COMPLETION}.bash
    COMMAND saddle completion zsh > ${SADDLE_COMPLETION}.zsh
    COMMAND saddle completion fish > ${SADDLE_COMPLETION}.fish
    DEPENDS saddle VERBATIM)
  add_custom_target(saddle_manual ALL DEPENDS ${SADDLE_MANUAL})
  install(FILES ${SADDLE_MANUAL} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
  install(FILES ${SADDLE_COMPLETION}.bash RENAME saddle
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
  install(FILES ${SADDLE_COMPLETION}.zsh RENAME _saddle
          DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)
  install(FILES ${SADDLE_COMPLETION}.fish RENAME saddle.fish
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
endif()
