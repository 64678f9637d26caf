#include "server/http/http_message.h"

namespace tandem::server {

Response json_response(const nlohmann::json& value, int status) {
  // Broken UTF-8 (a program's output, say) is replaced, not thrown about.
  return {status, value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"};
}

Response error_response(int status, const std::string& message) {
  Response response = json_response({{"error", message}}, status);
  response.why = message;
  return response;
}

Response error_response(const Refusal& refusal) {
  Response response = error_response(refusal.status, refusal.what());
  response.headers = refusal.headers;
  return response;
}

}  // namespace tandem::server
