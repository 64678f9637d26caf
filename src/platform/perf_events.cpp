#include "platform/perf_events.h"

#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <string_view>

namespace tandem::platform {
namespace {

constexpr bool kInKernel = true;

void add_hardware(std::vector<EventCode>& events) {
  const auto add = [&](const char* name, std::uint64_t config, const char* group, const char* alias_of = "") {
    events.push_back({name, PERF_TYPE_HARDWARE, config, 0, group, false, false, alias_of});
  };
  add("cpu-cycles", PERF_COUNT_HW_CPU_CYCLES, "core");
  add("instructions", PERF_COUNT_HW_INSTRUCTIONS, "core");
  add("branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branch");
  add("branch-misses", PERF_COUNT_HW_BRANCH_MISSES, "branch");
  add("cache-references", PERF_COUNT_HW_CACHE_REFERENCES, "cache");
  add("cache-misses", PERF_COUNT_HW_CACHE_MISSES, "cache");
  add("stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, "stalled");
  add("stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND, "stalled");
  add("ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES, "");
  add("bus-cycles", PERF_COUNT_HW_BUS_CYCLES, "", "ref-cycles");
}

void add_software(std::vector<EventCode>& events) {
  const auto add = [&](const char* name, std::uint64_t config, bool in_kernel, const char* alias_of = "") {
    events.push_back({name, PERF_TYPE_SOFTWARE, config, 0, "", true, in_kernel, alias_of});
  };
  add("task-clock", PERF_COUNT_SW_TASK_CLOCK, !kInKernel);
  add("cpu-clock", PERF_COUNT_SW_CPU_CLOCK, !kInKernel, "task-clock");
  add("context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES, kInKernel);
  add("cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS, kInKernel);
  // Faults also happen on behalf of system calls; /proc counts those where perf may not.
  add("minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN, kInKernel);
  add("major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ, kInKernel);
  add("page-faults", PERF_COUNT_SW_PAGE_FAULTS, kInKernel, "minor-faults");
  add("alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS, !kInKernel);
  add("emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS, !kInKernel);
}

struct CacheUnit {
  const char* name;
  std::uint64_t id;
  bool stores, prefetches;
};

// Only the combinations perf itself lists.
constexpr CacheUnit kCaches[] = {
    {"L1-dcache", PERF_COUNT_HW_CACHE_L1D, true, true}, {"L1-icache", PERF_COUNT_HW_CACHE_L1I, false, true},
    {"LLC", PERF_COUNT_HW_CACHE_LL, true, true},        {"dTLB", PERF_COUNT_HW_CACHE_DTLB, true, true},
    {"iTLB", PERF_COUNT_HW_CACHE_ITLB, false, false},   {"branch", PERF_COUNT_HW_CACHE_BPU, false, false},
    {"node", PERF_COUNT_HW_CACHE_NODE, true, true}};

void add_caches(std::vector<EventCode>& events) {
  for (const auto& unit : kCaches) {
    const auto add = [&](const std::string& operation, std::uint64_t op, std::string all,
                         std::string missed) {
      const std::string name = unit.name + ("-" + operation);
      const bool branch = unit.id == PERF_COUNT_HW_CACHE_BPU;
      for (const bool miss : {false, true}) {
        const std::uint64_t result =
            miss ? PERF_COUNT_HW_CACHE_RESULT_MISS : PERF_COUNT_HW_CACHE_RESULT_ACCESS;
        const std::string alias_of = !branch ? "" : miss ? "branch-misses" : "branch-instructions";
        events.push_back({unit.name + ("-" + (miss ? missed : all)), PERF_TYPE_HW_CACHE,
                          unit.id | op << 8 | result << 16, 0, name, false, false, alias_of});
      }
    };
    add("load", PERF_COUNT_HW_CACHE_OP_READ, "loads", "load-misses");
    if (unit.stores) add("store", PERF_COUNT_HW_CACHE_OP_WRITE, "stores", "store-misses");
    if (unit.prefetches) add("prefetch", PERF_COUNT_HW_CACHE_OP_PREFETCH, "prefetches", "prefetch-misses");
  }
}

std::optional<std::string> first_line_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  return line;
}

std::optional<std::uint64_t> number(std::string_view written) {
  const bool hex = written.starts_with("0x");
  if (hex) written.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(written.data(), written.data() + written.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end != written.data() + written.size()) return std::nullopt;
  return value;
}

// Puts a value into the bits a format file names: "config:0-7,21".
bool place_bits(const std::string& format, std::uint64_t value, EventCode& event) {
  const auto colon = format.find(':');
  if (colon == std::string::npos) return false;
  const std::string_view where(format.data(), colon);
  if (where != "config" && where != "config1") return false;
  auto& target = where == "config" ? event.config : event.config1;
  std::string_view ranges(format);
  ranges.remove_prefix(colon + 1);
  while (!ranges.empty()) {
    const auto comma = ranges.find(',');
    const auto range = ranges.substr(0, comma);
    ranges = comma == std::string_view::npos ? std::string_view{} : ranges.substr(comma + 1);
    const auto dash = range.find('-');
    const auto low = number(range.substr(0, dash));
    const auto high = dash == std::string_view::npos ? low : number(range.substr(dash + 1));
    if (!low || !high || *low > *high || *high > 63) return false;
    for (auto bit = *low; bit <= *high; ++bit, value >>= 1) target |= (value & 1) << bit;
  }
  return value == 0;
}

// "event=0xcd,umask=0x1,ldlat=3" by the format files of the same device.
bool encode(const std::filesystem::path& device, std::string_view terms, EventCode& event) {
  while (!terms.empty()) {
    const auto comma = terms.find(',');
    const auto term = terms.substr(0, comma);
    terms = comma == std::string_view::npos ? std::string_view{} : terms.substr(comma + 1);
    const auto equals = term.find('=');
    const auto value = equals == std::string_view::npos ? std::uint64_t{1} : number(term.substr(equals + 1));
    const auto format = first_line_of(device / "format" / std::string(term.substr(0, equals)));
    if (!value || !format || !place_bits(*format, *value, event)) return false;
  }
  return true;
}

void add_described(std::vector<EventCode>& events, const std::filesystem::path& sys_root) {
  const auto device = sys_root / "bus/event_source/devices/cpu";
  const auto line = first_line_of(device / "type");
  const auto type = line ? number(*line) : std::nullopt;
  if (!type) return;
  for (const char* name : kDescribedEvents) {
    const auto terms = first_line_of(device / "events" / name);
    EventCode event;
    event.name = name;
    event.type = static_cast<std::uint32_t>(*type);
    if (terms && encode(device, *terms, event)) events.push_back(std::move(event));
  }
}

class LinuxCounter : public Counter {
 public:
  explicit LinuxCounter(int fd) : fd_(fd) {}
  ~LinuxCounter() override { ::close(fd_); }
  LinuxCounter(const LinuxCounter&) = delete;
  LinuxCounter& operator=(const LinuxCounter&) = delete;

  std::optional<Count> read() override {
    std::uint64_t words[3];
    if (::read(fd_, words, sizeof words) != sizeof words) return std::nullopt;
    return Count{words[0], words[1], words[2]};
  }
  int group_handle() const override { return fd_; }

 private:
  int fd_;
};

// Counters must not eat the descriptors that sockets and files need.
bool takes_too_many_descriptors(int fd) {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         static_cast<rlim_t>(fd) > limit.rlim_cur / 2;
}

}  // namespace

std::vector<EventCode> known_events(const std::filesystem::path& sys_root) {
  std::vector<EventCode> events;
  add_software(events);
  add_hardware(events);
  add_caches(events);
  add_described(events, sys_root);
  return events;
}

Opened LinuxCounters::open(const EventCode& event, std::int64_t pid, bool user_only, const Counter* leader) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.config1 = event.config1;
  attributes.inherit = 1;
  attributes.exclude_kernel = user_only;
  attributes.exclude_hv = user_only;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  const int group = leader ? leader->group_handle() : -1;
  const auto fd = static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, static_cast<pid_t>(pid), -1, group, PERF_FLAG_FD_CLOEXEC));
  if (fd < 0) return {nullptr, errno};
  auto counter = std::make_unique<LinuxCounter>(fd);
  if (takes_too_many_descriptors(fd)) return {nullptr, EMFILE};
  return {std::move(counter), 0};
}

}  // namespace tandem::platform
