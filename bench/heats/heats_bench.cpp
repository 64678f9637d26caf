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
  std::function<Section(Judgement&)> make;
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

Section verdict_of(const Judgement& judged) {
  Section out;
  out.title = "What was asked";
  Table table{"", {"", "asked", "measured", ""}, {}};
  std::size_t missed = 0;
  for (const auto& line : judged) {
    table.rows.push_back({line.what, line.asked, line.measured, line.ok ? "ok" : "MISSED"});
    missed += !line.ok;
  }
  out.show(table);
  out.summary = fmt::format("{} of {} lines", judged.size() - missed, judged.size());
  out.verdict = judged.empty() ? Verdict::not_judged : missed == 0 ? Verdict::held : Verdict::missed;
  return out;
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
  Judgement judged;
  for (const Part& part : wanted.empty() ? kParts : wanted) {
    const Section section = part.make(judged);
    fmt::print("{}", markdown ? as_markdown(section) : as_text(section));
    std::fflush(stdout);
  }
  const Section verdict = verdict_of(judged);
  fmt::print("{}", markdown ? as_markdown(verdict) : as_text(verdict));
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!markdown) fmt::print("{:.0f} s\n", took);
  return verdict.verdict == Verdict::missed ? 1 : 0;
} catch (const UserError& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
}
