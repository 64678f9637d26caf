// A stream whose text is made printable on its way (base/text.h): put before standard output and error, so that
// no command can pass on what a program, a name or another machine has put into it.
//
// What is ours goes around it by `write_as_it_is`. One thread a stream, as with any.
#pragma once

#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace tandem {

// Puts itself before the stream's own buffer while it lives.
class PrintableStream final : public std::streambuf {
 public:
  explicit PrintableStream(std::ostream&);
  PrintableStream(const PrintableStream&) = delete;
  PrintableStream& operator=(const PrintableStream&) = delete;
  ~PrintableStream() override;

 private:
  friend void write_as_it_is(std::ostream&, std::string_view);
  int overflow(int c) override;
  std::streamsize xsputn(const char*, std::streamsize) override;
  int sync() override;

  std::ostream& stream_;
  std::streambuf* behind_;
  std::string unfinished_;  // the beginning of a character
};

// Codes of our own for a terminal, and bytes that are asked for as they are.
void write_as_it_is(std::ostream&, std::string_view);

}  // namespace tandem
