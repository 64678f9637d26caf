// Precompiled for every module (cmake/modules.cmake): what nearly all of them include. Sources still include
// what they use; the preset `dev` compiles them without this.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

// Instantiated once, in src/base/instances.cpp. (C++20 has no instance of std::string in the library.)
extern template class std::basic_string<char>;
extern template class std::vector<std::string>;
extern template class std::vector<double>;
extern template class std::vector<bool>;
extern template class std::vector<std::vector<double>>;
extern template class std::vector<std::pair<std::string, std::string>>;
extern template class std::set<std::string>;
extern template class std::map<std::string, std::string>;
extern template class std::map<std::string, double>;
extern template class nlohmann::basic_json<>;
extern template class nlohmann::detail::serializer<nlohmann::json>;
extern template class std::vector<nlohmann::json>;
extern template class std::map<std::string, nlohmann::json, std::less<>>;
