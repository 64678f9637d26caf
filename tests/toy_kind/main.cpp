// `tandem` with one kind of job more.
#include "cli/run.h"
#include "tests/toy_kind/sleep.h"

int main(int argc, char** argv) {
  tandem::app::add_kind(tandem::toy::sleep_kind());
  return tandem::cli::run(argc, argv);
}
