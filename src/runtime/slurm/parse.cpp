#include "runtime/slurm/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "runtime/slurm/gpus.h"

namespace tandem::slurm {
namespace {

using Json = nlohmann::json;

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<std::int64_t> number_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  if (found->is_number_integer()) return found->get<std::int64_t>();
  // Newer Slurms write {"set": true, "infinite": false, "number": 4}.
  if (found->is_object() && found->value("set", Json(true)) == Json(true) && found->contains("number"))
    return number_of(*found, "number");
  return std::nullopt;
}

// A list of words, or one word.
std::vector<std::string> words_of(const Json& object, const char* key) {
  std::vector<std::string> words;
  const auto found = object.find(key);
  if (found == object.end()) return words;
  if (found->is_string()) words.push_back(found->get<std::string>());
  if (found->is_array())
    for (const auto& word : *found)
      if (word.is_string()) words.push_back(word.get<std::string>());
  return words;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::optional<SlurmNode> node_from(const Json& entry, std::string& complaint) {
  if (!entry.is_object()) {
    complaint = "an entry of `nodes` is no object";
    return std::nullopt;
  }
  SlurmNode node;
  node.name = text_of(entry, "name");
  const auto cpus = number_of(entry, "cpus");
  const auto megabytes = number_of(entry, "real_memory");
  constexpr std::int64_t kMost = 1 << 30;
  if (node.name.empty() || !cpus || *cpus < 1 || *cpus > kMost || !megabytes || *megabytes < 0 ||
      *megabytes > kMost) {
    complaint = fmt::format("node '{}' has no usable name, cpus or real_memory", printable(node.name));
    return std::nullopt;
  }
  node.cpus = static_cast<int>(*cpus);
  node.memory = *megabytes * kMiB;
  node.address = text_of(entry, "address");
  node.architecture = text_of(entry, "architecture");
  node.gres = text_of(entry, "gres");
  node.features = text_of(entry, "features");
  node.reason = text_of(entry, "reason");
  node.partitions = words_of(entry, "partitions");
  node.flags = words_of(entry, "state_flags");
  // 22.05 has one word; newer ones a list whose first word is the state and the others flags.
  const auto states = words_of(entry, "state");
  if (!states.empty()) {
    node.state = lower(states.front());
    node.flags.insert(node.flags.end(), states.begin() + 1, states.end());
  }
  return node;
}

// Throws when Slurm says in `errors` that this is no answer.
void check_errors(const Json& document) {
  const auto errors = document.find("errors");
  if (errors == document.end() || !errors->is_array() || errors->empty()) return;
  std::string said;
  for (const auto& error : *errors)
    if (error.is_object())
      for (const char* key : {"description", "error"})
        if (const auto part = text_of(error, key); !part.empty()) said += (said.empty() ? "" : ": ") + part;
  throw SystemError(fmt::format("Slurm answered with an error: {}; is slurmctld up (`scontrol ping`)?",
                                said.empty() ? "no description" : printable(said)));
}

std::vector<std::string_view> split(std::string_view text, char at, std::size_t most) {
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < most) {
    const auto end = text.find(at);
    if (end == std::string_view::npos) break;
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

bool SlurmNode::usable() const {
  static constexpr std::array kUp = {"idle",    "mixed",    "allocated", "completing",
                                     "planned", "reserved", "unknown"};
  // "unknown": a controller that has just started has not heard of the node yet.
  // A node that is asleep to save power is woken by the job that wants it.
  static constexpr std::array kAway = {
      "drain",         "fail",        "not_responding", "maintenance", "reboot_requested",
      "reboot_issued", "invalid_reg", "powering_down"};
  const bool up = std::find(kUp.begin(), kUp.end(), state) != kUp.end();
  return up && std::none_of(flags.begin(), flags.end(), [](const std::string& flag) {
           return std::find(kAway.begin(), kAway.end(), lower(flag)) != kAway.end();
         });
}

SlurmNodes parse_sinfo(std::string_view json) {
  const Json document = Json::parse(json, nullptr, false);
  if (!document.is_object())
    throw SystemError("sinfo --json did not print JSON; Slurm 21.08 or newer is needed (`sinfo --version`)");
  check_errors(document);
  const auto entries = document.find("nodes");
  if (entries == document.end() || !entries->is_array())
    throw SystemError("sinfo --json printed no list of nodes; Slurm 21.08 or newer is needed");
  SlurmNodes out;
  for (const auto& entry : *entries) {
    std::string complaint;
    if (auto node = node_from(entry, complaint))
      out.nodes.push_back(std::move(*node));
    else
      out.complaints.push_back(std::move(complaint));
  }
  std::sort(out.nodes.begin(), out.nodes.end(),
            [](const SlurmNode& a, const SlurmNode& b) { return a.name < b.name; });
  return out;
}

std::optional<JobPhase> job_phase(std::string_view state) {
  struct Word {
    std::string_view word;
    JobPhase phase;
  };
  static constexpr std::array kWords = {
      Word{"PENDING", JobPhase::pending},       Word{"REQUEUED", JobPhase::pending},
      Word{"REQUEUE_HOLD", JobPhase::pending},  Word{"REQUEUE_FED", JobPhase::pending},
      Word{"SPECIAL_EXIT", JobPhase::pending},  Word{"RESV_DEL_HOLD", JobPhase::pending},
      Word{"RUNNING", JobPhase::running},       Word{"COMPLETING", JobPhase::running},
      Word{"CONFIGURING", JobPhase::running},   Word{"SUSPENDED", JobPhase::running},
      Word{"STOPPED", JobPhase::running},       Word{"SIGNALING", JobPhase::running},
      Word{"STAGE_OUT", JobPhase::running},     Word{"RESIZING", JobPhase::running},
      Word{"COMPLETED", JobPhase::completed},   Word{"FAILED", JobPhase::failed},
      Word{"CANCELLED", JobPhase::cancelled},   Word{"PREEMPTED", JobPhase::cancelled},
      Word{"REVOKED", JobPhase::cancelled},     Word{"TIMEOUT", JobPhase::timed_out},
      Word{"DEADLINE", JobPhase::timed_out},    Word{"OUT_OF_MEMORY", JobPhase::out_of_memory},
      Word{"NODE_FAIL", JobPhase::node_failed}, Word{"BOOT_FAIL", JobPhase::node_failed},
      Word{"LAUNCH_FAILED", JobPhase::failed},  Word{"RECONFIG_FAIL", JobPhase::failed},
  };
  for (const auto& [word, phase] : kWords)
    if (word == state) return phase;
  return std::nullopt;
}

std::optional<Seconds> parse_span(std::string_view text) {
  double days = 0;
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    const auto whole = whole_number(text.substr(0, dash));
    if (!whole) return std::nullopt;
    days = static_cast<double>(*whole);
    text.remove_prefix(dash + 1);
  }
  double seconds = 0;
  const auto parts = split(text, ':', 4);
  if (parts.size() > 3) return std::nullopt;
  for (const auto part : parts) {
    const auto number = whole_number(part);
    if (!number) return std::nullopt;
    seconds = seconds * 60 + static_cast<double>(*number);
  }
  return Seconds{days * 86400 + seconds};
}

Queue parse_squeue(std::string_view text) {
  Queue queue;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \r") == std::string_view::npos) continue;
    const auto parts = split(line, '|', 6);
    const auto id = whole_number(parts[0]);
    const auto phase = parts.size() == 6 ? job_phase(parts[1]) : std::nullopt;
    if (!id || !phase) {
      queue.complaints.push_back(fmt::format("squeue printed '{}', which is no job as we know them",
                                             printable(std::string(line.substr(0, 200)))));
      continue;
    }
    queue.jobs.push_back({*id, *phase, std::string(parts[1]), std::string(parts[2]), std::string(parts[3]),
                          parse_span(parts[4]), std::string(parts[5] == "(null)" ? "" : parts[5])});
  }
  return queue;
}

std::optional<SlurmJobId> parse_sbatch(std::string_view text) {
  // Site plugins may print lines of their own before it.
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.remove_suffix(1);
  if (const auto line = text.rfind('\n'); line != std::string_view::npos) text.remove_prefix(line + 1);
  const auto id = whole_number(text.substr(0, text.find(';')));
  return id && *id > 0 ? id : std::nullopt;
}

std::optional<double> parse_energy(std::string_view text) {
  double most = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (const auto joules = whole_number(text.substr(0, end)))
      most = std::max(most, static_cast<double>(*joules));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return most > 0 ? std::optional(most) : std::nullopt;
}

std::string hopeless(std::string_view reason) {
  struct Known {
    std::string_view reason, means;
  };
  static constexpr std::array kNever = {
      Known{"PartitionConfig", "it asks for more than any node of the partition has"},
      Known{"BadConstraints", "no node has what it asks for"},
      Known{"PartitionNodeLimit", "it asks for more nodes than the partition allows"},
      Known{"PartitionTimeLimit", "it asks for more time than the partition allows"},
      Known{"AccountNotAllowed", "its account may not use the partition"},
      Known{"QOSNotAllowed", "its quality of service may not use the partition"},
      Known{"InvalidAccount", "there is no such account"},
      Known{"InvalidQOS", "there is no such quality of service"},
      Known{"DependencyNeverSatisfied", "a job it waits for has failed"},
  };
  for (const auto& known : kNever)
    if (known.reason == reason) return fmt::format("{} (Slurm: {})", known.means, known.reason);
  return "";
}

int gpus_in(std::string_view gres) {
  std::int64_t count = 0;
  for (auto part : split(gres, ',', 64)) {
    part = part.substr(0, part.find('('));  // which sockets they are at
    if (part != "gpu" && !part.starts_with("gpu:")) continue;
    const auto last = part.rfind(':');
    const auto number = last == std::string_view::npos ? std::nullopt : whole_number(part.substr(last + 1));
    count += std::min<std::int64_t>(number.value_or(1), 1 << 20);  // "gpu" and "gpu:a100" are one
  }
  return static_cast<int>(count);
}

bool node_away(std::string_view reason) {
  return reason.starts_with("ReqNodeNotAvail") || reason.starts_with("Nodes required for job are") ||
         reason == "NodeDown" || reason == "FrontEndDown";
}

}  // namespace tandem::slurm
