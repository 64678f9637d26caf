// Our simulator's core beside SimGrid's, with the same model (CM02) and the same constants.
//   simgrid_bench [accuracy [FIRST_SEED [SEEDS]] | speed [REPETITIONS]]    both by default
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "bench/simgrid/accuracy.h"
#include "bench/simgrid/speed.h"

int main(int argc, char** argv) try {
  using namespace tandem::bench;
  const std::string what = argc > 1 ? argv[1] : "";
  const auto number = [&](int i, std::uint64_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  if (what != "" && what != "accuracy" && what != "speed") {
    std::fprintf(stderr, "simgrid_bench: '%s' is neither 'accuracy' nor 'speed'\n", what.c_str());
    return 2;
  }
  bool good = true;
  if (what != "speed") good = compare_accuracy(number(2, 1), number(3, 300)) && good;
  if (what != "accuracy") good = compare_speed(static_cast<int>(what == "speed" ? number(2, 3) : 3)) && good;
  return good ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "simgrid_bench: %s\n", error.what());
  return 1;
}
