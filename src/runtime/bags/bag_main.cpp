// tandem-bag: runs some of the tasks of a bag and writes what they counted (bag_job.h).
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "runtime/bags/bag_job.h"

int main(int argc, char** argv) {
  using namespace tandem;
  CLI::App app{"Counts words in a text or triangles in a graph, task by task"};
  std::string work, result;
  bags::BagJob job;
  std::vector<int> run;
  app.add_option("work", work, "words or triangles")->required();
  app.add_option("--input", job.input, "a text, or a graph")->required();
  app.add_option("--tasks", job.tasks, "the whole job has so many")->required();
  app.add_option("--threads", job.slots, "so many at a time")->required();
  app.add_option("--run", run, "the tasks to run: 0,1,4")->delimiter(',')->required();
  app.add_option("--result", result, "where the counts go")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    job.work = bags::find_work(work);
    bags::write_counts(bags::run_bag(job, run), result);
    return 0;
  } catch (const UserError& error) {
    fmt::print(stderr, "tandem-bag: {}\n", error.what());
    return 2;
  } catch (const SystemError& error) {
    fmt::print(stderr, "tandem-bag: {}\n", error.what());
    return 1;
  }
}
