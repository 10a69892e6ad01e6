# The shared library and the program export exactly the functions and constants that the installed headers mark with
# SADDLE_API. Hidden visibility alone does not suffice: gcc exports functions that it compiles once per instruction
# set, and their resolvers, whatever their visibility.
file(GLOB SADDLE_HEADERS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/saddle/*.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${SADDLE_HEADERS})

set(exports "")
foreach(header ${SADDLE_HEADERS})
  file(READ ${header} text)
  string(REPLACE "#define SADDLE_API" "" text "${text}")
  # A semicolon would divide a list.
  string(REPLACE ";" "$" text "${text}")
  string(REGEX MATCHALL "SADDLE_API[^($]*[($]" declarations "${text}")
  foreach(declaration ${declarations})
    string(REGEX REPLACE ".*[ *\n](saddle_[a-z0-9_]+)[($]$" "    \\1;\n" name "${declaration}")
    string(APPEND exports "${name}")
  endforeach()
endforeach()
set(SADDLE_EXPORTS ${PROJECT_BINARY_DIR}/saddle.map)
file(CONFIGURE OUTPUT ${SADDLE_EXPORTS} CONTENT "{\nglobal:\n${exports}local:\n    *;\n};\n")

# Plug-ins use the functions of the program that loads them, so it contains all of them.
if(TARGET saddle)
  set(SADDLE_PROGRAM_EXPORTS ${PROJECT_BINARY_DIR}/program.list)
  file(CONFIGURE OUTPUT ${SADDLE_PROGRAM_EXPORTS} CONTENT "{\n${exports}};\n")
  target_link_options(saddle PRIVATE -Wl,--dynamic-list=${SADDLE_PROGRAM_EXPORTS})
  set_target_properties(saddle PROPERTIES LINK_DEPENDS ${SADDLE_PROGRAM_EXPORTS})
endif()

target_link_options(saddle_shared PRIVATE -Wl,--version-script=${SADDLE_EXPORTS})
set_target_properties(saddle_shared PROPERTIES LINK_DEPENDS ${SADDLE_EXPORTS})
