// Nothing: CMake wants a source beside precompiled headers (cmake/modules.cmake).
