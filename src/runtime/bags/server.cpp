#include "runtime/bags/server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>

#include "base/error.h"
#include "base/text.h"
#include "data/files.h"
#include "place/dias/dias_job.h"
#include "platform/process.h"
#include "runtime/bags/buffers.h"
#include "runtime/bags/sprinter.h"

namespace tandem::bags {
namespace {

constexpr Seconds kSampleEvery{1};
constexpr TaskId kTask = 1;  // one job at a time: to the sensor it is always the same

// A job's process, ended with all it started when this goes.
class Running {
 public:
  Running(const BagStart& begun, const BagSetting& setting) : start(begun) {
    platform::Launch launch;
    launch.arguments = setting.command(start);
    launch.mark = fmt::format("tandem-bags-{}-{}-{}", ::getpid(), start.job, start.attempt);
    output_ = start.result.string() + ".log";
    const platform::Descriptor out(::open(output_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!out) throw_errno("opening " + output_.string());
    launch.output = out.get();
    child_ = platform::launch(launch);
    try {
      begin(setting, launch.arguments.at(0));
    } catch (...) {
      kill();
      throw;
    }
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    if (!reaped_) kill();
  }

  int ended() const { return child_.pidfd.get(); }  // readable once it has
  void kill() {
    ::kill(child_.pid, SIGKILL);
    reap();
  }
  void expect_success() {
    const int status = reap();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    const auto said = data::read_file(output_);
    throw SystemError(fmt::format("job {} (attempt {}) {} {}; it said: {}", start.job, start.attempt,
                                  WIFEXITED(status) ? "exited with" : "was ended by signal",
                                  WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
                                  printable(data::as_text(said), 300)));
  }

  const BagStart start;
  Seconds began{}, sprinted{};

 private:
  void begin(const BagSetting& setting, const std::string& program) {
    if (setting.speed) setting.speed->take(child_.pid);
    if (setting.sensor) setting.sensor->attach(kTask, child_.pid);
    if (const int error = platform::open_gate(child_); error != 0)
      throw SystemError("starting " + program, error);
  }
  int reap() {
    int status = 0;
    ::kill(-child_.pid,
           SIGKILL);  // what it started ends with it; until it is waited for, the group is its own
    while (::waitpid(child_.pid, &status, 0) < 0 && errno == EINTR) {
    }
    reaped_ = true;
    return status;
  }

  platform::Child child_;
  std::filesystem::path output_;
  bool reaped_ = false;
};

class Serving {
 public:
  Serving(const std::vector<BagArrival>& arrivals, const BagPolicy& policy, const BagSetting& setting)
      : arrivals_(arrivals),
        policy_(policy),
        setting_(setting),
        buffers_(policy.classes.size(), policy.discipline),
        sprinter_(place::SprintBudget(policy.limit, policy.extra)) {
    run_.ends.resize(arrivals.size());
    if (setting.sensor) run_.energy = Energy{};
  }

  BagRun run() {
    while (ended_ < arrivals_.size()) {
      admit();
      if (running_ && buffers_.evicts(running_->start.which)) evict();
      if (!running_ && !buffers_.empty()) start();
      if (running_) set_speed();
      wait();
    }
    return std::move(run_);
  }

 private:
  Seconds now() const {
    if (setting_.clock) return setting_.clock();
    return Seconds{std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count()};
  }

  void admit() {
    for (; arrived_ < arrivals_.size() && arrivals_[arrived_].at <= now(); ++arrived_) {
      buffers_.add(arrived_, arrivals_[arrived_].which);
      run_.ends[arrived_].which = arrivals_[arrived_].which;
      run_.ends[arrived_].arrived = arrivals_[arrived_].at;
    }
  }

  void start() {
    const std::size_t job = *buffers_.next();
    const std::size_t which = arrivals_[job].which;
    const BagClass& of = policy_.classes[which];
    auto tasks = place::kept_tasks(of.tasks, of.drop, setting_.seed + job);
    auto result = setting_.folder / fmt::format("job-{}", job);
    sprint(false);
    const Seconds began = now();  // starting a process is part of a job's time
    running_.emplace(BagStart{job, which, run_.ends[job].attempts++, std::move(tasks), std::move(result)},
                     setting_);
    running_->began = began;
    sprinter_.begin(running_->began, of.timeout);
  }

  void set_speed() { sprint(sprinter_.sprints(now())); }

  void sprint(bool on) {
    if (!setting_.speed) return;
    if (sprint_began_ && !on) {
      if (running_) running_->sprinted += now() - *sprint_began_;
      sprint_began_.reset();
    }
    if (!sprint_began_ && on) sprint_began_ = now();
    setting_.speed->sprint(on);
  }

  void measure() {
    if (!setting_.sensor) return;
    const auto energy = setting_.sensor->read(kTask).energy;  // before it is waited for
    setting_.sensor->detach(kTask);
    if (!energy)
      run_.energy.reset();
    else if (run_.energy)
      run_.energy = Energy{run_.energy->joules + energy->joules, energy->source};
  }

  // What an attempt took, whatever became of it.
  void account() {
    sprint(false);
    run_.busy += now() - running_->began;
    run_.sprinted += running_->sprinted;
  }

  void evict() {
    account();
    run_.wasted += now() - running_->began;
    measure();
    running_->kill();
    buffers_.put_back(running_->start.job, running_->start.which);
    running_.reset();
  }

  void complete() {
    BagEnd& end = run_.ends[running_->start.job];
    end.ended = run_.took = now();
    account();
    measure();
    running_->expect_success();
    end.began = running_->began;
    end.sprinted = running_->sprinted;
    end.tasks_run = static_cast<int>(running_->start.tasks.size());
    end.result = running_->start.result;
    running_.reset();
    ++ended_;
  }

  Seconds next_wake() const {
    Seconds next = now() + kSampleEvery;
    if (arrived_ < arrivals_.size()) next = std::min(next, arrivals_[arrived_].at);
    if (const auto ask = sprinter_.ask_again(); running_ && ask) next = std::min(next, *ask);
    return next;
  }

  void wait() {
    const double seconds = std::max(0.0, (next_wake() - now()).value);
    timespec at_most{static_cast<time_t>(seconds), 0};
    at_most.tv_nsec = static_cast<long>((seconds - std::floor(seconds)) * 1e9);
    pollfd watched[] = {{running_ ? running_->ended() : -1, POLLIN, 0}, {setting_.stop, POLLIN, 0}};
    if (::ppoll(watched, 2, &at_most, nullptr) < 0 && errno != EINTR) throw_errno("waiting for a job");
    if (watched[1].revents != 0) throw UserError("stopped before all jobs had ended");
    if (watched[0].revents != 0) complete();
    if (setting_.sensor && now() - sampled_ >= kSampleEvery) {
      setting_.sensor->sample();
      sampled_ = now();
    }
  }

  const std::vector<BagArrival>& arrivals_;
  const BagPolicy& policy_;
  const BagSetting& setting_;
  Buffers buffers_;
  Sprinter sprinter_;
  BagRun run_;
  std::size_t arrived_ = 0, ended_ = 0;
  std::optional<Running> running_;
  std::optional<Seconds> sprint_began_;
  Seconds sampled_{};
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

void check(const std::vector<BagArrival>& arrivals, const BagPolicy& policy, const BagSetting& setting) {
  if (policy.discipline == stats::Discipline::preemptive_resume)
    throw UserError("a process that was killed cannot go on: evicting here means to restart");
  if (!setting.command) throw UserError("no command to run a job with");
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (arrivals[i].which >= policy.classes.size())
      throw UserError(
          fmt::format("job {} is of class {}, there are {}", i, arrivals[i].which, policy.classes.size()));
    if (i > 0 && arrivals[i].at < arrivals[i - 1].at)
      throw UserError(fmt::format("job {} arrives before the one before it", i));
  }
  for (const BagClass& of : policy.classes) {
    if (of.timeout && policy.discipline != stats::Discipline::non_preemptive)
      throw UserError("sprinting is for non-preemptive queues: leave the timeouts out");
    if (of.timeout && !(setting.speed && setting.speed->can_sprint()))
      throw UserError("nothing can sprint here: leave the timeouts out");
  }
}

}  // namespace

BagRun serve(const std::vector<BagArrival>& arrivals, const BagPolicy& policy, const BagSetting& setting) {
  check(arrivals, policy, setting);
  return Serving(arrivals, policy, setting).run();
}

}  // namespace tandem::bags
