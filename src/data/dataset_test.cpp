#include "data/dataset.h"

#include <numeric>
#include <optional>

#include "data/debian.h"
#include "data/scratch_for_test.h"

namespace tandem::data {
namespace {

// Real files, where the machine has them: TANDEM_DATA, else shared/data beside the checkout.
Folders real_folders() {
  const char* set = std::getenv("TANDEM_DATA");
  const auto checkout = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  return {set ? set : checkout.parent_path() / "shared" / "data", {}};
}

// Sets an environment variable for one test.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) before_ = old;
    setenv(name, value, 1);
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  ~Setting() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

#define NEEDS(name)                                                                      \
  if (const auto there = availability(name, real_folders()); !there.available) {         \
    GTEST_SKIP() << "dataset '" << name << "' is not on this machine: " << there.detail; \
  }

TEST(Datasets, EveryNameIsKnownAndSaysWhereItStands) {
  const Scratch scratch;
  const Folders nowhere{scratch.path() / "data", scratch.path() / "cache"};
  for (const auto& entry : datasets()) {
    EXPECT_FALSE(availability(entry.name, nowhere).detail.empty()) << entry.name;
  }
  for (const auto* name : {"mnist", "fashion-mnist", "cifar10", "newsgroups", "jacobi"}) {
    EXPECT_FALSE(availability(name, nowhere).available) << name;
  }
  EXPECT_TRUE(availability("digits", nowhere).available);
}

TEST(Datasets, UnknownNameSuggestsTheNearest) {
  EXPECT_MENTIONS(complaint([] { load("mnits", {}); }), "did you mean 'mnist'?");
  EXPECT_MENTIONS(complaint([] { availability("digit", {}); }), "digits");
  EXPECT_MENTIONS(complaint([] { prepare("x", {}); }), "unknown dataset 'x'");
}

TEST(Datasets, AbsentFilesSayWhatGoesWhere) {
  const Scratch scratch;
  const Folders folders{scratch.path(), scratch.path()};
  for (const auto* name : {"mnist", "fashion-mnist", "cifar10", "newsgroups"}) {
    EXPECT_MENTIONS(complaint([&] { prepare(name, folders); }), scratch.path().string());
    EXPECT_MENTIONS(complaint([&] { load(name, folders); }), scratch.path().string());
  }
  EXPECT_EQ(prepare("digits", folders), "nothing to get: drawn on the spot") << "whoever asks says of what";
}

TEST(Datasets, CheckCountsWhatIsThere) {
  const Summary summary = check("digits", {});
  EXPECT_EQ(summary.train, 12000);
  EXPECT_EQ(summary.test, 2000);
  EXPECT_EQ(summary.classes, 10);
  EXPECT_EQ(summary.class_names.size(), 10u);
  EXPECT_EQ(std::accumulate(summary.train_balance.begin(), summary.train_balance.end(), std::int64_t{0}),
            12000);
  EXPECT_EQ(text(summary.kind), "image");
}

TEST(Datasets, FoldersComeFromTheEnvironment) {
  const Setting data("TANDEM_DATA", "/somewhere");
  const Setting home("HOME", "/home/x");
  {
    const Setting cache("TANDEM_CACHE", "/elsewhere");
    EXPECT_EQ(folders_from_environment().cache, "/elsewhere");
  }
  const Setting unset("TANDEM_CACHE", "");
  EXPECT_EQ(folders_from_environment().data, "/somewhere");
  EXPECT_EQ(folders_from_environment().cache, "/home/x/.cache/tandem");
}

TEST(RealData, Mnist) {
  NEEDS("mnist");
  const Summary summary = check("mnist", real_folders());
  EXPECT_EQ(summary.shape, (std::vector<std::int64_t>{1, 28, 28}));
  EXPECT_EQ(summary.train, 60000);
  EXPECT_EQ(summary.test, 10000);
  EXPECT_EQ(summary.train_balance[1], 6742);
}

TEST(RealData, Cifar10) {
  NEEDS("cifar10");
  const Summary summary = check("cifar10", real_folders());
  EXPECT_EQ(summary.shape, (std::vector<std::int64_t>{3, 32, 32}));
  EXPECT_GE(summary.train, 10000);
  for (auto count : summary.train_balance) EXPECT_EQ(count, summary.train / 10);
}

TEST(RealData, Debian) {
  if (find_debian_lists().lists.empty()) GTEST_SKIP() << "no apt lists on this machine; run apt-get update";
  const Dataset dataset = load("debian", {});
  EXPECT_GE(dataset.classes, 2);
  EXPECT_LE(dataset.words.size(), 20000u);
  for (auto token : dataset.train.tokens) ASSERT_LT(token, static_cast<std::int64_t>(dataset.words.size()));
}

}  // namespace
}  // namespace tandem::data
