#include "data/dataset.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cassert>
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "data/cifar.h"
#include "data/debian.h"
#include "data/digits.h"
#include "data/idx.h"
#include "data/newsgroups.h"
#include "data/timings.h"

namespace tandem::data {
namespace {

std::string set_or_empty(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

std::filesystem::path home() {
  const std::string set = set_or_empty("HOME");
  if (!set.empty()) return set;
  const passwd* user = getpwuid(getuid());
  if (user && user->pw_dir) return user->pw_dir;
  throw UserError("no home folder for the cache; set TANDEM_CACHE to a folder");
}

std::vector<std::string> digit_names() {
  return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
}

std::vector<std::string> garment_names() {
  return {"t-shirt", "trouser", "pullover", "dress", "coat",
          "sandal",  "shirt",   "sneaker",  "bag",   "ankle boot"};
}

Availability idx_availability(const std::filesystem::path& folder) {
  const IdxFiles files = find_idx_files(folder);
  if (files.absent.empty()) return {true, folder.string()};
  return {false, fmt::format("put {} into {}", join(files.absent), folder.string())};
}

Availability cifar_availability(const Folders& folders) {
  const CifarFiles files = find_cifar_files(folders.data);
  if (files.train.empty()) {
    return {false,
            fmt::format("put data_batch_*.bin and test_batch.bin (the binary version, plain or .gz) into {}",
                        (folders.data / "cifar10").string())};
  }
  if (files.test.empty())
    return {false, fmt::format("put test_batch.bin[.gz] into {}", files.folder.string())};
  return {true, files.folder.string()};
}

Availability newsgroups_availability(const Folders& folders) {
  const NewsgroupsFolders found = find_newsgroups(folders.data);
  if (!found.train.empty()) return {true, found.train.string()};
  return {false, fmt::format("unpack 20news-bydate (20news-bydate-train and -test) into {}",
                             (folders.data / "newsgroups").string())};
}

Availability debian_availability() {
  const DebianOptions options;
  const DebianFiles files = find_debian_lists(options);
  if (!files.lists.empty()) {
    return {true, fmt::format("{} package lists in {}", files.lists.size(), options.lists.string())};
  }
  if (std::filesystem::exists(options.status)) {
    return {true, fmt::format("{}: installed packages only; `apt-get update` brings many more",
                              options.status.string())};
  }
  return {false, "needs Debian's package lists; run `apt-get update` on a Debian machine"};
}

Availability timings_availability(const Kernel& kernel, const Folders& folders) {
  const auto file = timings_file(kernel, folders.cache);
  if (std::filesystem::exists(file)) return {true, file.string()};
  return {false, fmt::format("made on first use, or by `tandem data get {}`: up to a minute", kernel.name),
          true};
}

[[noreturn]] void unknown(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& entry : datasets()) names.push_back(entry.name);
  throw UserError(fmt::format("unknown dataset '{}'{}; there are {}", printable(name, 80),
                              did_you_mean(name, names), join(names)));
}

std::vector<std::int64_t> balance(const Part& part, std::int64_t classes) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(classes), 0);
  for (const auto label : part.labels) ++counts[static_cast<std::size_t>(label)];
  return counts;
}

}  // namespace

Folders folders_from_environment() {
  Folders folders;
  folders.data = set_or_empty("TANDEM_DATA");
  if (folders.data.empty()) {
    std::error_code ignored;
    const std::filesystem::path shared = "../shared/data";
    folders.data = std::filesystem::is_directory(shared, ignored) ? shared : "data";
  }
  folders.cache = set_or_empty("TANDEM_CACHE");
  if (folders.cache.empty()) folders.cache = home() / ".cache" / "tandem";
  return folders;
}

const std::vector<DatasetEntry>& datasets() {
  static const std::vector<DatasetEntry> table = {
      {"digits", "28 x 28 digits drawn by program; needs nothing", "image"},
      {"mnist", "handwritten digits, 28 x 28 (IDX files)", "image"},
      {"fashion-mnist", "photographs of garments, 28 x 28 (IDX files)", "image"},
      {"cifar10", "colour photographs of ten classes, 32 x 32 (binary version)", "image"},
      {"newsgroups", "messages of 20 newsgroups (folders of files)", "text"},
      {"debian", "package descriptions by section, from this machine's apt lists", "text"},
      {"jacobi", "running times of the Jacobi kernel on this machine", "table"},
      {"kmeans", "running times of the k-means kernel on this machine", "table"},
      {"bfs", "running times of the breadth-first search kernel on this machine", "table"},
  };
  return table;
}

Dataset load(const std::string& name, const Folders& folders) {
  if (name == "digits") return make_digits();
  if (name == "mnist") return load_idx(name, folders.data / name, digit_names());
  if (name == "fashion-mnist") return load_idx(name, folders.data / name, garment_names());
  if (name == "cifar10") return load_cifar(folders.data);
  if (name == "newsgroups") return load_newsgroups(folders.data);
  if (name == "debian") return load_debian();
  if (const Kernel* kernel = find_kernel(name)) return load_timings(*kernel, folders.cache);
  unknown(name);
}

Availability availability(const std::string& name, const Folders& folders) {
  if (name == "digits") return {true, "drawn on the spot"};
  if (name == "mnist" || name == "fashion-mnist") return idx_availability(folders.data / name);
  if (name == "cifar10") return cifar_availability(folders);
  if (name == "newsgroups") return newsgroups_availability(folders);
  if (name == "debian") return debian_availability();
  if (const Kernel* kernel = find_kernel(name)) return timings_availability(*kernel, folders);
  unknown(name);
}

std::string prepare(const std::string& name, const Folders& folders, const Progress& progress) {
  if (const Kernel* kernel = find_kernel(name)) {
    const bool made = prepare_timings(*kernel, folders.cache, progress);
    return fmt::format("{} {}", made ? "measured, kept in" : "already in",
                       timings_file(*kernel, folders.cache).string());
  }
  const Availability there = availability(name, folders);
  if (!there.available) {
    throw UserError(
        fmt::format("dataset '{}' is not here and Tandem does not download: {}", name, there.detail));
  }
  return "nothing to get: " + there.detail;
}

Summary check(const std::string& name, const Folders& folders) {
  const Dataset dataset = load(name, folders);
  Summary summary;
  summary.name = dataset.name;
  summary.source = dataset.source;
  summary.kind = dataset.kind;
  summary.shape = dataset.shape;
  summary.classes = dataset.classes;
  summary.train = dataset.train.count;
  summary.test = dataset.test.count;
  summary.vocabulary = dataset.words.size();
  summary.class_names = dataset.class_names;
  summary.train_balance = balance(dataset.train, dataset.classes);
  summary.test_balance = balance(dataset.test, dataset.classes);
  return summary;
}

std::string_view text(Kind kind) {
  switch (kind) {
    case Kind::image:
      return "image";
    case Kind::text:
      return "text";
    case Kind::table:
      return "table";
  }
  assert(false);
  return "";
}

}  // namespace tandem::data
