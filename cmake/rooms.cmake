# One target per folder of src/: the link line is the layering rule (tools/check_layers checks the includes).
#
#   tandem_room(NAME [FOLDER f] [TESTS_AS_ONE] [LINK targets of ours...] [EXTERNAL libraries...])
#
# makes the library tandem_NAME from the folder's sources, the test program NAME_test from its *_test.cpp, and
# with TANDEM_FUZZ one libFuzzer program from each *_fuzz.cpp. TESTS_AS_ONE: the tests share what is slow to start, so
# they run in one process.
function(tandem_fuzzer SOURCE LIBRARY)
  get_filename_component(stem ${SOURCE} NAME_WE)
  add_executable(${stem} ${SOURCE})
  target_link_libraries(${stem} PRIVATE ${LIBRARY})
  target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
  add_test(NAME fuzz.${stem} COMMAND ${stem} -runs=20000 -max_total_time=20 -max_len=4096 -seed=1)
endfunction()

# A test program says which tests it has when ctest starts. Patiently: one that loads libtorch from a cold disk beside
# other programs took longer than CMake's five seconds.
function(tandem_discover_tests PROGRAM)
  gtest_discover_tests(${PROGRAM} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 300 ${ARGN})
endfunction()

function(tandem_room NAME)
  cmake_parse_arguments(ROOM "TESTS_AS_ONE" "FOLDER" "LINK;EXTERNAL" ${ARGN})
  if(NOT ROOM_FOLDER)
    set(ROOM_FOLDER ${NAME})
  endif()
  set(here ${CMAKE_SOURCE_DIR}/src/${ROOM_FOLDER})
  file(GLOB sources CONFIGURE_DEPENDS ${here}/*.cpp)
  set(tests ${sources})
  set(fuzzers ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(_test|_fuzz|_bench|main)\\.cpp$")

  if(sources)
    add_library(tandem_${NAME} STATIC ${sources})
    set(visibility PUBLIC)
  else()
    add_library(tandem_${NAME} INTERFACE)
    set(visibility INTERFACE)
  endif()
  target_include_directories(tandem_${NAME} ${visibility} ${CMAKE_SOURCE_DIR}/src)
  list(TRANSFORM ROOM_LINK PREPEND tandem_)
  target_link_libraries(tandem_${NAME} ${visibility} ${ROOM_LINK} ${ROOM_EXTERNAL})

  if(TANDEM_FUZZ)
    foreach(fuzzer ${fuzzers})
      tandem_fuzzer(${fuzzer} tandem_${NAME})
    endforeach()
  elseif(tests)
    add_executable(${NAME}_test ${tests})
    target_link_libraries(${NAME}_test PRIVATE tandem_${NAME} GTest::gtest_main)
    if(ROOM_TESTS_AS_ONE)
      add_test(NAME ${NAME}_test COMMAND ${NAME}_test)
      set_tests_properties(${NAME}_test PROPERTIES TIMEOUT 300)
    else()
      tandem_discover_tests(${NAME}_test PROPERTIES TIMEOUT 300)
    endif()
  endif()
endfunction()
