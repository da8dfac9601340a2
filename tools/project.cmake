# PROJECT_URL and PROJECT_CONTACT of project.conf as TAMIS_URL and TAMIS_CONTACT.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${CMAKE_CURRENT_LIST_DIR}/../project.conf)
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../project.conf lines REGEX "^PROJECT_[A-Z]+=")
foreach(line ${lines})
  string(REGEX MATCH "^PROJECT_([A-Z]+)=(.*)$" line "${line}")
  set(TAMIS_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()
foreach(name URL CONTACT)
  if(NOT TAMIS_${name})
    message(FATAL_ERROR "project.conf does not set PROJECT_${name}")
  endif()
endforeach()
