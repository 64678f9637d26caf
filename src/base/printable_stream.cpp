#include "base/printable_stream.h"

#include <utility>

#include "base/text.h"

namespace tandem {

PrintableStream::PrintableStream(std::ostream& stream) : stream_(stream), behind_(stream.rdbuf(this)) {}

PrintableStream::~PrintableStream() {
  const auto rest = printable(unfinished_);
  behind_->sputn(rest.data(), static_cast<std::streamsize>(rest.size()));
  const auto state = stream_.rdstate();  // rdbuf clears it, and who wrote in vain shall still see that
  stream_.rdbuf(behind_);
  stream_.setstate(state);
}

int PrintableStream::overflow(int c) {
  if (c == traits_type::eof()) return traits_type::not_eof(c);
  const char one = traits_type::to_char_type(c);
  return xsputn(&one, 1) == 1 ? c : traits_type::eof();
}

std::streamsize PrintableStream::xsputn(const char* text, std::streamsize count) {
  std::string all = std::exchange(unfinished_, {}) + std::string(text, static_cast<std::size_t>(count));
  const std::size_t whole = all.size() - unfinished_bytes(all);
  unfinished_ = all.substr(whole);
  all.resize(whole);
  const auto shown = printable(all, std::string::npos);
  const auto size = static_cast<std::streamsize>(shown.size());
  return behind_->sputn(shown.data(), size) == size ? count : 0;
}

int PrintableStream::sync() {
  return behind_->pubsync();
}

void write_as_it_is(std::ostream& stream, std::string_view text) {
  auto* filtered = dynamic_cast<PrintableStream*>(stream.rdbuf());
  if (filtered == nullptr) {
    stream.write(text.data(), static_cast<std::streamsize>(text.size()));
    return;
  }
  const auto size = static_cast<std::streamsize>(text.size());
  if (filtered->behind_->sputn(text.data(), size) != size) stream.setstate(std::ios::badbit);
}

}  // namespace tandem
