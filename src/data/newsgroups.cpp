#include "data/newsgroups.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "data/files.h"
#include "data/text.h"

namespace tandem::data {
namespace {

constexpr double kNewsTestShare = 0.2;
constexpr TextOptions kOptions{.vocabulary = 20000, .length = 200, .rarest = 2};

struct Message {
  std::string name;  // CLASS/FILE
  TextSample sample;
};

std::vector<std::string> class_folders(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : sorted_entries(folder)) {
    if (std::filesystem::is_directory(entry)) names.push_back(entry.filename().string());
  }
  return names;
}

std::vector<Message> read_messages(const std::filesystem::path& folder,
                                   const std::vector<std::string>& classes) {
  std::vector<Message> messages;
  for (std::size_t label = 0; label < classes.size(); ++label) {
    const std::size_t before = messages.size();
    for (const auto& file : sorted_entries(folder / classes[label])) {
      const Buffer bytes = read_file(file);
      messages.push_back({classes[label] + "/" + file.filename().string(),
                          {words_of(message_text(as_text(bytes))), static_cast<std::int64_t>(label)}});
    }
    if (messages.size() == before) {
      throw UserError(fmt::format("{}: no messages in this folder; unpack the archive again",
                                  (folder / classes[label]).string()));
    }
  }
  return messages;
}

bool starts_like(std::string_view line, std::string_view field) {
  return line.size() >= field.size() &&
         std::equal(field.begin(), field.end(), line.begin(), [](char a, char b) { return a == (b | 0x20); });
}

// A header line is "Word: ..." or the folded rest of one.
bool is_header_line(std::string_view line) {
  if (line.starts_with(' ') || line.starts_with('\t')) return true;
  const auto colon = line.find(':');
  return colon != std::string_view::npos && colon > 0 &&
         line.substr(0, colon).find(' ') == std::string_view::npos;
}

}  // namespace

std::string message_text(std::string_view message) {
  std::string subject;
  std::string_view rest = message;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) return subject + "\n" + std::string(rest);
    if (!is_header_line(line)) break;
    constexpr std::string_view kSubject = "subject:";
    if (subject.empty() && starts_like(line, kSubject)) subject = line.substr(kSubject.size());
  }
  return std::string(message);
}

NewsgroupsFolders find_newsgroups(const std::filesystem::path& data) {
  std::error_code ignored;
  const auto here = [&](const std::filesystem::path& folder) {
    return std::filesystem::is_directory(folder, ignored);
  };
  for (const auto& base : {data / "newsgroups", data}) {
    const auto train = base / "20news-bydate-train";
    const auto test = base / "20news-bydate-test";
    if (here(train) && here(test)) return {train, test};
    if (here(base / "20news")) return {base / "20news", {}};
  }
  return {};
}

Dataset load_newsgroups(const std::filesystem::path& data) {
  const NewsgroupsFolders folders = find_newsgroups(data);
  if (folders.train.empty()) {
    throw UserError(fmt::format(
        "dataset 'newsgroups': neither 20news-bydate-train and 20news-bydate-test nor 20news is in {0} or "
        "{0}/newsgroups; unpack 20-newsgroups there, one folder a group",
        data.string()));
  }
  Dataset dataset;
  dataset.name = "newsgroups";
  dataset.class_names = class_folders(folders.train);
  dataset.classes = static_cast<std::int64_t>(dataset.class_names.size());
  if (dataset.classes < 2) {
    throw UserError(fmt::format("{}: {} folders of messages; at least 2 groups are needed",
                                folders.train.string(), dataset.classes));
  }
  std::vector<TextSample> train, test;
  for (auto& message : read_messages(folders.train, dataset.class_names)) {
    const bool held_out = folders.test.empty() && place_of_name(message.name) < kNewsTestShare;
    (held_out ? test : train).push_back(std::move(message.sample));
  }
  if (!folders.test.empty()) {
    if (class_folders(folders.test) != dataset.class_names) {
      throw UserError(fmt::format("{}: not the same groups as in {}; unpack the archive again",
                                  folders.test.string(), folders.train.string()));
    }
    for (auto& message : read_messages(folders.test, dataset.class_names)) {
      test.push_back(std::move(message.sample));
    }
  }
  if (train.empty() || test.empty()) {
    throw UserError(
        fmt::format("{}: too few messages to split into a training and a test part", folders.train.string()));
  }
  encode_text(train, test, kOptions, dataset);
  dataset.source = folders.train.string() + (folders.test.empty() ? ", split by name" : ", by date");
  return dataset;
}

}  // namespace tandem::data
