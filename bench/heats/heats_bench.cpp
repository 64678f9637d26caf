// HEATS in the simulator beside the thesis' chapter 3.
//
//   heats_bench [--markdown]
//   [assumptions|migration|prediction|weights|load|period|maintenance]...
//
// Exit code: 0 all floors held; 1 one was missed.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "bench/heats/sections.h"

using namespace tandem;
using namespace tandem::bench;

namespace {

struct Part {
  std::string name;
  std::function<Section()> make;
};

const std::vector<Part> kParts{{"assumptions", assumptions_section},
                               {"migration", migration_section},
                               {"prediction", prediction_section},
                               {"weights", weights_section},
                               {"load", load_section},
                               {"period", period_section},
                               {"maintenance", maintenance_section}};

int usage(const std::string& wrong) {
  std::vector<std::string> names;
  for (const Part& part : kParts) names.push_back(part.name);
  fmt::print(stderr, "'{}' is not known; usage: heats_bench [--markdown] [{}]...\n", wrong,
             fmt::join(names, "|"));
  return 2;
}

}  // namespace

int main(int argc, char** argv) try {
  bool markdown = false;
  std::vector<Part> wanted;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto part =
        std::find_if(kParts.begin(), kParts.end(), [&](const Part& p) { return p.name == word; });
    if (word == "--markdown")
      markdown = true;
    else if (part != kParts.end())
      wanted.push_back(*part);
    else
      return usage(word);
  }
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Section> sections;
  for (const Part& part : wanted.empty() ? kParts : wanted) {
    sections.push_back(part.make());
    fmt::print("{}", markdown ? as_markdown(sections.back()) : as_text(sections.back()));
    std::fflush(stdout);
  }
  bool held = true;
  for (const Section& section : sections) {
    if (sections.size() > 1) fmt::print("{}{}\n", markdown ? "- " : "", summary_line(section));
    held = held && section.verdict != Verdict::missed;
  }
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!markdown) fmt::print("{:.0f} s\n", took);
  return held ? 0 : 1;
} catch (const UserError& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
}
