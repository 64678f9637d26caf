// Templates that nearly every module uses, compiled once for all of them (cmake/common.h says that they are
// here).
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

template class std::basic_string<char>;
template class std::vector<std::string>;
template class std::vector<double>;
template class std::vector<bool>;
template class std::vector<std::vector<double>>;
template class std::vector<std::pair<std::string, std::string>>;
template class std::set<std::string>;
template class std::map<std::string, std::string>;
template class std::map<std::string, double>;

template class nlohmann::basic_json<>;
template class nlohmann::detail::serializer<nlohmann::json>;
template class std::vector<nlohmann::json>;
template class std::map<std::string, nlohmann::json, std::less<>>;
