# saddle_embed(OUT NAME FILE): append to the variable OUT the C definition of an array NAME that holds the
# bytes of FILE and a NUL. A change of the file configures the build anew.
function(saddle_embed out name file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)"
         "\\1\n" bytes "${bytes}")
  set(${out} "${${out}}const char ${name}[] = {\n${bytes}0};\n" PARENT_SCOPE)
endfunction()
