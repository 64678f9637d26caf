#define USE_C10D_GLOO  // as Debian's libtorch was built
#include <fmt/format.h>
#include <torch/types.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <chrono>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "trainer/gang.h"

namespace tandem::trainer {
namespace {

// A process may wait for as long as its task is held; that it is gone shows in its connection, not in time.
constexpr std::chrono::hours kPatience{20 * 24};  // poll counts milliseconds in an int
constexpr std::chrono::minutes kToMeet{5};
constexpr int kMostRanks = 65536;

// gloo's exceptions end here.
template <class Work>
auto with_gloo_errors(const char* what, const Work& work) {
  try {
    return work();
  } catch (const c10::Error& error) {
    throw SystemError(fmt::format("{}: {}", what, error.what_without_backtrace()));
  } catch (const std::exception& error) {
    throw SystemError(fmt::format("{}: {}", what, error.what()));
  }
}

class GlooGang final : public Gang {
 public:
  GlooGang(int rank, int size, const std::string& master, int port) : rank_(rank), size_(size) {
    with_gloo_errors("meeting the other processes of the gang", [&] {
      c10d::TCPStoreOptions meeting;
      meeting.port = static_cast<std::uint16_t>(port);
      meeting.isServer = rank == 0;
      meeting.numWorkers = static_cast<std::size_t>(size);
      meeting.timeout = kToMeet;
      store_ = c10::make_intrusive<c10d::TCPStore>(master, meeting);
      auto options = c10d::ProcessGroupGloo::Options::create();
      options->timeout = kPatience;
      options->devices.push_back(c10d::ProcessGroupGloo::createDefaultDevice());
      group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(store_, rank, size, options);
      return 0;
    });
  }

  std::int64_t rank() const override { return rank_; }
  std::int64_t size() const override { return size_; }

  void add_up(std::span<float> numbers) override {
    sum(torch::from_blob(numbers.data(), {static_cast<std::int64_t>(numbers.size())}, torch::kFloat32));
  }
  double add_up(double number) override {
    const torch::Tensor one = torch::full({1}, number, torch::kFloat64);
    sum(one);
    return one.item<double>();
  }

  std::string from_first(std::string bytes) override {
    torch::Tensor length = torch::full({1}, static_cast<std::int64_t>(bytes.size()), torch::kInt64);
    broadcast(length);
    bytes.resize(static_cast<std::size_t>(length.item<std::int64_t>()));
    if (!bytes.empty())
      broadcast(torch::from_blob(bytes.data(), {static_cast<std::int64_t>(bytes.size())}, torch::kUInt8));
    return bytes;
  }

 private:
  static constexpr const char* kLost = "another process of the gang is gone";

  void sum(torch::Tensor tensor) {
    std::vector<torch::Tensor> tensors{std::move(tensor)};
    with_gloo_errors(kLost, [&] { return group_->allreduce(tensors)->wait(); });
  }
  void broadcast(torch::Tensor tensor) {
    std::vector<torch::Tensor> tensors{std::move(tensor)};
    with_gloo_errors(kLost, [&] { return group_->broadcast(tensors)->wait(); });
  }

  int rank_, size_;
  c10::intrusive_ptr<c10d::Store> store_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
};

int number_in(const char* name, int least, int most) {
  const char* text = std::getenv(name);
  char* end = nullptr;
  const long number = text ? std::strtol(text, &end, 10) : -1;
  if (!text || end == text || *end != '\0' || number < least || number > most)
    throw UserError(
        fmt::format("{} is '{}'; a number from {} to {} is wanted", name, text ? text : "", least, most));
  return static_cast<int>(number);
}

}  // namespace

std::unique_ptr<Gang> gang_of_environment() {
  if (!std::getenv("TANDEM_WORLD_SIZE")) return nullptr;
  const int size = number_in("TANDEM_WORLD_SIZE", 1, kMostRanks);
  if (size == 1) return nullptr;
  const int rank = number_in("TANDEM_RANK", 0, size - 1);
  const char* master = std::getenv("MASTER_ADDR");
  if (!master) throw UserError("MASTER_ADDR is not set: where is rank 0?");
  return std::make_unique<GlooGang>(rank, size, master, number_in("MASTER_PORT", 1, 65535));
}

}  // namespace tandem::trainer
