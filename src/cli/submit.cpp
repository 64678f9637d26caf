// tandem submit
#include "cli/jobs.h"

#include <fmt/format.h>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/kinds.h"
#include "base/error.h"

namespace tandem::cli {
namespace {

using nlohmann::json;

std::string spec_text(const std::string& file) {
  std::ostringstream text;
  if (file == "-") {
    text << std::cin.rdbuf();
    return text.str();
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) throw UserError("cannot read " + file + ": is the path right?");
  text << in.rdbuf();
  return text.str();
}

int submit(const JobsOptions& options) {
  ServerClient client(options.server);
  json jobs = json::array();
  bool all_queued = true;
  for (const auto& file : options.what) {
    std::string unmet;
    const auto job = client.submit(spec_text(file), std::filesystem::current_path().string(), file, &unmet);
    if (!unmet.empty()) {
      std::cerr << "tandem: " << file << " was not queued: " << unmet << "\n";
      all_queued = false;
      continue;
    }
    jobs.push_back(job);
    if (!options.json.alone())
      std::cout << fmt::format("Job {} ({}) is {}.\n", job["job"].get<int>(), word(job["name"]),
                               word(job["state"]))
                << std::flush;
    for (const auto& note : job.value("notes", json::array()))
      std::cerr << fmt::format("tandem: job {}: {}\n", job["job"].get<int>(), word(note));
  }
  bool well = true;
  for (auto& job : jobs) {
    if (!options.wait) continue;
    job = client.wait_for(job["job"].get<int>());
    well &= word(job["state"]) == "finished";
    if (!options.json.alone())
      std::cout << fmt::format("Job {} has {}{}\n", job["job"].get<int>(), word(job["state"]),
                               word(job["reason"]).empty() ? "." : ": " + word(job["reason"]));
  }
  options.json.write({{"jobs", jobs}});
  return !well ? kTrouble : all_queued ? kDone : kAnswerIsNo;
}

}  // namespace

void add_submit(CLI::App& app, Action& action) {
  auto options = std::make_shared<JobsOptions>();
  CLI::App* command = add_question(
      app, action, options, "submit", "Queue jobs at a server (tandem serve)",
      "  tandem submit examples/lenet-digits.yaml\n"
      "  tandem submit job.yaml --wait && echo done\n"
      "  tandem submit - < job.yaml\n\n"
      "What a scheduler should know goes under `place:` in the spec:\n"
      "  place: {priority: 5, energy_weight: 0.8, deadline: 2h, accelerator: V100, takes: 20min}\n"
      "Values that a training spec leaves open (batch_size: {choice: [64, 128]}) are chosen so that it meets "
      "its\n"
      "place.deadline; one for which none is likely to is not queued (exit code 3).\n"
      "Any command can be a job: program: {command: [./work.sh, --fast], plain: true}",
      submit);
  std::vector<std::string> queued;
  for (const auto& kind : kinds())
    if (kind.queued) queued.push_back(kind.name);
  command
      ->add_option("spec", options->what,
                   fmt::format("job specs (kind {}); - is standard input", fmt::join(queued, ", ")))
      ->required()
      ->type_name("SPEC...");
  command->add_flag("--wait", options->wait, "until they are over; exit code 1 if one did not finish");
}

}  // namespace tandem::cli
