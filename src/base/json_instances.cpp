// The JSON library's templates, compiled once for all modules (cmake/common.h says that they are here).
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

template class nlohmann::basic_json<>;
template class nlohmann::detail::serializer<nlohmann::json>;
template class std::vector<nlohmann::json>;
template class std::map<std::string, nlohmann::json, std::less<>>;
