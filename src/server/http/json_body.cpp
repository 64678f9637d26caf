#include "server/http/json_body.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "base/text.h"
#include "server/http/http_message.h"

namespace tandem::server {
namespace {

using nlohmann::json;

// Watches the parser go by.
class Strict {
 public:
  explicit Strict(std::size_t nesting) : nesting_(nesting) {}

  bool operator()(int, json::parse_event_t event, json& value) {
    switch (event) {
      case json::parse_event_t::object_start:
      case json::parse_event_t::array_start:
        if (keys_.size() >= nesting_)
          throw Refusal(400, fmt::format("the body nests deeper than {} arrays and objects", nesting_));
        keys_.emplace_back();
        break;
      case json::parse_event_t::key:
        if (!keys_.back().insert(value.get_ref<const std::string&>()).second)
          throw Refusal(400, "the body gives the key '" + printable(value.get_ref<const std::string&>(), 60) +
                                 "' twice");
        break;
      case json::parse_event_t::object_end:
      case json::parse_event_t::array_end:
        keys_.pop_back();
        break;
      case json::parse_event_t::value:
        break;
    }
    return true;
  }

 private:
  std::size_t nesting_;
  std::vector<std::set<std::string>> keys_;  // of the objects we are inside of
};

}  // namespace

json parse_json_body(const std::string& text, std::size_t nesting) {
  Strict strict(nesting);
  try {
    return json::parse(text, std::ref(strict));
  } catch (const json::exception& error) {
    std::string what =
        error.what();  // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    what.erase(0, what.find("] ") == std::string::npos ? 0 : what.find("] ") + 2);
    throw Refusal(400, "the body is not JSON: " + printable(what, 200));
  }
}

}  // namespace tandem::server
