#include "base/printable_stream.h"

#include <gtest/gtest.h>

#include <sstream>

namespace tandem {
namespace {

TEST(PrintableStream, DisarmsWhatIsWrittenAndNothingElse) {
  std::ostringstream out;
  {
    const PrintableStream filter(out);
    out << "plain\n" << "\x1b]0;x\x07" << 'c' << '\x1b';
    write_as_it_is(out, "\x1b[2K");
    EXPECT_TRUE(out.good());
  }
  out << "\x1b";
  EXPECT_EQ(out.str(), "plain\n\\u001b]0;x\\u0007c\\u001b\x1b[2K\x1b");
}

TEST(PrintableStream, JoinsCharactersThatComeInPieces) {
  std::ostringstream out;
  {
    const PrintableStream filter(out);
    for (const char c : std::string_view("\xe2\x82\xac \xc2\x9b \xe2\x80\xae")) out << c << std::flush;
    out << "\xe2\x80";
  }
  EXPECT_EQ(out.str(), "\xe2\x82\xac \\u009b \\u202e??") << "what never came is broken";
}

TEST(PrintableStream, SaysThatNothingWasWritten) {
  std::ostringstream out;
  const PrintableStream filter(out);
  out.setstate(std::ios::badbit);
  out << "x";
  EXPECT_FALSE(out.good());
}

}  // namespace
}  // namespace tandem
