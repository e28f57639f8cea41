# Targets of this project. Flags hang on one INTERFACE target, never on directories.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_library(parity_flags INTERFACE)
target_compile_options(parity_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion $<$<BOOL:${PARITY_WERROR}>:-Werror>
                                              # a*b+c must give the same bits on every machine
                                              -ffp-contract=off)
target_include_directories(parity_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
if(PARITY_SANITIZE)
  target_compile_options(parity_flags INTERFACE -fsanitize=${PARITY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(parity_flags INTERFACE -fsanitize=${PARITY_SANITIZE})
endif()

# parity_library(NAME compare SRCS a.cc TESTS a_test.cc DEPS parity::tensor PRIVATE_DEPS hwy LABELS unit)
# One module: a static library parity::<name>, and a test program <name>_tests of its TESTS.
function(parity_library)
  cmake_parse_arguments(ARG "" "NAME" "SRCS;TESTS;DEPS;PRIVATE_DEPS;TEST_DEPS;LABELS" ${ARGN})
  add_library(parity_${ARG_NAME} STATIC ${ARG_SRCS})
  add_library(parity::${ARG_NAME} ALIAS parity_${ARG_NAME})
  target_link_libraries(parity_${ARG_NAME} PUBLIC ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS} $<BUILD_INTERFACE:parity_flags>)
  if(ARG_TESTS AND PARITY_BUILD_TESTS)
    parity_test(NAME ${ARG_NAME}_tests SRCS ${ARG_TESTS} DEPS parity::${ARG_NAME} ${ARG_TEST_DEPS} LABELS ${ARG_LABELS})
  endif()
endfunction()

# parity_test(NAME compare_tests SRCS … DEPS … LABELS unit): a GoogleTest program, one ctest each test; label "unit" unless told.
# Tests find committed data below PARITY_TEST_DATA (tests/data) and the checkout below PARITY_SOURCE_DIR.
function(parity_test)
  cmake_parse_arguments(ARG "" "NAME;TIMEOUT" "SRCS;DEPS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${ARG_NAME} ${ARG_SRCS})
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS} parity_flags GTest::gtest_main GTest::gmock)
  target_compile_definitions(${ARG_NAME} PRIVATE PARITY_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                                 PARITY_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data"
                                                 PARITY_BINARY_DIR="${PROJECT_BINARY_DIR}")
  gtest_discover_tests(${ARG_NAME} DISCOVERY_MODE PRE_TEST PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
endfunction()
