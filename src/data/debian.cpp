#include "data/debian.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "base/error.h"
#include "data/files.h"
#include "data/text.h"

namespace tandem::data {
namespace {

constexpr double kDebianTestShare = 0.2;
constexpr TextOptions kText{.vocabulary = 20000, .length = 24, .rarest = 2};

std::string_view next_line(std::string_view& rest) {
  const auto end = std::min(rest.find('\n'), rest.size());
  const auto line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// "contrib/games" and "games" are one section.
std::string_view without_area(std::string_view section) {
  const auto slash = section.rfind('/');
  return slash == std::string_view::npos ? section : section.substr(slash + 1);
}

void keep_if_whole(Package& package, std::vector<Package>& packages) {
  if (!package.name.empty() && !package.section.empty() && !package.description.empty()) {
    packages.push_back(std::move(package));
  }
  package = {};
}

struct Found {
  std::vector<Package> packages;  // each name once
  std::string source;
};

Found find_packages(const DebianOptions& options) {
  const DebianFiles files = find_debian_lists(options);
  Found found;
  std::unordered_set<std::string> seen;
  const auto add = [&](const std::filesystem::path& path) {
    const Buffer bytes = read_decoded(path);
    for (auto& package : parse_packages(as_text(bytes))) {
      if (seen.insert(package.name).second) found.packages.push_back(std::move(package));
    }
  };
  for (const auto& list : files.lists) add(list);
  if (!files.lists.empty()) {
    found.source = fmt::format("{}, {} package lists", options.lists.string(), files.lists.size());
    if (files.unreadable > 0) found.source += fmt::format(" ({} more in an unread form)", files.unreadable);
  } else if (std::filesystem::exists(options.status)) {
    add(options.status);
    found.source =
        fmt::format("{}: installed packages only, since {} has no package lists (`apt-get update`)",
                    options.status.string(), options.lists.string());
  } else {
    throw UserError(fmt::format(
        "dataset 'debian': no package lists in {} and no {}; on a Debian machine run `apt-get update`",
        options.lists.string(), options.status.string()));
  }
  return found;
}

// The most frequent sections, in alphabetical order.
std::vector<std::string> choose_sections(const std::vector<Package>& packages, const DebianOptions& options) {
  std::map<std::string, std::size_t> counts;
  for (const auto& package : packages) ++counts[package.section];
  std::vector<std::pair<std::string, std::size_t>> ranked(counts.begin(), counts.end());
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> chosen;
  for (const auto& [section, count] : ranked) {
    if (count >= options.fewest && chosen.size() < options.sections) chosen.push_back(section);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

std::vector<Package> parse_packages(std::string_view text) {
  std::vector<Package> packages;
  Package package;
  bool in_description = false;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (trimmed(line).empty()) {
      keep_if_whole(package, packages);
      in_description = false;
      continue;
    }
    if (line.front() == ' ' || line.front() == '\t') {
      if (in_description) package.description.append(" ").append(trimmed(line));
      continue;
    }
    const auto colon = line.find(':');
    const auto field = line.substr(0, colon);
    const auto value = colon == std::string_view::npos ? std::string_view() : trimmed(line.substr(colon + 1));
    in_description = field == "Description";
    if (field == "Package") package.name = value;
    if (field == "Section") package.section = without_area(value);
    if (in_description) package.description = value;
  }
  keep_if_whole(package, packages);
  return packages;
}

DebianFiles find_debian_lists(const DebianOptions& options) {
  DebianFiles files;
  for (const auto& entry : sorted_entries(options.lists)) {
    const std::string name = entry.filename().string();
    if (name.ends_with("_Packages") || name.ends_with("_Packages.lz4") || name.ends_with("_Packages.gz")) {
      files.lists.push_back(entry);
    } else if (name.find("_Packages.") != std::string::npos) {
      ++files.unreadable;
    }
  }
  return files;
}

Dataset load_debian(const DebianOptions& options) {
  Found found = find_packages(options);
  Dataset dataset;
  dataset.name = "debian";
  dataset.source = found.source;
  dataset.class_names = choose_sections(found.packages, options);
  dataset.classes = static_cast<std::int64_t>(dataset.class_names.size());
  if (dataset.classes < 2) {
    throw UserError(
        fmt::format("dataset 'debian': {} holds {} packages, too few for two sections of {} each; "
                    "run `apt-get update`",
                    found.source, found.packages.size(), options.fewest));
  }

  struct Placed {
    double place;  // the smallest are kept; the hash decides, so that lists in another order change nothing
    std::size_t package;
    std::int64_t label;
  };
  std::vector<Placed> placed;
  for (std::size_t i = 0; i < found.packages.size(); ++i) {
    const auto at =
        std::lower_bound(dataset.class_names.begin(), dataset.class_names.end(), found.packages[i].section);
    if (at == dataset.class_names.end() || *at != found.packages[i].section) continue;
    placed.push_back({place_of_name(found.packages[i].name), i, at - dataset.class_names.begin()});
  }
  std::sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) { return a.place < b.place; });
  if (placed.size() > options.packages) placed.resize(options.packages);

  std::vector<TextSample> train, test;
  for (const auto& one : placed) {
    const Package& package = found.packages[one.package];
    const bool held_out = place_of_name("test " + package.name) < kDebianTestShare;
    (held_out ? test : train).push_back({words_of(package.name + " " + package.description), one.label});
  }
  if (train.empty() || test.empty()) {
    throw UserError(fmt::format("dataset 'debian': {} holds too few packages to split; run `apt-get update`",
                                found.source));
  }
  encode_text(train, test, kText, dataset);
  return dataset;
}

}  // namespace tandem::data
