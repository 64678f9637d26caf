// The secret that lets a client change something: 64 hexadecimal digits in a file only its owner can read.
//
// Nothing prints a Token; reveal() is for the client's header and for Log::hide alone. Thread-safe: it never
// changes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tandem::server {

class Token {
 public:
  // The file's token; a new one is made when there is no file. Throws UserError when the file is not a
  // private one (mode 0600 or less, ours, no link) or holds no token.
  static Token load_or_create(const std::filesystem::path& file);
  static Token load(const std::filesystem::path& file);
  static Token make();  // random, in no file

  // Takes the same time wherever the first difference is.
  bool matches(std::string_view shown) const;
  const std::string& reveal() const { return secret_; }

 private:
  explicit Token(std::string secret) : secret_(std::move(secret)) {}
  std::string secret_;
};

}  // namespace tandem::server
