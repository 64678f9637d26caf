# One target per folder of src/: the link line is the layering rule (tools/check_layers checks the includes).
#
#   tandem_module(NAME [FOLDER f] [HOT] [LINK targets of ours...] [EXTERNAL libraries...])
#
# makes the library tandem_NAME from the folder's sources and the test program NAME_test from its *_test.cpp, one entry of
# ctest. Every *_fuzz.cpp becomes a program NAME_fuzz: with TANDEM_FUZZ a libFuzzer of clang's (make nightly), otherwise one
# that tries some thousand seeded inputs (tests/fuzz_driver.cpp).

# What every module reads anyway is precompiled, and the JSON library's templates are instantiated once (cmake/common.h).
# What waits for people, disks and programs is compiled with -O1, what decides and computes (HOT) with -O2; tests with -O1.
# Measured on 2 cores, one group of spec/: 15.7 s as it was, 12.5 s with -O2, 8.3 s with -O1.
option(TANDEM_PCH "precompile common headers" ON)
if(TANDEM_FUZZ OR CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(TANDEM_PCH OFF)
endif()
function(tandem_common_headers NAME OPTIMISE)  # a target that others reuse the headers of
  add_library(${NAME} OBJECT ${CMAKE_SOURCE_DIR}/cmake/common.cpp)
  target_link_libraries(${NAME} PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
  target_compile_options(${NAME} PRIVATE ${OPTIMISE})
  target_precompile_headers(${NAME} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/common.h ${ARGN})
endfunction()
function(tandem_prepare)
  if(TANDEM_PCH)
    tandem_common_headers(tandem_headers_hot "")
    tandem_common_headers(tandem_headers "$<$<CONFIG:Release>:-O1>")
    tandem_common_headers(tandem_headers_test "$<$<CONFIG:Release>:-O1>" <gtest/gtest.h>)
    target_link_libraries(tandem_headers_test PRIVATE GTest::gtest)  # its definitions, or the headers are not used
  endif()
endfunction()
function(tandem_compiled TARGET HEADERS)
  if(NOT HEADERS STREQUAL tandem_headers_hot)
    target_compile_options(${TARGET} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(TANDEM_PCH)
    target_precompile_headers(${TARGET} REUSE_FROM ${HEADERS})
  endif()
endfunction()

# Compiles the sources of a target in groups of about LINES lines (cmake/unity.py says which). Measured on 2 cores: 437
# objects one by one took 16 minutes, in groups 5.
set(TANDEM_UNITY_LINES 4000 CACHE STRING "lines compiled together; 0: every file alone")
function(tandem_unity TARGET)
  set(sources ${ARGN})
  list(LENGTH sources count)
  if(TANDEM_UNITY_LINES EQUAL 0 OR count LESS 2)
    return()
  endif()
  execute_process(COMMAND /usr/bin/python3 -B ${CMAKE_SOURCE_DIR}/cmake/unity.py ${CMAKE_BINARY_DIR}/unity/${TARGET}.json
                          ${TANDEM_UNITY_LINES} ${sources}
                  OUTPUT_VARIABLE groups COMMAND_ERROR_IS_FATAL ANY)
  foreach(source group IN ZIP_LISTS sources groups)
    set_source_files_properties(${source} TARGET_DIRECTORY ${TARGET} PROPERTIES UNITY_GROUP g${group})
  endforeach()
  set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

function(tandem_fuzzer SOURCE)
  get_filename_component(stem ${SOURCE} NAME_WE)
  if(TANDEM_FUZZ)
    add_executable(${stem} ${SOURCE})
    target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
    add_test(NAME fuzz.${stem} COMMAND ${stem} -max_total_time=$ENV{TANDEM_FUZZ_SECONDS} -max_len=4096 -seed=1)
  else()
    add_executable(${stem} ${SOURCE} ${CMAKE_SOURCE_DIR}/tests/fuzz_driver.cpp)
    add_test(NAME fuzz.${stem} COMMAND ${stem} ${CMAKE_SOURCE_DIR}/examples)
    set_tests_properties(fuzz.${stem} PROPERTIES TIMEOUT 300)
  endif()
  target_link_libraries(${stem} PRIVATE ${ARGN})
endfunction()

# One entry of ctest a program, and a part of the target unit_tests (`make check`).
add_custom_target(unit_tests)
function(tandem_test PROGRAM)
  add_dependencies(unit_tests ${PROGRAM})
  add_test(NAME ${PROGRAM} COMMAND ${PROGRAM})
  set_tests_properties(${PROGRAM} PROPERTIES TIMEOUT 900 LABELS unit ${ARGN})
endfunction()

function(tandem_module NAME)
  cmake_parse_arguments(MODULE "HOT" "FOLDER" "LINK;EXTERNAL" ${ARGN})
  if(NOT MODULE_FOLDER)
    set(MODULE_FOLDER ${NAME})
  endif()
  set(here ${CMAKE_SOURCE_DIR}/src/${MODULE_FOLDER})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${here}/*.cpp)
  set(tests ${sources})
  set(fuzzers ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(_test|_fuzz|_bench|main)\\.cpp$")

  if(sources)
    add_library(tandem_${NAME} STATIC ${sources})
    tandem_unity(tandem_${NAME} ${sources})
    if(MODULE_HOT)
      tandem_compiled(tandem_${NAME} tandem_headers_hot)
    else()
      tandem_compiled(tandem_${NAME} tandem_headers)
    endif()
    set(visibility PUBLIC)
  else()
    add_library(tandem_${NAME} INTERFACE)
    set(visibility INTERFACE)
  endif()
  target_include_directories(tandem_${NAME} ${visibility} ${CMAKE_SOURCE_DIR}/src)
  list(TRANSFORM MODULE_LINK PREPEND tandem_)
  target_link_libraries(tandem_${NAME} ${visibility} ${MODULE_LINK} ${MODULE_EXTERNAL})

  foreach(fuzzer ${fuzzers})
    tandem_fuzzer(${fuzzer} tandem_${NAME})
  endforeach()
  if(tests AND NOT TANDEM_FUZZ)
    add_executable(${NAME}_test ${tests})
    tandem_unity(${NAME}_test ${tests})
    tandem_compiled(${NAME}_test tandem_headers_test)
    target_link_libraries(${NAME}_test PRIVATE tandem_${NAME} GTest::gtest_main)
    tandem_test(${NAME}_test)
  endif()
endfunction()
