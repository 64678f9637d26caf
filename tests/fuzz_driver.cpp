// Stands in for libFuzzer where clang is not installed: some thousand seeded inputs, made by cutting,
// repeating and changing the files of a folder. `make nightly` runs the same targets under libFuzzer for
// minutes.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kInputs = 4000;
constexpr std::size_t kLongest = 4096;

std::vector<std::string> seeds(const char* folder) {
  std::vector<std::string> found = {"", "{\"type\":\"hello\",\"protocol\":1}\n",
                                    "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "a,b\n1,2\n",
                                    std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x02", 16)};
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    found.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  std::sort(found.begin() + 5, found.end());
  return found;
}

std::string changed(const std::vector<std::string>& from, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  std::string text = from[below(from.size())];
  for (auto changes = below(8); changes > 0; --changes) {
    const std::size_t at = below(text.size() + 1), length = below(32);
    switch (below(5)) {
      case 0:
        text.insert(at, 1, static_cast<char>(random()));
        break;
      case 1:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(at, text.substr(below(text.size() + 1), length));
        break;
      default: {
        const auto& other = from[below(from.size())];
        text.insert(at, other.substr(below(other.size() + 1), length));
      }
    }
  }
  return text.substr(0, kLongest);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return std::fprintf(stderr, "usage: %s FOLDER\n", arguments[0]), 2;
  const auto from = seeds(arguments[1]);
  std::mt19937_64 random(1);
  for (int i = 0; i < kInputs; ++i) {
    const auto text = changed(from, random);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
  std::printf("%d inputs\n", kInputs);
}
