# What `make install` gives: the shared library with the public headers and find_package(onnx-parity). The programs install
# themselves where they are defined. The tree can be moved: programs find each other by relative paths.
include(CMakePackageConfigHelpers)

add_library(onnx-parity-library SHARED src/base/version.cc)
set_target_properties(onnx-parity-library PROPERTIES OUTPUT_NAME onnx-parity EXPORT_NAME onnx-parity
                                                     VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                                                     LINKER_LANGUAGE CXX)
target_link_libraries(onnx-parity-library PRIVATE $<BUILD_INTERFACE:parity_flags> parity_base "$<LINK_LIBRARY:WHOLE_ARCHIVE,parity_tensor,parity_compare,parity_verdict,parity_validate,parity_sweep>")
target_include_directories(onnx-parity-library INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                         $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(onnx-parity-library INTERFACE cxx_std_23)
add_library(onnx-parity::onnx-parity ALIAS onnx-parity-library)

install(TARGETS onnx-parity-library EXPORT onnx-parity-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/parity DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/onnx-parity)
install(EXPORT onnx-parity-targets NAMESPACE onnx-parity:: FILE onnx-parity-targets.cmake DESTINATION ${config_folder})
configure_package_config_file(cmake/onnx-parity-config.cmake.in ${PROJECT_BINARY_DIR}/onnx-parity-config.cmake
                              INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/onnx-parity-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/onnx-parity-config.cmake ${PROJECT_BINARY_DIR}/onnx-parity-config-version.cmake
        DESTINATION ${config_folder})
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
