// tandem submit
#include "cli/jobs.h"

#include <fmt/format.h>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/job_prediction.h"
#include "app/kinds.h"
#include "base/error.h"
#include "cli/progress.h"
#include "report/advice_text.h"

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
  auto store = options.server.store.open();
  const std::string run = word(client.ask("GET", "/v1/status")["run"]);
  json jobs = json::array();
  bool all_queued = true;
  for (const auto& file : options.what) {
    const auto settled = settle_choices(store, spec_text(file), file);
    if (settled.unmet) {
      std::cerr << "tandem: " << file << " was not queued: nothing is likely enough to meet its deadline\n"
                << advice_text(*settled.unmet, output_width());
      all_queued = false;
      continue;
    }
    if (!settled.words.empty()) std::cerr << "tandem: " << settled.words << "\n";
    const std::string& text = settled.spec;
    jobs.push_back(client.submit(text, std::filesystem::current_path().string(), file));
    auto& job = jobs.back();
    if (!options.json.alone())
      std::cout << fmt::format("Job {} ({}) is {}.\n", job["job"].get<int>(), word(job["name"]),
                               word(job["state"]))
                << std::flush;
    for (const auto& note : job.value("notes", json::array())) std::cerr << "tandem: " << word(note) << "\n";
    if (const auto prediction = predict_job(store, run, text, file, job["job"].get<int>())) {
      std::cerr << "tandem: " << prediction->words << "\n";
      job["predicted"] = prediction->json;
    }
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
