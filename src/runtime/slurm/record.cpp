#include "runtime/slurm/record.h"

#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "platform/plain_file.h"

namespace tandem::slurm {
namespace {

constexpr int kVersion = 1;
constexpr std::size_t kLongest = 64 * 1024;

}  // namespace

nlohmann::json to_json(const ExitRecord& r) {
  return {{"version", kVersion},
          {"mark", r.mark},
          {"job", r.job},
          {"node", r.node},
          {"signalled", r.signalled},
          {"status", r.status},
          {"could_not_start", r.could_not_start},
          {"asked_by_slurm", r.asked_by_slurm},
          {"lost_tandem", r.lost_tandem},
          {"out_of_memory", r.out_of_memory},
          {"began", r.began.value},
          {"ended", r.ended.value}};
}

std::optional<ExitRecord> record_from_json(const nlohmann::json& json) {
  try {
    if (json.at("version") != kVersion) return std::nullopt;
    ExitRecord r;
    json.at("mark").get_to(r.mark);
    json.at("job").get_to(r.job);
    json.at("node").get_to(r.node);
    json.at("signalled").get_to(r.signalled);
    json.at("status").get_to(r.status);
    json.at("could_not_start").get_to(r.could_not_start);
    json.at("asked_by_slurm").get_to(r.asked_by_slurm);
    json.at("lost_tandem").get_to(r.lost_tandem);
    json.at("out_of_memory").get_to(r.out_of_memory);
    json.at("began").get_to(r.began.value);
    json.at("ended").get_to(r.ended.value);
    return r;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

void write_whole(const std::filesystem::path& file, const std::string& content) {
  // Two writers (there should be one) must not write into the same file beside it.
  const std::string beside = file.string() + ".new-" + std::to_string(::getpid());
  platform::Descriptor out(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!out) throw_errno("making " + beside);
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t wrote = ::write(out.get(), content.data() + done, content.size() - done);
    if (wrote < 0 && errno != EINTR) throw_errno("writing " + beside);
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
  }
  if (::fsync(out.get()) != 0) throw_errno("writing " + beside);
  out.reset();
  if (::rename(beside.c_str(), file.c_str()) != 0) throw_errno("renaming " + beside);
  platform::Descriptor folder(::open(file.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::fsync(folder.get()) != 0) throw_errno("writing " + file.parent_path().string());
}

void write_record(const std::filesystem::path& file, const ExitRecord& record) {
  write_whole(file, to_json(record).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

std::optional<ExitRecord> read_record(const std::filesystem::path& file, const std::string& mark) {
  try {
    const auto content = platform::read_plain(file, kLongest);
    if (!content) return std::nullopt;
    auto record = record_from_json(parse_json(*content));
    return record && record->mark == mark ? record : std::nullopt;
  } catch (const SystemError&) {  // a program put something else there: there is no record
    return std::nullopt;
  }
}

}  // namespace tandem::slurm
