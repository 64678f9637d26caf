// The real program: started, spoken to over a socket as Tandem does, killed, starved of disk.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "protocol/message.h"
#include "trainer/checkpoint.h"
#include "trainer/export.h"
#include "trainer/testing.h"

namespace tandem::trainer {
namespace {

namespace fs = std::filesystem;

void write_idx(const fs::path& path, std::vector<std::uint32_t> sizes,
               const std::vector<std::uint8_t>& bytes) {
  std::ofstream file(path, std::ios::binary);
  const auto number = [&](std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) file.put(static_cast<char>(value >> shift));
  };
  number(0x0800 + static_cast<std::uint32_t>(sizes.size()));
  for (const std::uint32_t size : sizes) number(size);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// A tiny mnist, so that an epoch takes milliseconds.
void write_mnist(const fs::path& folder) {
  fs::create_directories(folder);
  for (const auto& [stem, count, seed] : {std::tuple("train", 64U, 1U), std::tuple("t10k", 16U, 2U)}) {
    const data::Part part = bright_images(count, 28, 10, seed);
    std::vector<std::uint8_t> pixels, labels(part.labels.begin(), part.labels.end());
    for (const float value : part.values) pixels.push_back(static_cast<std::uint8_t>(value * 255));
    write_idx(folder / (std::string(stem) + "-images-idx3-ubyte"), {count, 28, 28}, pixels);
    write_idx(folder / (std::string(stem) + "-labels-idx1-ubyte"), {count}, labels);
  }
}

std::string text_of(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// A started program and Tandem's end of its socket.
class Program {
 public:
  Program(const std::vector<std::string>& arguments, const fs::path& folder, const fs::path& log, bool inside,
          rlim_t largest_file = RLIM_INFINITY) {
    int ends[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("socketpair");
    std::vector<char*> words{const_cast<char*>(TANDEM_TRAINER)};
    for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    const std::string socket = std::to_string(ends[1]), data = (folder.parent_path() / "data").string();
    pid_ = fork();
    if (pid_ == 0) {
      fcntl(ends[1], F_SETFD, 0);
      const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
      dup2(output, 1);
      dup2(output, 2);
      setenv("TANDEM_DATA", data.c_str(), 1);
      if (getenv("OMP_DISPLAY_ENV"))
        unsetenv("OMP_NUM_THREADS");  // it shall show what it counted
      else
        setenv("OMP_NUM_THREADS", "1", 1);
      if (inside) {
        setenv("TANDEM_SOCKET", socket.c_str(), 1);
        setenv("TANDEM_FOLDER", folder.c_str(), 1);
      }
      const rlimit limit{largest_file, RLIM_INFINITY};
      setrlimit(RLIMIT_FSIZE, &limit);
      execv(TANDEM_TRAINER, words.data());
      _exit(127);
    }
    close(ends[1]);
    socket_ = ends[0];
  }
  ~Program() {
    hang_up();
    if (pid_ > 0) kill();
  }

  pid_t pid() const { return pid_; }
  void hang_up() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }
  void kill() {
    ::kill(pid_, SIGKILL);
    wait();
  }
  int wait() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  bool ready() const { return ready_; }
  // The next message that is not Ready, or nullopt when the program is gone or `deadline_ms` passed.
  std::optional<protocol::FromProgram> receive(int deadline_ms = 120000) {
    while (true) {
      if (auto line = reader_.next()) {
        auto message = protocol::parse_from_program(*line);
        if (!std::holds_alternative<protocol::Ready>(message)) return message;
        ready_ = true;
        continue;
      }
      pollfd one{socket_, POLLIN, 0};
      if (poll(&one, 1, deadline_ms) <= 0) return std::nullopt;
      char bytes[4096];
      const ssize_t count = read(socket_, bytes, sizeof bytes);
      if (count <= 0) return std::nullopt;
      reader_.feed({bytes, static_cast<std::size_t>(count)});
    }
  }
  void send(const protocol::FromTandem& message) {
    const std::string line = protocol::line(message);
    (void)!::send(socket_, line.data(), line.size(), MSG_NOSIGNAL);
  }

 private:
  pid_t pid_ = -1;
  int socket_ = -1;
  bool ready_ = false;
  protocol::LineReader reader_;
};

constexpr std::int64_t kEpochs = 6;
const std::vector<std::string> kTrain{"train", "--model", "lenet5", "--dataset", "mnist"};

struct Fixture : testing::Test {
  Fixture() {
    write_mnist(home.path() / "data" / "mnist");
    fs::create_directories(task);
  }

  protocol::Begin begin(std::int64_t reported) const {
    protocol::Begin begin;
    begin.epochs = kEpochs;
    begin.reported = reported;
    begin.folder = task.string();
    begin.hyper = {{"batch_size", std::int64_t{16}}, {"dropout", 0.3}};
    return begin;
  }

  // Plays Tandem for one attempt; `counted` holds the metrics of the epochs counted so far. The program is
  // killed after so many reports, the last of them unanswered (-1: never); true when it ended by itself,
  // well.
  bool attempt(std::vector<Metrics>& counted, int kill_after_reports) {
    Program program(kTrain, task, log, true);
    const auto hello = program.receive();
    if (!hello) return false;
    const auto& said = std::get<protocol::Hello>(*hello);
    EXPECT_GE(said.durable_epoch.value_or(-1), static_cast<std::int64_t>(counted.size()));
    program.send(begin(static_cast<std::int64_t>(counted.size())));
    for (int reports = 0; reports != kill_after_reports; ++reports) {
      const auto message = program.receive();
      if (!message) return program.wait() == 0;
      const auto& epoch = std::get<protocol::Epoch>(*message);
      EXPECT_EQ(epoch.number, static_cast<std::int64_t>(counted.size()) + 1);
      counted.push_back(epoch.metrics);
      if (reports + 1 != kill_after_reports) program.send(protocol::Answer{});
    }
    program.kill();
    return false;
  }

  TemporaryFolder home;
  fs::path task = home.path() / "task", log = home.path() / "log";
};
using TrainerProgram = Fixture;

Metrics without_times(Metrics metrics) {
  std::erase_if(metrics, [](const auto& metric) {
    return metric.first.starts_with("seconds_") || metric.first.ends_with("_per_second");
  });
  return metrics;
}

// One process, or several that train together: rank 0 has the folder.
struct Ranks {
  std::vector<pid_t> pids;
  ~Ranks() {
    for (const pid_t pid : pids) {
      ::kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }
  // Their exit statuses; 128 and a signal.
  std::vector<int> wait() {
    std::vector<int> out;
    for (const pid_t pid : std::exchange(pids, {})) {
      int status = 0;
      while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
      out.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    }
    return out;
  }
};

int free_port() {
  const int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  const bool found = bind(one, reinterpret_cast<sockaddr*>(&at), size) == 0 &&
                     getsockname(one, reinterpret_cast<sockaddr*>(&at), &size) == 0;
  close(one);
  return found ? ntohs(at.sin_port) : 0;
}

void train_together(Ranks& ranks, int size, const fs::path& data, const fs::path& folder, const fs::path& log,
                    int epochs) {
  const std::string port = std::to_string(free_port()), all = std::to_string(size);
  for (int rank = 0; rank < size; ++rank) {
    const pid_t pid = fork();
    if (pid == 0) {
      const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
      dup2(output, 1);
      dup2(output, 2);
      setenv("TANDEM_DATA", data.c_str(), 1);
      setenv("OMP_NUM_THREADS", "1", 1);
      unsetenv("TANDEM_SOCKET");
      if (size > 1) {
        setenv("TANDEM_RANK", std::to_string(rank).c_str(), 1);
        setenv("TANDEM_WORLD_SIZE", all.c_str(), 1);
        setenv("MASTER_ADDR", "127.0.0.1", 1);
        setenv("MASTER_PORT", port.c_str(), 1);
      }
      const std::string own = folder.string(), long_enough = std::to_string(epochs);
      execl(TANDEM_TRAINER, TANDEM_TRAINER, "train", "--model", "lenet5", "--dataset", "mnist", "--folder",
            own.c_str(), "--epochs", long_enough.c_str(), "--hyper", "batch_size=24", "--hyper", "dropout=0",
            "--hyper", "optimizer=sgd", nullptr);
      _exit(127);
    }
    ranks.pids.push_back(pid);
  }
}

std::vector<float> weights_in(const fs::path& folder) {
  const auto found = newest_checkpoint(folder, [](const std::string&) {});
  if (!found) return {};
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, found->state.data(), sizeof bytes);
  std::vector<float> weights(bytes / sizeof(float));
  std::memcpy(weights.data(), found->state.data() + sizeof bytes, bytes);
  return weights;
}

// Batches of 24 of 64 samples: two full ones, and a short last one. Plain gradient steps: Adam divides by the
// gradient's size, which makes rounding errors of nearly zero gradients as large as a step.
TEST_F(TrainerProgram, TwoOrThreeProcessesLearnWhatOneDoes) {
  std::map<int, std::vector<float>> weights;
  std::map<int, Metrics> metrics;
  for (const int size : {1, 2, 3}) {
    const fs::path own = home.path() / ("of-" + std::to_string(size));
    Ranks ranks;
    train_together(ranks, size, home.path() / "data", own, log, 3);
    ASSERT_EQ(ranks.wait(), std::vector<int>(static_cast<std::size_t>(size), 0)) << text_of(log);
    weights[size] = weights_in(own);
    metrics[size] = newest_checkpoint(own, [](const std::string&) {})->history.back();
  }
  ASSERT_FALSE(weights[1].empty());
  for (const int size : {2, 3}) {
    ASSERT_EQ(weights[size].size(), weights[1].size());
    double apart = 0;
    for (std::size_t i = 0; i < weights[1].size(); ++i)
      apart = std::max<double>(apart, std::abs(weights[size][i] - weights[1][i]));
    EXPECT_LT(apart, 1e-4) << size << " processes";
    EXPECT_NEAR(metrics[size]["train_loss"], metrics[1]["train_loss"], 1e-4) << size << " processes";
  }
}

TEST_F(TrainerProgram, AGangGoesOnFromRankZerosCheckpoint) {
  const fs::path whole = home.path() / "whole", pieces = home.path() / "pieces";
  for (const auto& [folder, epochs] : {std::pair(whole, 4), std::pair(pieces, 2), std::pair(pieces, 4)}) {
    Ranks ranks;
    train_together(ranks, 2, home.path() / "data", folder, log, epochs);
    ASSERT_EQ(ranks.wait(), (std::vector<int>{0, 0})) << text_of(log);
  }
  EXPECT_EQ(weights_in(whole), weights_in(pieces));
}

TEST_F(TrainerProgram, WhenOneOfAGangIsKilledTheOthersEndBadly) {
  Ranks ranks;
  train_together(ranks, 2, home.path() / "data", home.path() / "gang", log, 1000000);
  const auto learns = [&] {
    return newest_checkpoint(home.path() / "gang", [](const std::string&) {}).has_value();
  };
  for (int tries = 0; tries < 6000 && !learns(); ++tries) usleep(20'000);
  ASSERT_TRUE(learns()) << text_of(log);
  ::kill(ranks.pids[1], SIGKILL);
  EXPECT_EQ(ranks.wait(), (std::vector<int>{1, 128 + SIGKILL})) << text_of(log);
  EXPECT_NE(text_of(log).find("another process of the gang is gone"), std::string::npos) << text_of(log);
}

TEST_F(TrainerProgram, KilledAndResumedEndsWithTheSameWeightsAndMetrics) {
  std::vector<Metrics> whole, pieces;
  ASSERT_TRUE(attempt(whole, -1)) << text_of(log);
  ASSERT_EQ(static_cast<std::int64_t>(whole.size()), kEpochs);
  const ModelCard expected = read_card(task);
  fs::remove_all(task);
  fs::create_directories(task);
  // Before its first report, after one, after two more; then to the end.
  EXPECT_FALSE(attempt(pieces, 0));
  EXPECT_FALSE(attempt(pieces, 1));
  EXPECT_FALSE(attempt(pieces, 2));
  ASSERT_TRUE(attempt(pieces, -1)) << text_of(log);
  const ModelCard resumed = read_card(task);
  EXPECT_EQ(resumed.digest, expected.digest);
  ASSERT_EQ(pieces.size(), whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(without_times(pieces[i]), without_times(whole[i]));
}

// Started on one core, it may be given more: OpenMP must have counted them, and the program must not use them
// yet.
TEST_F(TrainerProgram, OpenMpCountsAllCpusButOnlyTheGivenOnesAreUsed) {
  cpu_set_t mine, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
  std::string all;
  int count = 0, first = -1;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &mine)) {
      if (first < 0) first = cpu;
      all += fmt::format("{}{}", count++ > 0 ? "," : "", cpu);
    }
  if (count < 2) GTEST_SKIP() << "one CPU only";
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  setenv("TANDEM_CPUS", all.c_str(), 1);
  setenv("OMP_DISPLAY_ENV", "true", 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  Program program(kTrain, task, log, true);
  sched_setaffinity(0, sizeof mine, &mine);
  unsetenv("TANDEM_CPUS");
  unsetenv("OMP_DISPLAY_ENV");
  ASSERT_TRUE(program.receive()) << text_of(log);  // its hello: libraries are loaded
  cpu_set_t theirs;
  ASSERT_EQ(sched_getaffinity(program.pid(), sizeof theirs, &theirs), 0);
  EXPECT_TRUE(CPU_EQUAL(&theirs, &one));
  EXPECT_NE(text_of(log).find(fmt::format("OMP_NUM_THREADS = '{}'", count)), std::string::npos)
      << text_of(log);
}

TEST_F(TrainerProgram, ATornCheckpointCostsAnEpochButNothingElse) {
  std::vector<Metrics> whole, pieces;
  ASSERT_TRUE(attempt(whole, -1)) << text_of(log);
  const std::string expected = read_card(task).digest;
  fs::remove_all(task);
  EXPECT_FALSE(attempt(pieces, 3));
  fs::resize_file(task / "checkpoint-00000003.tck", 100);
  {
    Program program(kTrain, task, log, true);
    EXPECT_EQ(std::get<protocol::Hello>(*program.receive()).durable_epoch, 2);
    program.send(begin(3));
    for (std::int64_t epoch = 4; epoch <= kEpochs; ++epoch) {
      const auto message = program.receive();
      ASSERT_TRUE(message) << text_of(log);
      EXPECT_EQ(std::get<protocol::Epoch>(*message).number, epoch);
      program.send(protocol::Answer{});
    }
    EXPECT_EQ(program.wait(), 0);
  }
  EXPECT_EQ(read_card(task).digest, expected);
  const std::string said = text_of(log);
  EXPECT_NE(said.find("checkpoint-00000003.tck is skipped"), std::string::npos) << said;
  EXPECT_NE(said.find("training epochs 3 to 3 again"), std::string::npos) << said;
}

TEST_F(TrainerProgram, EndsByItselfWhenTandemIsGone) {
  Program program(kTrain, task, log, true);
  ASSERT_TRUE(program.receive());
  protocol::Begin forever = begin(0);
  forever.epochs = 1000000;
  program.send(forever);
  ASSERT_TRUE(program.receive());
  program.hang_up();  // in the middle of a report; it would train for hours otherwise
  EXPECT_EQ(program.wait(), 1);
  EXPECT_NE(text_of(log).find("Tandem is gone"), std::string::npos) << text_of(log);
}

TEST_F(TrainerProgram, StopsWhenToldAndLeavesTheModel) {
  Program program(kTrain, task, log, true);
  ASSERT_TRUE(program.receive());
  program.send(begin(0));
  ASSERT_TRUE(program.receive());
  EXPECT_TRUE(program.ready()) << "it says when its start-up is over";
  program.send(protocol::Answer{true, false, std::nullopt});
  EXPECT_EQ(program.wait(), 0) << text_of(log);
  EXPECT_TRUE(fs::exists(task / "model.json"));
}

TEST_F(TrainerProgram, AFullDiskIsSaid) {
  Program program(
      {"train", "--model", "lenet5", "--dataset", "mnist", "--epochs", "2", "--folder", task.string()}, task,
      log, false, 1 << 16);
  EXPECT_EQ(program.wait(), 1);
  EXPECT_NE(text_of(log).find("File too large"), std::string::npos) << text_of(log);
  EXPECT_TRUE(fs::is_empty(task));
}

TEST_F(TrainerProgram, WorksAloneAndCanBeAsked) {
  const std::string folder = task.string();
  Program train({"train", "--model", "lenet5", "--dataset", "mnist", "--epochs", "2", "--folder", folder},
                task, log, false);
  ASSERT_EQ(train.wait(), 0) << text_of(log);
  const std::string images = (home.path() / "data" / "mnist" / "t10k-images-idx3-ubyte").string();
  Program predict({"predict", "--folder", folder, images}, task, log, false);
  ASSERT_EQ(predict.wait(), 0) << text_of(log);
  const std::string predicted = text_of(log);
  EXPECT_EQ(std::count(predicted.begin(), predicted.end(), '\n'), 16);
  Program infer({"infer", "--folder", folder, "--requests", "20", "--batch", "4"}, task, log, false);
  ASSERT_EQ(infer.wait(), 0) << text_of(log);
  for (const char* name : {"requests 20", "requests_per_second", "latency_p50", "latency_p99"})
    EXPECT_NE(text_of(log).find(name), std::string::npos) << text_of(log);
}

TEST_F(TrainerProgram, WhatAPersonCanFixExitsWithTwo) {
  const std::vector<std::vector<std::string>> wrong{
      {"train", "--model", "lenet6", "--dataset", "mnist"},
      {"train", "--model", "lenet5", "--dataset", "mnist", "--hyper", "batch_size=0"},
      {"train", "--model", "lenet5", "--dataset", "nothing", "--folder", task.string()},
      {"predict", "--folder", task.string(), "absent"},
      {"infer", "--folder", (home.path() / "absent").string()},
      {"dance"}};
  for (const auto& arguments : wrong) {
    Program program(arguments, task, log, false);
    EXPECT_EQ(program.wait(), 2) << text_of(log);
    EXPECT_FALSE(text_of(log).empty());
  }
}

TEST_F(TrainerProgram, PythonRunsTheExportedModel) {
  if (std::system("/usr/bin/python3 -c 'import torch' 2>/dev/null") != 0)
    GTEST_SKIP() << "python3-torch is not there";
  Program train(
      {"train", "--model", "lenet5", "--dataset", "mnist", "--epochs", "1", "--folder", task.string()}, task,
      log, false);
  ASSERT_EQ(train.wait(), 0) << text_of(log);
  const std::string script = "import torch; m = torch.jit.load('" + (task / "model.pt").string() +
                             "'); assert m(torch.rand(3, 1, 28, 28)).shape == (3, 10)";
  EXPECT_EQ(std::system(("/usr/bin/python3 -c \"" + script + "\"").c_str()), 0);
}

}  // namespace
}  // namespace tandem::trainer
