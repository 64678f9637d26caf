#include "spec/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/text.h"

namespace tandem::spec {
namespace {

constexpr std::size_t kMostShown = 100;
const std::vector<std::string> kSpecKinds{"train", "tune", "characterize", "sim"};

std::string kind_problem(const std::string& written, const std::string& wanted) {
  if (written == "cluster")
    return "is cluster, which a simulation names (cluster: FILE); here it must be " + wanted;
  if (std::find(kSpecKinds.begin(), kSpecKinds.end(), written) != kSpecKinds.end())
    return fmt::format("is {0}, which `tandem {0}` runs; here it must be {1}", written, wanted);
  return quote(written) + " is not a kind this version of Tandem can run; known kinds: " + join(kSpecKinds) +
         did_you_mean(written, kSpecKinds);
}

}  // namespace

std::optional<Node> read_kind(std::string_view text, const std::string& kind, Issues& issues) {
  auto root = read_document(text, issues);
  const Node* written = root ? root->find("kind") : nullptr;
  if (written == nullptr || written->kind != Node::Kind::scalar || written->text == kind) return root;
  issues.add(written->at, "kind", kind_problem(written->text, kind));
  return std::nullopt;
}

void refuse(const std::vector<Issue>& issues) {
  std::vector<std::string> lines;
  for (const auto& issue : issues) {
    if (lines.size() == kMostShown) {
      lines.push_back(fmt::format("... and {} more", issues.size() - kMostShown));
      break;
    }
    lines.push_back(text(issue));
  }
  throw UserError(join(lines, "\n"));
}

std::string read_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw UserError(path.string() + " is a folder; give a spec file (YAML)");
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw UserError("cannot read the spec file " + path.string() + ": is it there, and may you read it?");
  std::string content(kLargestDocument + 1, '\0');  // one more, so that a longer file is noticed
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (file.bad()) throw SystemError("reading " + path.string() + " failed");
  content.resize(static_cast<std::size_t>(file.gcount()));
  return content;
}

}  // namespace tandem::spec
