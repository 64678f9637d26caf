#include "sim/trace/replay_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "base/error.h"
#include "base/text.h"

namespace tandem::sim {
namespace {

constexpr Bytes kNotLimited = std::numeric_limits<Bytes>::max() / 4;
constexpr double kNowhere = std::numeric_limits<double>::infinity();

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : static_cast<char>(c);
  });
  return text;
}

// What a group's nodes draw; none when the power of one device is not known.
struct DrawSum {
  NodeDraw draw{};
  bool known = true;
  void add(const spec::DeviceType& device, int count) {
    if (device.max_watts <= 0) known = false;
    draw.idle += device.idle_watts * count;
    const double more = device.max_watts - device.idle_watts;
    if (device.gpu)
      draw.a_gpu = more;
    else
      draw.cores += more * count;
  }
};

ReplayPool pool_of(const spec::Cluster& cluster, const spec::NodeType& type, int count) {
  ReplayPool pool;
  pool.name = type.name;
  pool.count = static_cast<std::size_t>(count);
  DrawSum draw;
  bool limited = true;
  for (const auto& part : type.devices) {
    const spec::DeviceType& device = *cluster.device(part.device);
    draw.add(device, part.count);
    if (device.gpu) {
      if (!pool.gpu_type.empty())
        throw UserError(
            fmt::format("nodes '{}' have two types of GPUs, {} and {}; a trace cannot be replayed there",
                        type.name, pool.gpu_type, device.name));
      pool.gpu_type = device.name;
      pool.node.gpus += part.count;
    } else {
      pool.node.milli_cores += std::int64_t{1000} * device.cores * part.count;
      limited = limited && device.memory > 0;
      pool.node.memory += device.memory * part.count;
    }
  }
  if (!limited) pool.node.memory = kNotLimited;
  if (draw.known) pool.draw = draw.draw;
  return pool;
}

place::Amount amount_of(const TraceJob& job) {
  place::Amount out;
  out.milli_cores = static_cast<std::int64_t>(std::ceil(job.cores.value_or(0) * 1000 - 1e-6));
  out.memory = job.memory.value_or(0);
  if (job.gpus >= 1)
    out.gpus = static_cast<std::int32_t>(std::ceil(job.gpus - 1e-9));
  else
    out.gpu_share = static_cast<std::int32_t>(std::ceil(job.gpus * 1000 - 1e-6));
  if (out.gpu_share == 1000) out.gpus = 1, out.gpu_share = 0;
  return out;
}

// Pools a job may run in: those with its GPUs; one without GPUs goes where there are none first.
std::vector<std::uint32_t> pools_for(const TraceJob& job, const std::vector<ReplayPool>& pools) {
  std::vector<std::uint32_t> out;
  for (const bool with_gpus : {false, true})
    for (std::uint32_t i = 0; i < pools.size(); ++i) {
      if ((pools[i].node.gpus > 0) != with_gpus) continue;
      if (job.gpus > 0 && (!with_gpus || !accepts(job, pools[i].gpu_type))) continue;
      out.push_back(i);
    }
  return out;
}

class Shapes {
 public:
  explicit Shapes(const std::vector<ReplayPool>& pools) : pools_(pools) {}

  std::uint32_t of(const TraceJob& job) {
    const place::Amount part = amount_of(job);
    const auto key =
        std::tuple(part.milli_cores, part.memory, part.gpus, part.gpu_share, job.tasks, job.gpu_type);
    const auto [found, fresh] = numbers_.try_emplace(key, static_cast<std::uint32_t>(shapes.size()));
    if (fresh) shapes.push_back({part, job.tasks, pools_for(job, pools_)});
    return found->second;
  }
  std::vector<ReplayShape> shapes;

 private:
  using Key = std::tuple<std::int64_t, Bytes, std::int32_t, std::int32_t, int, std::string>;
  const std::vector<ReplayPool>& pools_;
  std::map<Key, std::uint32_t> numbers_;
};

// Seconds of one job in each pool; nothing measured there: it cannot run there.
void add_measured(const TraceJob& job, const std::vector<ReplayPool>& pools, const Throughputs& measured,
                  ReplayInput& out) {
  for (const auto& pool : pools) {
    const std::string type = lower(pool.gpu_type);
    const auto seconds = [&](const std::string& where) {
      const auto rate = measured.steps_a_second(where, job.application, job.tasks);
      return rate && job.steps ? *job.steps / *rate : kNowhere;
    };
    const double together = job.duration.value_or(seconds(type));
    const double spread = job.duration.value_or(seconds(type + "_unconsolidated"));
    out.by_pool.push_back(together);
    out.by_pool_spread.push_back(std::isfinite(spread) ? spread : together);
  }
}

void note_holes(const Trace& trace, std::vector<std::string>& notes) {
  std::size_t cores = 0, memory = 0;
  for (const auto& job : trace.jobs) cores += !job.cores, memory += !job.memory;
  if (cores > 0)
    notes.push_back(fmt::format("{} jobs do not say how many cores they need: none were taken", cores));
  if (memory > 0)
    notes.push_back(fmt::format("{} jobs do not say how much memory they need: none was taken", memory));
}

}  // namespace

std::vector<ReplayPool> pools_of(const spec::Cluster& cluster) {
  std::vector<ReplayPool> out;
  for (const auto& group : cluster.nodes)
    for (const auto& type : cluster.types)
      if (type.name == group.type) out.push_back(pool_of(cluster, type, group.count));
  return out;
}

std::vector<ReplayPool> pools_of(const std::vector<TraceNode>& nodes) {
  std::vector<ReplayPool> out;
  for (const auto& node : nodes) {
    ReplayPool pool;
    pool.gpu_type = node.gpu_type;
    pool.node = {static_cast<std::int64_t>(node.cores * 1000), node.memory > 0 ? node.memory : kNotLimited,
                 node.gpus, 0};
    const auto found = std::find_if(out.begin(), out.end(), [&](const ReplayPool& other) {
      return other.gpu_type == pool.gpu_type && other.node == pool.node;
    });
    if (found != out.end()) {
      ++found->count;
      continue;
    }
    pool.name = fmt::format("{:g} cores", node.cores);
    if (node.gpus > 0) pool.name += fmt::format(", {} {}", node.gpus, node.gpu_type);
    out.push_back(std::move(pool));
  }
  return out;
}

TraceReplay replay_of(const Trace& trace, std::vector<ReplayPool> pools, const Throughputs* throughputs) {
  TraceReplay out;
  Shapes shapes(pools);
  for (const auto& job : trace.jobs) {
    if (!job.duration && !throughputs)
      throw UserError(
          fmt::format("{}:{}: job '{}' has no duration; give the file with measured throughputs, or leave "
                      "jobs without a duration out",
                      trace.file, job.line, job.name));
    out.input.jobs.push_back({job.submitted, job.duration.value_or(0), shapes.of(job), job.priority});
    if (!throughputs) continue;
    add_measured(job, pools, *throughputs, out.input);
    if (std::none_of(out.input.by_pool.end() - static_cast<std::ptrdiff_t>(pools.size()),
                     out.input.by_pool.end(), [](double seconds) { return std::isfinite(seconds); }))
      out.not_measured.push_back(static_cast<std::uint32_t>(out.input.jobs.size() - 1));
  }
  if (out.input.jobs.empty()) throw UserError(fmt::format("{}: there is no job to replay", trace.file));
  note_holes(trace, out.notes);
  out.input.shapes = std::move(shapes.shapes);
  out.input.pools = std::move(pools);
  return out;
}

}  // namespace tandem::sim
