// A bag of tasks as a program of its own: `tandem-bag` runs some of a job's tasks, on so many threads.
//
// The one who serves jobs decides which tasks are run (place/dias/dias_job.h's dropper) and how fast; the
// program only works. Its tasks are taken in order by whichever thread is free; then the counts are put
// together and written. Killed at any moment it leaves nothing but a result without its end, which nobody
// reads.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/bags/counts.h"

namespace tandem::bags {

enum class Work { words, triangles };
const char* name_of(Work);
Work find_work(const std::string& name);  // UserError

struct BagJob {
  Work work = Work::words;
  std::filesystem::path input{};  // a text, or a graph as write_graph leaves it
  int tasks = 1;
  int slots = 1;  // threads
};

// Here and now; the tasks named must be among the job's. UserError, SystemError.
Counts run_bag(const BagJob&, const std::vector<int>& run);

// The command that does so in a process of its own; `program` is tandem-bag.
std::vector<std::string> bag_command(const std::string& program, const BagJob&, const std::vector<int>& run,
                                     const std::filesystem::path& result);

}  // namespace tandem::bags
