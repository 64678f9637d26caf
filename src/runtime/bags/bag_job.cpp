#include "runtime/bags/bag_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <thread>

#include "base/error.h"
#include "base/text.h"
#include "data/files.h"
#include "runtime/bags/triangles.h"
#include "runtime/bags/words.h"

namespace tandem::bags {
namespace {

// Calls task(which, slot) for each; a free slot takes the next.
template <class Task>
void on_slots(const std::vector<int>& run, int slots, Task task) {
  std::atomic<std::size_t> next{0};
  std::vector<std::jthread> threads;
  for (int slot = 0; slot < slots; ++slot)
    threads.emplace_back([&, slot] {
      for (std::size_t i; (i = next.fetch_add(1)) < run.size();) task(run[i], static_cast<std::size_t>(slot));
    });
}

Counts run_words(const BagJob& job, const std::vector<int>& run) {
  const auto bytes = data::read_file(job.input);
  std::vector<WordCounts> seen(static_cast<std::size_t>(job.slots));
  on_slots(run, job.slots, [&](int task, std::size_t slot) {
    count_words(piece(data::as_text(bytes), task, job.tasks), seen[slot]);
  });
  Counts out;
  for (const auto& one : seen)
    for (const auto& [word, count] : one) out[std::string(word)] += count;
  return out;
}

Counts run_triangles(const BagJob& job, const std::vector<int>& run) {
  const auto graph = read_graph(job.input);
  std::vector<std::vector<std::uint64_t>> seen(static_cast<std::size_t>(job.slots));
  on_slots(run, job.slots,
           [&](int task, std::size_t slot) { count_triangles(graph, task, job.tasks, seen[slot]); });
  Counts out;
  for (const auto& one : seen)
    for (std::size_t vertex = 0; vertex < one.size(); ++vertex)
      if (one[vertex] > 0) out[std::to_string(vertex)] += one[vertex];
  return out;
}

}  // namespace

const char* name_of(Work work) {
  return work == Work::words ? "words" : "triangles";
}

Work find_work(const std::string& name) {
  const std::vector<std::string> known{"words", "triangles"};
  for (const Work work : {Work::words, Work::triangles})
    if (name == name_of(work)) return work;
  throw UserError(fmt::format("'{}' is no work for a bag of tasks; known: {}{}", name, join(known),
                              did_you_mean(name, known)));
}

Counts run_bag(const BagJob& job, const std::vector<int>& run) {
  if (job.tasks < 1 || job.slots < 1)
    throw UserError(fmt::format("{} tasks on {} threads: at least 1 of each", job.tasks, job.slots));
  for (const int task : run)
    if (task < 0 || task >= job.tasks)
      throw UserError(fmt::format("task {} is none of this job's; they are 0 to {}", task, job.tasks - 1));
  return job.work == Work::words ? run_words(job, run) : run_triangles(job, run);
}

std::vector<std::string> bag_command(const std::string& program, const BagJob& job,
                                     const std::vector<int>& run, const std::filesystem::path& result) {
  return {program,     name_of(job.work),
          "--input",   job.input.string(),
          "--tasks",   std::to_string(job.tasks),
          "--threads", std::to_string(job.slots),
          "--run",     fmt::format("{}", fmt::join(run, ",")),
          "--result",  result.string()};
}

}  // namespace tandem::bags
