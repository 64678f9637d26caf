#include "report/page.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "report/html.h"
#include "report/parts.h"
#include "report/testing.h"

namespace tandem::report {

using namespace app;
namespace {

using sample::MadeRun;

// Why the page is not well formed, or "": every element that opens closes, in order, and no attribute or text
// runs away.
std::string malformed(const std::string& page) {
  const std::set<std::string> empty{"meta", "br", "!doctype"};
  std::vector<std::string> open;
  for (std::size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at)) {
    std::size_t end = at + 1;
    bool quoted = false;
    while (end < page.size() && (quoted || page[end] != '>')) {
      if (page[end] == '"') quoted = !quoted;
      if (page[end] == '<') return "'<' inside a tag near " + page.substr(at, 80);
      ++end;
    }
    if (end >= page.size()) return "a tag without end near " + page.substr(at, 80);
    const std::string inside = page.substr(at + 1, end - at - 1);
    std::string name = inside.substr(0, inside.find_first_of(" \n/", 1));
    for (char& c : name) c = static_cast<char>(std::tolower(c));
    at = end + 1;
    if (inside.front() == '/') {
      if (open.empty() || "/" + open.back() != inside)
        return "</" + inside.substr(1) + "> closes " + (open.empty() ? "nothing" : open.back());
      open.pop_back();
    } else if (inside.back() != '/' && !empty.contains(name)) {
      open.push_back(name);
      if (name == "script" || name == "style") at = page.find("</" + name + ">", at);
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> is never closed";
}

int count(const std::string& page, const std::string& what) {
  int times = 0;
  for (std::size_t at = page.find(what); at != std::string::npos; at = page.find(what, at + 1)) ++times;
  return times;
}

bool has(const std::string& page, const std::string& what) {
  return page.find(what) != std::string::npos;
}

std::string page_of(const MadeRun& run) {
  return report_page(sample::made_info(run.name), sample::made_view(run));
}

void expect_sound(const std::string& page) {
  EXPECT_EQ(malformed(page), "");
  EXPECT_TRUE(has(page, "<meta name=\"viewport\""));
  EXPECT_TRUE(has(page, "prefers-color-scheme:dark"));
  // Nothing is fetched from anywhere.
  for (const char* outside : {"http:", "https:", "src=", "@import", "<link", "url(//", "fetch(", "XMLHttp"})
    EXPECT_FALSE(has(page, outside)) << outside;
  for (const char* broken : {"nan", "-nan", "inf\"", "\"inf"})
    EXPECT_FALSE(has(page, broken)) << broken << " near "
                                    << page.substr(
                                           page.find(broken) - std::min<std::size_t>(page.find(broken), 100),
                                           200);
}

TEST(Malformed, SeesWhatIsBroken) {
  EXPECT_EQ(malformed("<!DOCTYPE html><p class=\"a>b\">x<br></p><path d=\"M\"/>"), "");
  EXPECT_NE(malformed("<p><b></p></b>"), "");
  EXPECT_NE(malformed("<p>"), "");
  EXPECT_NE(malformed("<p title=\"x></p>"), "");
  EXPECT_NE(malformed("</p>"), "");
}

TEST(ReportPage, OfATuningRunHasEverySection) {
  const std::string page = page_of({.trials = 18, .failing = {4, 11}});
  expect_sound(page);
  for (const char* id : {"result", "convergence", "importance", "parameters", "cores", "speed", "clusters",
                         "counters", "trials", "failures"}) {
    EXPECT_EQ(count(page, std::string("<section id=\"") + id + "\""), 1) << id;
    EXPECT_TRUE(has(page, std::string("href=\"#") + id + "\"")) << id;
  }
  EXPECT_FALSE(has(page, "id=\"front\""));  // one goal has no front
  EXPECT_FALSE(has(page, "class=\"none\"")) << page.substr(page.find("class=\"none\""), 200);
}

TEST(ReportPage, SaysWhatTheRunCameTo) {
  const auto view = sample::made_view({.trials = 18, .failing = {4}});
  const Tuned run(view);
  const auto& best = run.found.trials[*run.found.best];
  const std::string page = report_page(sample::made_info(), view);
  EXPECT_TRUE(has(page, "Best accuracy"));
  EXPECT_TRUE(has(page, ">" + number_text(best.goals.front()) + "<"));
  EXPECT_TRUE(has(
      page, "<dt>learning_rate</dt><dd>" + number_text(std::get<double>(best.hyper.at("learning_rate")))));
  EXPECT_TRUE(has(page, "<dt>cores</dt><dd>" + std::to_string(run.found.best_system.cores)));
  EXPECT_TRUE(has(page, escape(run.found.system_confidence)));
  EXPECT_TRUE(has(page, text(run.found.tuning)));
  EXPECT_TRUE(has(page, ">1 failed<"));
  EXPECT_EQ(count(page, "<tr class=\"chosen\"><td class=\"n\" data-v=\"" + std::to_string(best.task) + "\">"),
            1);
  EXPECT_EQ(
      count(page, "<td>pruned</td>") + count(page, "<td>finished</td>") + count(page, "<td>failed</td>"),
      18);
}

TEST(ReportPage, NeverShowsAnEstimateAsMeasuredOrSilenceAsZero) {
  std::string page = page_of({});
  EXPECT_TRUE(has(page, "<small>estimated</small>"));
  EXPECT_TRUE(has(page, "model (idle 8 W, busy 30 W)"));
  EXPECT_FALSE(has(page, "<small>measured</small>"));
  page = page_of({.energy = "rapl"});
  EXPECT_TRUE(has(page, "<small>measured</small>"));
  EXPECT_FALSE(has(page, "<small>estimated</small>"));
  page = page_of({.energy = ""});
  EXPECT_TRUE(has(page, "Energy is unknown"));
  EXPECT_FALSE(has(page, "0 J"));
  EXPECT_FALSE(has(page, "joules an epoch"));
}

TEST(ReportPage, EverythingFromOutsideIsEscaped) {
  const std::string evil = "<script>alert('1')</script>\"&";
  auto view = sample::made_view({.trials = 8, .failing = {2}});
  auto& job = view.jobs.front();
  auto& tune = std::get<spec::TuneJob>(job.spec);
  tune.objective.goals = {{evil, true}, {"accuracy", true}};
  tune.base.program.model = tune.base.program.dataset = evil;
  tune.search.algorithm = evil;
  view.nodes.front().name = view.nodes.front().type = evil;
  for (auto& task : view.tasks) {
    task.trial->point[evil] = evil;
    task.release_reason = evil;
    for (auto& record : task.epochs) {
      record.metrics[evil] = record.metrics["accuracy"];
      record.profile.rates[evil] = 5 + record.seconds.value;
      record.energy = Energy{Joules{1}, evil};
      task.energy_source = evil;
    }
    if (task.last_failure) task.last_failure->detail = task.last_failure->last_output = evil;
  }
  auto info = sample::made_info(evil);
  info.id = info.state = info.reason = evil;
  const std::string page = report_page(info, view);
  EXPECT_EQ(malformed(page), "");
  EXPECT_EQ(count(page, "<script"), 1);  // ours
  EXPECT_FALSE(has(page, "alert('1')"));
  EXPECT_GT(count(page, "&lt;script&gt;"), 20);

  job.spec = spec::TrainJob(job.base());  // and the page of a training run
  spec::base_of(job.spec).hyper[evil] = evil;
  const std::string train = report_page(info, view);
  EXPECT_EQ(malformed(train), "");
  EXPECT_EQ(count(train, "<script"), 1);
  EXPECT_FALSE(has(train, "alert('1')"));
}

TEST(ReportPage, WithoutTrialsSaysSo) {
  const std::string page = page_of({.trials = 0});
  expect_sound(page);
  EXPECT_TRUE(has(page, "No trial was started."));
  EXPECT_GE(count(page, "class=\"none\""), 8);
}

TEST(ReportPage, OfOneTrial) {
  const std::string page = page_of({.trials = 1});
  expect_sound(page);
  EXPECT_TRUE(has(page, "Best accuracy"));
  EXPECT_TRUE(has(page, "1 trial reported accuracy; from 6 on"));
}

TEST(ReportPage, OfOneEpoch) {
  const std::string page = page_of({.trials = 1, .epochs = 1});
  expect_sound(page);
  EXPECT_TRUE(has(page, "nothing to compare it with"));
}

TEST(ReportPage, OfFailedTrialsOnly) {
  const std::string page = page_of({.trials = 3, .failing = {0, 1, 2}});
  expect_sound(page);
  EXPECT_TRUE(has(page, "there is no best one"));
  EXPECT_TRUE(has(page, "killed at its memory limit of 2 GiB"));
  EXPECT_TRUE(has(page, "RuntimeError: &lt;b&gt;out of memory&lt;/b&gt;"));
}

TEST(ReportPage, OfAThousandTrialsStaysSmall) {
  std::vector<int> failing;
  for (int i = 0; i < 1000; i += 9) failing.push_back(i);
  const std::string page = page_of({.trials = 1000, .cores = 16, .epochs = 27, .failing = failing});
  expect_sound(page);
  EXPECT_LT(page.size(), 3'000'000U);
  EXPECT_TRUE(has(page, "more failed"));
  EXPECT_TRUE(has(page, "over 500 of 888 trials"));
}

TEST(ReportPage, OfLongTrialsStaysSmall) {
  const std::string page = page_of({.trials = 40, .cores = 4, .epochs = 2000});
  expect_sound(page);
  EXPECT_LT(page.size(), 3'000'000U);
}

TEST(ReportPage, OfACostShowsEnergyAgainstTimeAndTheFrontOfBoth) {
  auto view = sample::made_view({.trials = 40, .goals = {{"accuracy", true}, {"cost", false}}});
  std::get<spec::TuneJob>(view.jobs.front().spec).objective.cost = spec::CostWeights{0.25, 0.75};
  view.nodes.front().traits.busy = Watts{30};
  std::string page = report_page(sample::made_info(), view);
  EXPECT_EQ(malformed(page), "");
  EXPECT_TRUE(has(page, "<section id=\"front\""));
  EXPECT_EQ(count(page, "aria-label=\"accuracy against cost\""), 1);
  EXPECT_TRUE(has(page, "cost (J)"));
  EXPECT_TRUE(has(page, "<section id=\"energy-time\""));
  EXPECT_TRUE(has(page, "time of an epoch (s)") && has(page, "energy of an epoch (J)"));
  EXPECT_TRUE(has(page, "0.25 energy + 0.75 time at 30 W (the machine&#39;s greatest draw)"));
  view.nodes.front().traits.busy.reset();
  view.jobs.front().most_power = Watts{23};
  page = report_page(sample::made_info(), view);
  EXPECT_TRUE(has(page, "at 23 W (the greatest mean power of an epoch of this job)"));
  page = report_page(sample::made_info(), sample::made_view());
  EXPECT_FALSE(has(page, "id=\"energy-time\"")) << "energy is no goal there";
  view = sample::made_view({.goals = {{"accuracy", true}, {"energy", false}}, .energy = ""});
  EXPECT_TRUE(has(report_page(sample::made_info(), view), "No trial has a result"));
}

TEST(ReportPage, OfSeveralGoalsShowsTheFront) {
  for (const std::vector<spec::Goal>& goals :
       {std::vector<spec::Goal>{{"accuracy", true}, {"train_time", false}},
        std::vector<spec::Goal>{{"accuracy", true}, {"train_time", false}, {"energy", false}}}) {
    const std::string page = page_of({.trials = 14, .goals = goals});
    expect_sound(page);
    EXPECT_TRUE(has(page, "<section id=\"front\""));
    EXPECT_TRUE(has(page, "train_time (s)"));
    EXPECT_EQ(count(page, "aria-label=\"accuracy against train_time\""), 1);
    EXPECT_EQ(count(page, "aria-label=\"accuracy against energy\""), goals.size() == 3 ? 1 : 0);
  }
}

TEST(ReportPage, OfAGoalNobodyReports) {
  const std::string page = page_of({.goals = {{"bleu", true}}});
  expect_sound(page);
  EXPECT_TRUE(has(page, "No trial reported bleu"));
}

TEST(ReportPage, ProfilesThatWereNotTakenAreNotInvented) {
  auto view = sample::made_view();
  for (auto& task : view.tasks)
    for (auto& record : task.epochs) record.profile.rates.clear();
  const std::string page = report_page(sample::made_info(), view);
  expect_sound(page);
  EXPECT_TRUE(has(page, "nothing was counted"));
  EXPECT_TRUE(has(page, "0 profiles in one configuration"));
}

TEST(ReportPage, WorkloadClassesOfEarlierRunsAreShownBesideTheTrials) {
  auto view = sample::made_view();
  Random random(1);
  view.known.push_back({view.nodes.front().type, 64, {1, 0, 1}, sample::made_profile(64, random), {}, {}});
  view.known.push_back({"another machine", 64, {1, 0, 1}, sample::made_profile(64, random), {}, {}});
  const std::string page = report_page(sample::made_info(), view);
  expect_sound(page);
  EXPECT_TRUE(has(page, "and 1 workload class of earlier runs"));
  EXPECT_EQ(count(page, "class=\"dot c7 ring\""), 1);  // the other machine's is not comparable
}

TEST(ReportPage, OfARunThatIsStillGoingOn) {
  auto view = sample::made_view();
  view.jobs.front().state = JobState::running;
  view.jobs.front().finished_at = {};
  view.tasks[1].state = TaskState::running;
  expect_sound(report_page(sample::made_info(), view));
}

TEST(ReportPage, IsTheSameEveryTime) {
  EXPECT_EQ(page_of({.trials = 20}), page_of({.trials = 20}));
}

TEST(ReportPage, OfATrainingRunIsSmaller) {
  auto view = sample::made_view({.trials = 1});
  spec::TrainJob train;
  train.hyper = {{"batch_size", std::int64_t{64}}};
  view.jobs.front().spec = train;
  auto info = sample::made_info("lenet-digits");
  info.kind = "train";
  const std::string page = report_page(info, view);
  expect_sound(page);
  for (const char* id : {"result", "metrics", "costs", "counters", "epochs"})
    EXPECT_EQ(count(page, std::string("<section id=\"") + id + "\""), 1) << id;
  EXPECT_FALSE(has(page, "id=\"trials\""));
  EXPECT_TRUE(has(page, "aria-label=\"accuracy by epoch\""));
  EXPECT_TRUE(has(page, "aria-label=\"loss by epoch\""));
  EXPECT_TRUE(has(page, "Energy is estimated: model"));
  EXPECT_FALSE(has(page, "class=\"none\""));
}

TEST(ReportPage, OfATrainingRunThatNeverGotAnywhere) {
  View view;
  expect_sound(report_page(sample::made_info(), view));
  view.jobs.emplace_back();
  std::string page = report_page(sample::made_info(), view);
  expect_sound(page);
  EXPECT_TRUE(has(page, "No epoch has ended."));
  view.tasks.emplace_back();
  view.tasks.front().last_failure = TaskFailed{0, 1, Failure::could_not_start, "no such program", "", {}};
  page = report_page(sample::made_info(), view);
  expect_sound(page);
  EXPECT_TRUE(has(page, "no such program"));
}

}  // namespace
}  // namespace tandem::report
