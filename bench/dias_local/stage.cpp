#include "bench/dias_local/stage.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#include <csignal>
#include <fstream>
#include <numeric>

#include "base/error.h"
#include "platform/topology.h"
#include "runtime/bags/triangles.h"
#include "runtime/bags/words.h"

namespace tandem::bench {
namespace {

constexpr const char* kDocuments = "/usr/share/doc";
// Others on the machine must not stretch what is measured; the quota still bounds what jobs take of it.
constexpr double kWeight = 50;
constexpr int kNice = -10;  // the server reacts at once, for the same reason

// Signals that ask us to end are read, not obeyed: so everything is put back on the way out.
platform::Descriptor asked_to_stop() {
  sigset_t asking;
  sigemptyset(&asking);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&asking, signal);
  if (::sigprocmask(SIG_BLOCK, &asking, nullptr) != 0) throw_errno("blocking signals");
  platform::Descriptor out(::signalfd(-1, &asking, SFD_CLOEXEC));
  if (!out) throw_errno("listening to signals");
  return out;
}

std::vector<int> all_cpus() {
  std::vector<int> out;
  for (const auto& cpu : platform::Topology::detect().cpus) out.push_back(cpu.id);
  return out;
}

}  // namespace

Stage::Stage(StageOptions options)
    : options_(std::move(options)), cpus_(all_cpus()), tidy_([folder = folder_.path()] {
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
      }) {
  stop_ = asked_to_stop();
  if (::setpriority(PRIO_PROCESS, 0, kNice) != 0)
    notes_.push_back("Only root may raise priorities: what else runs on this machine is in the numbers.");
  speed_.emplace(bags::SpeedOptions{.base = options_.base, .cpus = cpus_, .weight = kWeight});
  measure::Surroundings around;
  around.cores = slots();
  sensor_.emplace(measure::SensorOptions{{}, around});
  notes_.push_back("Speed: " + speed_->why() + ".");
  notes_.push_back(fmt::format("Energy of the jobs, their share by CPU time of the machine's: {}.",
                               sensor_->energy_source().empty() ? "no source" : sensor_->energy_source()));
  make_inputs();
}

void Stage::make_inputs() {
  const auto text = folder_.path() / "text", graph_file = folder_.path() / "graph";
  const auto documents = bags::collect_documents(kDocuments, options_.bytes, options_.seed);
  std::ofstream out(text, std::ios::binary);
  out << documents.text << std::flush;
  if (!out) throw SystemError("writing " + text.string());
  const auto graph = bags::power_law_graph(options_.vertices, options_.edges, options_.seed);
  bags::write_graph(graph, graph_file);
  const std::string made = documents.generated
                               ? fmt::format("{} has too few documents, so the text is GENERATED", kDocuments)
                               : fmt::format("from {} files below {}", documents.files, kDocuments);
  notes_.push_back(fmt::format(
      "Low jobs count the words of {} ({}); high jobs count the triangles of a power-law graph of "
      "{} vertices and {} edges. {} map tasks each, on {} threads.",
      text_bytes(static_cast<Bytes>(documents.text.size())), made, graph.vertices(), graph.to.size(),
      options_.tasks, slots()));
  jobs_ = {{bags::Work::triangles, graph_file, options_.tasks, slots()},
           {bags::Work::words, text, options_.tasks, slots()}};
  std::vector<int> all(static_cast<std::size_t>(options_.tasks));
  std::iota(all.begin(), all.end(), 0);
  for (const std::size_t which : {kHigh, kLow}) whole_[which] = bags::run_bag(jobs_[which], all);
}

double Stage::loss(const bags::BagEnd& end) {
  return bags::loss(whole_.at(end.which), bags::read_counts(end.result), options_.tasks, end.tasks_run);
}

Played Stage::play(const std::vector<bags::BagArrival>& arrivals, const bags::BagPolicy& policy,
                   std::uint64_t draw) {
  const auto results = folder_.path() / "results";
  std::filesystem::create_directory(results);
  bags::BagSetting setting;
  setting.folder = results;
  setting.speed = &*speed_;
  setting.sensor = &*sensor_;
  setting.seed = options_.seed + draw;
  setting.stop = stop_.get();
  setting.command = [this](const bags::BagStart& start) {
    return bags::bag_command(options_.bag, jobs_[start.which], start.tasks, start.result);
  };
  Played out{bags::serve(arrivals, policy, setting), {}};
  for (const auto& end : out.run.ends) out.loss.push_back(loss(end));
  std::filesystem::remove_all(results);
  return out;
}

}  // namespace tandem::bench
