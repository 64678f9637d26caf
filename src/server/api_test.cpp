// The API through its routes, without sockets: a loop in a simulated world with a real store, and what is answered.
#include "server/api.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "app/catalogue.h"
#include "app/runs.h"
#include "base/error.h"
#include "platform/temporary.h"
#include "server/archive.h"
#include "server/http/metrics.h"
#include "server/read_api.h"
#include "server/submission_keys.h"
#include "sim/world/programs_declared.h"
#include "sim/world/world.h"

namespace tandem::server {
namespace {

using nlohmann::json;

constexpr const char* kServerSpec = R"({"kind":"serve","world":"sim","policy":"fifo","nodes":"","seed":1})";

std::string work(const std::string& name, double seconds = 5, int cores = 1) {
  return "kind: train\nname: " + name + "\nprogram: {command: [work], plain: true}\nsystem: {cores: " +
         std::to_string(cores) + "}\nplace: {takes: " + std::to_string(seconds) + "s}\n";
}

// A journal that fails when it is told to.
class Failing final : public control::Journal {
 public:
  explicit Failing(std::unique_ptr<control::Journal> journal) : journal_(std::move(journal)) {}
  void append(std::span<const control::Entry> entries) override {
    if (fails) throw SystemError("the disk fails");
    journal_->append(entries);
  }
  void replay(const std::function<void(control::Entry&&)>& each) override { journal_->replay(each); }
  bool fails = false;

 private:
  std::unique_ptr<control::Journal> journal_;
};

class ApiTest : public testing::Test {
 protected:
  ApiTest() {
    std::filesystem::create_directories(folder());
    open();
  }

  // As a server is started; again: as after a kill, with what is journalled.
  void open() {
    auto policies = app::policies_of(run_);
    scheduler_ = static_cast<const place::Scheduler*>(policies.back().get());
    loop_.emplace(control::Ports{world_, journal_}, std::move(policies));
    loop_->open();
    publish();
    router_ = {};
    add_changes(router_, {*loop_, store_, run_.id, "sim", world_.capabilities(), nullptr, catalogue_, log_,
                          [this] { publish(); }, stopping_});
    add_reads(router_, {published_, store_.folder(), run_, "sim", "fifo", folder(), metrics_, Seconds{1},
                        keeper_, stopping_});
  }

  // As a server would: a refusal is an answer.
  Response ask(const std::string& method, const std::string& written, const json& body = {},
               const std::string& key = "") {
    try {
      const auto target = parse_target(written);
      const auto match = router_.find(method, target);
      Request request;
      request.method = method;
      request.path = target.path();
      request.parameters = match.parameters;
      request.query = target.query;
      request.key = key;
      request.who = who_;
      request.body = body.is_null() ? "" : body.is_string() ? body.get<std::string>() : body.dump();
      if (match.route->prepare) request.prepared = match.route->prepare(request);
      return match.route->handler(request);
    } catch (const Refusal& refusal) {
      return error_response(refusal);
    } catch (const UserError& error) {
      return error_response(400, error.what());
    }
  }
  json get(const std::string& target, int status = 200) {
    const auto answer = ask("GET", target);
    EXPECT_EQ(answer.status, status) << target << ": " << answer.body;
    return json::parse(answer.body, nullptr, false);
  }
  json submit(const std::string& spec, int status = 201) {
    const auto answer = ask("POST", "/v1/jobs", {{"spec", spec}, {"folder", "/tmp"}});
    EXPECT_EQ(answer.status, status) << answer.body;
    return json::parse(answer.body);
  }
  Response submit_with(const std::string& key, const std::string& spec) {
    return ask("POST", "/v1/jobs", {{"spec", spec}, {"folder", "/tmp"}}, key);
  }
  // What was refused, in words.
  std::string refused(const std::string& method, const std::string& target, int status, const json& body = {}) {
    const auto answer = ask(method, target, body);
    EXPECT_EQ(answer.status, status) << answer.body;
    return json::parse(answer.body).value("error", "");
  }
  // Until no job runs.
  void run_all() {
    loop_->serve([this] {
      for (const auto& job : loop_->view().jobs)
        if (job.state == JobState::running) return true;
      return false;
    });
    publish();
  }
  void publish() {
    published_.publish(std::make_shared<Published>(
        Published{loop_->share(), std::make_shared<place::SchedulerKnowledge>(scheduler_->knowledge())}));
  }
  void archive_all() {
    Archivist archivist(store_, run_.id, Seconds{0});
    while (archivist.work(*loop_, published_.get()->scheduler)) continue;
    publish();
  }
  std::filesystem::path folder() const { return store_.run_folder(run_.id); }
  void print(TaskId task, const std::string& text) {
    const auto where = folder() / ("task-" + std::to_string(task));
    std::filesystem::create_directories(where);
    std::ofstream(where / "output.log") << text;
  }

  platform::TemporaryFolder folder_{"tandem-api"};
  store::Store store_{folder_.path() / "store"};
  store::RunInfo run_ = store_.create_run("serve", "main", kServerSpec, Seconds{1});
  Failing journal_{store_.journal(run_.id)};
  sim::DeclaredPrograms programs_{{{"node", 1}}};
  sim::World world_{{.nodes = {sim::NodeGroup{.name = "node",
                                              .capacity = {.cores = 2, .memory = kGiB, .speed = 1.0, .gpus = 1},
                                              .count = 2,
                                              .power = sim::PowerModel{Watts{5}, Watts{15}}}},
                     .open_ended = true},
                    programs_};
  const place::Scheduler* scheduler_ = nullptr;  // the loop's
  std::optional<control::Loop> loop_;
  Catalogue catalogue_ = app::catalogue();
  std::string logged_;
  Log log_{[this](std::string_view line) { logged_ += line; }};
  Metrics metrics_;
  Publisher published_;
  SnapshotKeeper keeper_{folder(), log_};
  std::atomic<bool> stopping_{false};
  Router router_;
  Identity who_{Role::operate, 0, "user 0"};
};

TEST_F(ApiTest, ASubmissionIsDurableBeforeItIsAnsweredAndCanBeRead) {
  const auto answer = ask("POST", "/v1/jobs", {{"spec", work("first")}, {"folder", "/tmp"}, {"file", "a.yaml"}});
  ASSERT_EQ(answer.status, 201) << answer.body;
  EXPECT_EQ(answer.headers.at("Location"), "/v1/jobs/0");
  const auto made = json::parse(answer.body);
  EXPECT_EQ(made["job"], 0);
  EXPECT_EQ(made["name"], "first");
  EXPECT_EQ(made["notes"], json::array());
  bool journalled = false;
  store_.journal(run_.id)->replay([&](control::Entry&& entry) {
    journalled |= std::holds_alternative<JobSubmitted>(entry.event.body);
  });
  EXPECT_TRUE(journalled);
  EXPECT_EQ(get("/v1/jobs/first")["spec"]["program"]["folder"], "/tmp");
  EXPECT_NE(logged_.find("job submitted"), std::string::npos);
}

TEST_F(ApiTest, ARepeatedSubmissionIsAnsweredWithItsJob) {
  EXPECT_EQ(submit_with("k-1", work("a")).status, 201);
  const auto again = submit_with("k-1", work("a"));
  EXPECT_EQ(again.status, 200) << again.body;
  EXPECT_EQ(again.headers.at("Location"), "/v1/jobs/0");
  EXPECT_EQ(json::parse(again.body)["repeated"], true);
  EXPECT_EQ(json::parse(again.body)["job"], 0);
  EXPECT_EQ(submit_with("k-1", work("b")).status, 409) << "the same key for something else";
  EXPECT_EQ(submit_with("k-2", work("a")).status, 201);
  EXPECT_EQ(submit_with("", work("a")).status, 201) << "without a key each is a job";
  who_ = {Role::submit, 1001, "user 1001"};
  EXPECT_EQ(submit_with("k-1", work("c")).status, 201) << "another user's key is another key";
  EXPECT_EQ(loop_->view().jobs.size(), 4U);
}

TEST_F(ApiTest, ARepeatedSubmissionIsKnownAfterARestartAndWhenItsJobIsArchived) {
  submit_with("k-1", work("a"));
  open();
  ASSERT_EQ(loop_->view().jobs.size(), 1U);
  EXPECT_EQ(submit_with("k-1", work("a")).status, 200);
  EXPECT_EQ(submit_with("k-1", work("b")).status, 409);
  run_all();
  archive_all();
  const auto archived = submit_with("k-1", work("a"));
  EXPECT_EQ(archived.status, 200) << archived.body;
  EXPECT_EQ(json::parse(archived.body)["state"], "finished");
  EXPECT_EQ(loop_->view().jobs.size(), 1U);
}

TEST_F(ApiTest, WhatCannotBeWrittenIsNotSaidToBeRefused) {
  journal_.fails = true;
  const auto answer = submit_with("k-1", work("a"));
  EXPECT_EQ(answer.status, 503) << answer.body;
  EXPECT_NE(answer.body.find("accepted, but not yet on disk"), std::string::npos) << answer.body;
  EXPECT_EQ(submit_with("k-1", work("a")).status, 503) << "it still is not";
  journal_.fails = false;
  const auto again = submit_with("k-1", work("a"));
  EXPECT_EQ(again.status, 200) << again.body;
  open();
  EXPECT_EQ(loop_->view().jobs.size(), 1U) << "now it is on disk";
  journal_.fails = true;
  EXPECT_NE(refused("DELETE", "/v1/jobs/a", 503).find("not yet on disk"), std::string::npos);
  journal_.fails = false;
  run_all();
  EXPECT_EQ(get("/v1/jobs/a")["state"], "stopped");
}

TEST_F(ApiTest, WhatCouldNotBeWrittenBeforeTheServerEndedNeverRuns) {
  journal_.fails = true;
  submit_with("k-1", work("a"));
  journal_.fails = false;
  open();
  EXPECT_EQ(loop_->view().jobs.size(), 0U);
  EXPECT_EQ(submit_with("k-1", work("a")).status, 201);
}

TEST(SubmissionKeys, AreKnownForADay) {
  SubmissionKeys keys{View{}};
  const auto a = submission_key("a", "spec", "/"), b = submission_key("b", "spec", "/");
  EXPECT_EQ(submission_key("", "spec", "/"), "");
  EXPECT_NE(a, submission_key("a", "spec/", "")) << "spec and folder are told apart";
  keys.add({}, a, 0, Seconds{0});
  keys.add({}, b, 1, Seconds{86400});
  EXPECT_EQ(keys.find({}, a), 0) << "a day, and not a second less";
  keys.add({}, "", 2, Seconds{86401});
  EXPECT_EQ(keys.find({}, a), std::nullopt);
  EXPECT_EQ(keys.find({}, b), 1);
  keys.add({}, a, 3, Seconds{86402});
  keys.add({}, b, 4, Seconds{86403});
  keys.add({}, "", 5, Seconds{3 * 86400.0 - 86398});
  EXPECT_EQ(keys.find({}, b), 4) << "used again, it is as old as its last use";
}

TEST_F(ApiTest, WhatIsNoSubmissionIsRefusedAndLeavesNothing) {
  EXPECT_NE(refused("POST", "/v1/jobs", 400, "[1]").find("an object"), std::string::npos);
  refused("POST", "/v1/jobs", 400, "{not json");
  EXPECT_NE(refused("POST", "/v1/jobs", 400, json::object()).find("needs \"spec\""), std::string::npos);
  EXPECT_NE(refused("POST", "/v1/jobs", 400, {{"spec", 7}}).find("'spec' must be a text"), std::string::npos);
  EXPECT_NE(refused("POST", "/v1/jobs", 400, {{"spec", work("a")}, {"colour", "red"}}).find("colour"),
            std::string::npos);
  EXPECT_NE(refused("POST", "/v1/jobs", 400, {{"spec", work("a")}, {"folder", "here"}}).find("absolute"),
            std::string::npos);
  refused("POST", "/v1/jobs", 400, {{"spec", work("a")}, {"folder", "/" + std::string(5000, 'x')}});
  const auto wrong = refused("POST", "/v1/jobs", 400, {{"spec", "kind: train\nprogramm: 1\n"}, {"file", "my.yaml"}});
  EXPECT_NE(wrong.find("my.yaml"), std::string::npos) << wrong;
  refused("POST", "/v1/jobs", 400, {{"spec", "kind: sim\nname: x\n"}});
  EXPECT_EQ(loop_->view().jobs.size(), 0U);
}

TEST_F(ApiTest, ATuningJobIsQueuedToo) {
  const auto made = submit("kind: tune\nname: search\nprogram: {command: [work]}\nsearch: {algorithm: random, trials: 2, "
                           "max_epochs: 2}\nhyper:\n  x: {range: [0, 1]}\n");
  EXPECT_EQ(made["kind"], "tune");
}

TEST_F(ApiTest, GpusThatCannotBeHadAreSaidBeforeTheJobIsThere) {
  auto with = [](const std::string& system) {
    return "kind: train\nname: g\nprogram: {command: [work], plain: true}\nsystem: {" + system + "}\n";
  };
  EXPECT_NE(submit(with("gpus: 1, gpu_memory: 1GiB"), 400)["error"].get<std::string>().find("whole GPUs"),
            std::string::npos);
  EXPECT_EQ(loop_->view().jobs.size(), 0U);
  const auto noted = submit(with("gpus: 1, gpu_power: 300W"));
  ASSERT_EQ(noted["notes"].size(), 1U) << noted;
  EXPECT_NE(noted["notes"][0].get<std::string>().find("in the world sim"), std::string::npos);
}

TEST_F(ApiTest, ADeadlineIsPredictedOrSaidToBeUnknown) {
  const auto made = submit("kind: train\nname: d\nprogram: {command: [work]}\nhyper: {epochs: 2}\nplace: {deadline: 1h}\n");
  ASSERT_FALSE(made["notes"].empty()) << made;
  EXPECT_TRUE(made["predicted"].is_null()) << "nothing is known of the program";
}

TEST_F(ApiTest, AJobIsCancelledOnce) {
  submit(work("a", 1000));
  submit(work("b"));
  const auto answer = ask("DELETE", "/v1/jobs/a");
  EXPECT_EQ(answer.status, 202) << answer.body;
  EXPECT_EQ(json::parse(answer.body)["state"], "stopping") << "its program has to end first";
  EXPECT_NE(refused("DELETE", "/v1/jobs/7", 404).find("no job 7"), std::string::npos);
  run_all();
  EXPECT_EQ(get("/v1/jobs/a")["state"], "stopped");
  EXPECT_NE(refused("DELETE", "/v1/jobs/0", 409).find("is over"), std::string::npos);
  archive_all();
  EXPECT_NE(refused("DELETE", "/v1/jobs/1", 409).find("archived"), std::string::npos);
}

TEST_F(ApiTest, JobsAreListedInPages) {
  for (int i = 0; i < 10; ++i) submit(work("job-" + std::to_string(i)));
  const auto numbers = [](const json& answer) {
    std::vector<int> out;
    for (const auto& job : answer["jobs"]) out.push_back(job["job"]);
    return out;
  };
  const auto newest = get("/v1/jobs?limit=3");
  EXPECT_EQ(numbers(newest), (std::vector{7, 8, 9}));
  EXPECT_EQ(newest["more"], true);
  EXPECT_EQ(newest["all"], 10);
  EXPECT_EQ(numbers(get("/v1/jobs?limit=3&before=7")), (std::vector{4, 5, 6}));
  EXPECT_EQ(numbers(get("/v1/jobs?limit=3&after=2")), (std::vector{3, 4, 5}));
  const auto last = get("/v1/jobs?after=7");
  EXPECT_EQ(numbers(last), (std::vector{8, 9}));
  EXPECT_EQ(last["more"], false);
  EXPECT_EQ(numbers(get("/v1/jobs?after=2&before=5")), (std::vector{3, 4}));
  EXPECT_EQ(get("/v1/jobs?state=finished")["jobs"].size(), 0U);
  EXPECT_EQ(get("/v1/jobs?state=open&last=100")["jobs"].size(), 10U);
  run_all();
  EXPECT_EQ(get("/v1/jobs?state=open")["jobs"].size(), 0U);
  EXPECT_EQ(get("/v1/jobs?state=finished")["jobs"].size(), 10U);
  EXPECT_NE(refused("GET", "/v1/jobs?colour=red", 400).find("colour"), std::string::npos);
  EXPECT_NE(refused("GET", "/v1/jobs?limit=many", 400).find("no number"), std::string::npos);
  EXPECT_NE(refused("GET", "/v1/jobs?limit=10001", 400).find("at most"), std::string::npos);
  refused("GET", "/v1/jobs?limit=-1", 400);
}

TEST_F(ApiTest, WhatAJobIsCameToAndWhyItIsWhereItIs) {
  for (int i = 0; i < 5; ++i) submit(work("job-" + std::to_string(i), 5, 2));
  publish();
  const auto waits = get("/v1/jobs/4/explain");
  EXPECT_FALSE(waits["explanation"].empty()) << waits;
  EXPECT_EQ(waits["state"], "queued");
  run_all();
  const auto job = get("/v1/jobs/job-2");
  EXPECT_EQ(job["state"], "finished");
  EXPECT_EQ(job["tasks"].size(), 1U);
  EXPECT_FALSE(get("/v1/jobs/2/explain")["explanation"].empty());
  EXPECT_EQ(get("/v1/jobs/2/result")["state"], "finished");
  EXPECT_EQ(get("/v1/jobs/2/trials")["trials"].size(), 1U);
  for (const char* part : {"", "/explain", "/output", "/result", "/trials", "/trials/0/log"})
    EXPECT_NE(refused("GET", std::string("/v1/jobs/nobody") + part, 404).find("nobody"), std::string::npos);
}

TEST_F(ApiTest, OutputIsTheTailOfARegularFileAndNothingElse) {
  submit(work("a"));
  run_all();
  EXPECT_EQ(ask("GET", "/v1/jobs/a/output").body, "") << "nothing was printed";
  print(0, "begin" + std::string(64 * 1024, 'x') + "end");
  const auto answer = ask("GET", "/v1/jobs/a/output");
  EXPECT_EQ(answer.content_type, "text/plain; charset=utf-8");
  EXPECT_EQ(answer.body.size(), 64U * 1024);
  EXPECT_TRUE(answer.body.ends_with("xend"));
  EXPECT_EQ(ask("GET", "/v1/jobs/a/trials/0/log").body, answer.body);
  EXPECT_NE(refused("GET", "/v1/jobs/a/trials/1/log", 404).find("no trial 1"), std::string::npos);
  refused("GET", "/v1/jobs/a/trials/x/log", 400);

  const auto file = folder() / "task-0/output.log";
  std::ofstream(folder_.path() / "secret") << "secret";
  std::filesystem::remove(file);
  std::filesystem::create_symlink(folder_.path() / "secret", file);
  EXPECT_NE(refused("GET", "/v1/jobs/a/output", 409).find("not a plain file"), std::string::npos) << "a link";
  std::filesystem::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_NE(refused("GET", "/v1/jobs/a/output", 409).find("not a plain file"), std::string::npos) << "a pipe";
}

TEST_F(ApiTest, AJobThatFitsNowhereIsRefusedAndLeavesNothing) {
  const auto why = submit(work("big", 5, 64), 400)["error"].get<std::string>();
  EXPECT_NE(why.find("64 cores"), std::string::npos) << why;
  EXPECT_EQ(loop_->view().jobs.size(), 0U);
}

TEST_F(ApiTest, ArchivedJobsAreReadAsTheyWere) {
  for (int i = 0; i < 6; ++i) submit(work("job-" + std::to_string(i)));
  run_all();
  auto before = get("/v1/jobs")["jobs"];
  for (auto& job : before) job["archived"] = true;
  auto whole = get("/v1/jobs/3");
  whole["archived"] = true;
  const auto result = get("/v1/jobs/3/result"), told = get("/v1/jobs/3/explain");
  print(3, "hello");
  archive_all();
  EXPECT_EQ(loop_->view().jobs.present(), 0U);
  EXPECT_EQ(get("/v1/jobs")["jobs"], before);
  EXPECT_EQ(get("/v1/jobs/3"), whole);
  EXPECT_EQ(get("/v1/jobs/job-3"), whole);
  EXPECT_EQ(get("/v1/jobs/3/result"), result);
  EXPECT_EQ(get("/v1/jobs/3/explain")["explanation"], told["explanation"]);
  EXPECT_EQ(ask("GET", "/v1/jobs/3/output").body, "hello");
  EXPECT_EQ(get("/v1/jobs?state=finished&limit=2&after=1")["jobs"].size(), 2U);
  EXPECT_EQ(get("/v1/jobs?state=running")["jobs"].size(), 0U);
  refused("GET", "/v1/jobs/6", 404);
  submit(work("job-3"));
  EXPECT_EQ(get("/v1/jobs/job-3")["job"], 6) << "of a name the newest is meant";
  const auto status = get("/v1/status");
  EXPECT_EQ(status["archived"], 6);
  EXPECT_EQ(status["jobs"]["finished"], 6);
}

const Identity kAna{Role::submit, 1001, "user 1001"}, kBen{Role::submit, 1002, "user 1002"};

TEST_F(ApiTest, OfANameOnesOwnJobIsMeantThoughAnothersIsNewerOrArchived) {
  who_ = kAna;
  submit(work("same", 5));
  who_ = kBen;
  submit(work("same", 5));
  const Identity operates_too{Role::operate, 1001, "token o"}, operates{Role::operate, 1003, "token p"};
  const auto expect_each_finds_own = [&] {
    for (const auto& [who, job] : {std::pair{kAna, 0}, {kBen, 1}, {operates_too, 0}, {operates, 1}}) {
      who_ = who;
      for (const char* what : {"", "/explain", "/result", "/trials"})
        EXPECT_EQ(ask("GET", std::string("/v1/jobs/same") + what).status, 200) << who.name << what;
      EXPECT_EQ(get("/v1/jobs/same")["job"], job) << who.name;
    }
    for (const Identity& stranger : {Identity{Role::submit, 1004, "user 1004"}, Identity{Role::view, {}, "token v"}}) {
      who_ = stranger;
      EXPECT_EQ(ask("GET", "/v1/jobs/same").status, 404);
    }
  };
  expect_each_finds_own();
  run_all();
  archive_all();
  expect_each_finds_own();
  who_ = kAna;
  EXPECT_EQ(ask("GET", "/v1/jobs/1").status, 403);
  submit(work("same", 1000));
  who_ = kBen;
  submit(work("same", 1000));
  who_ = operates_too;
  EXPECT_EQ(json::parse(ask("DELETE", "/v1/jobs/same").body)["job"], 2) << "one's own, not the newest";
  EXPECT_EQ(loop_->view().jobs[3].state, JobState::running);
}

TEST_F(ApiTest, AJobLearnsFromItsOwnersJobsAlone) {
  const std::string machine = loop_->view().nodes.front().type;
  const auto other = store_.create_run("serve", "other", "{}", Seconds{1}).id;
  KnownWorkload known{machine, 32, {1, 0, 1.0}, {{"task-clock", 1e9}}, {}, {{{1, 0, 1.0}, 1.5, 12.0, 3}}};
  store_.journal(other)->append(std::vector<control::Entry>{
      {1, {Seconds{1}, JobSubmitted{0, spec::TrainJob{}, {1001, "ana"}}}, {}},
      {2, {Seconds{2}, Woke{0}}, {{1, Learn{0, known}}}}});
  const std::string search =
      "kind: tune\nname: search\nprogram: {command: [work]}\nsearch: {algorithm: random, trials: 2, max_epochs: 2}\n"
      "hyper:\n  x: {range: [0, 1]}\n";
  who_ = kBen;
  submit(search);
  EXPECT_TRUE(loop_->view().known.values().empty());
  who_ = kAna;
  submit(search);
  EXPECT_EQ(loop_->view().known.values().size(), 1U);
  // What a family's jobs took decides and explains where the next one goes.
  const auto of_family = [](const std::string& name) {
    return "kind: train\nname: " + name + "\nprogram: {command: [work], plain: true}\nsystem: {cores: 1}\nplace: {takes: 5s, family: resnet, work: 3}\n";
  };
  const auto family_of_last = [&] { return loop_->view().jobs.rbegin()->base().place.family; };
  submit(of_family("hers"));
  const auto hers = family_of_last();
  who_ = kBen;
  submit(of_family("his"));
  EXPECT_NE(family_of_last(), hers);
  who_ = {Role::operate, 0, "user 0"};
  submit(of_family("the-servers"));
  EXPECT_EQ(family_of_last(), "resnet") << "and so in old journals";
}

TEST_F(ApiTest, ANameMeansTheNewestOfOnesOwnWhateverOthersCallTheirs) {
  const Identity operates = who_, ana{Role::submit, 1001, "user 1001"}, ben{Role::submit, 1002, "user 1002"};
  who_ = ana;
  submit(work("mlp"));
  submit(work("mlp"));
  submit(work("long", 1e6));
  who_ = ben;
  submit(work("mlp"));
  submit(work("long"));
  loop_->serve([this] { return loop_->view().jobs[4].state == JobState::running; });
  archive_all();
  ASSERT_EQ(loop_->view().jobs.present(), 1U) << "all are archived but the one that runs";
  who_ = ana;
  EXPECT_EQ(get("/v1/jobs/mlp")["job"], 1);
  EXPECT_EQ(get("/v1/jobs/mlp/result")["name"], "mlp");
  EXPECT_EQ(get("/v1/jobs/long")["job"], 2) << "it runs";
  refused("GET", "/v1/jobs/3", 403);
  who_ = operates;
  EXPECT_EQ(get("/v1/jobs/mlp")["job"], 3) << "operators see all";
  EXPECT_EQ(get("/v1/jobs/long")["job"], 4);
  who_ = {Role::view, {}, "token prometheus"};
  refused("GET", "/v1/jobs/mlp", 404);
}

TEST_F(ApiTest, WhatIsAnothersIsSeenToBeThereAndNoMore) {
  who_ = {Role::submit, 1001, "user 1001"};
  submit(work("hers", 1000));
  who_ = {Role::submit, 1002, "user 1002"};
  const auto row = get("/v1/jobs")["jobs"].at(0);
  EXPECT_EQ(row["job"], 0);
  EXPECT_EQ(row.dump().find("hers"), std::string::npos) << row;
  for (const char* part : {"", "/explain", "/output", "/result", "/trials", "/trials/0/log"}) {
    EXPECT_NE(refused("GET", std::string("/v1/jobs/0") + part, 403).find("another user's"), std::string::npos) << part;
    refused("GET", std::string("/v1/jobs/hers") + part, 404);
  }
  refused("DELETE", "/v1/jobs/0", 403);
  refused("DELETE", "/v1/jobs/hers", 404);
  EXPECT_FALSE(loop_->view().jobs[0].cancelled);
  who_ = {Role::operate, {}, "token deploy"};
  EXPECT_NE(refused("POST", "/v1/jobs", 403, {{"spec", work("a")}}).find("is nobody's"), std::string::npos);
  EXPECT_EQ(ask("DELETE", "/v1/jobs/hers").status, 202) << "operators may";
}

TEST_F(ApiTest, NodesStatusAndMetricsSayTheSame) {
  submit(work("a", 1000, 2));
  submit(work("b", 1000, 1));
  publish();
  const auto nodes = get("/v1/nodes")["nodes"];
  ASSERT_EQ(nodes.size(), 2U);
  const auto status = get("/v1/status");
  EXPECT_EQ(status["run"], run_.id);
  EXPECT_EQ(status["policy"], "fifo");
  EXPECT_EQ(status["nodes"], 2);
  EXPECT_EQ(status["snapshot"]["events"], nullptr);
  int open = 0;
  for (const char* state : {"queued", "starting", "running"}) open += status["jobs"][state].get<int>();
  EXPECT_EQ(open, 2);
  const auto metrics = ask("GET", "/metrics");
  EXPECT_EQ(metrics.content_type, Metrics::kContentType);
  for (const char* line : {"tandem_cores 4\n", "tandem_nodes_up 2\n", "tandem_jobs{state=\"finished\"} 0\n"})
    EXPECT_NE(metrics.body.find(line), std::string::npos) << metrics.body;
}

}  // namespace
}  // namespace tandem::server
