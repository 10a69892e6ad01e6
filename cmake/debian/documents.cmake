# Run by cpack when it has collected the files of all packages: adds what Debian wants of each, a copyright file and a
# changelog, and compresses the manual page.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(READ ${CPACK_RESOURCE_FILE_LICENSE} license)
string(REGEX REPLACE "^MIT License\n+Copyright ([^\n]*)\n+" "" license "${license}")
set(holder "${CMAKE_MATCH_1}")
string(REPLACE "\n\n" "\n.\n" license "${license}")
string(REGEX REPLACE "\n$" "" license "${license}")
string(REPLACE "\n" "\n " license "${license}")

foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${component}${CPACK_PACKAGING_INSTALL_PREFIX}/share)
  set(documents ${root}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  file(WRITE ${documents}/copyright
       "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: saddle\n\n"
       "Files: *\nCopyright: ${holder}\nLicense: Expat\n ${license}\n")
  file(WRITE ${documents}/changelog
       "saddle (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n  * Version ${CPACK_PACKAGE_VERSION}.\n\n"
       " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  file(GLOB pages ${root}/man/*/*.[1-9])
  execute_process(COMMAND gzip -9nf ${documents}/changelog ${pages} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
