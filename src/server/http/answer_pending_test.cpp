// Handlers on the owner's thread (`wake`): how `tandem serve` uses the server.
#include <gtest/gtest.h>

#include <condition_variable>
#include <future>

#include "server/http/server_testing.h"

namespace tandem::server {
namespace {

// The owner's thread of a server with `wake`: it sleeps until there is something to answer.
class Owner {
 public:
  std::function<void()> wake() {
    return [this] {
      const std::lock_guard lock(mutex_);
      ++woken_;
      changed_.notify_all();
    };
  }
  // How often it was woken so far, all together.
  int woken() {
    const std::lock_guard lock(mutex_);
    return woken_;
  }
  bool wait_for(int questions) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::duration<double>(kPatience),
                             [&] { return woken_ >= questions; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int woken_ = 0;
};

std::future<Answer> later(const Address& address, const std::string& target) {
  return std::async(std::launch::async, [=] { return HttpClient(address).get(target); });
}

TEST(AnswerPending, ReadersAnswerWhileTheOwnerIsBusyAndChangesWaitForIt) {
  Owner owner;
  Rig rig({}, [&](ServerOptions& options, Router& routes) {
    options.wake = owner.wake();
    options.readers = 2;
    routes.add("GET", "/v1/read", Need::nothing,
               [](const Request&) { return json_response({{"read", true}}); });
    routes.add("GET", "/v1/changed", Need::change, [](const Request&) {
      return json_response({{"done", 1}});
    });
  });
  for (int i = 0; i < 20; ++i)  // nobody calls answer_pending()
    EXPECT_EQ(HttpClient(i % 2 ? rig.tcp() : rig.socket()).get("/v1/read").body, "{\"read\":true}\n");
  EXPECT_EQ(owner.woken(), 0);
  auto change = later(rig.socket(), "/v1/changed");
  ASSERT_TRUE(owner.wait_for(1));
  rig.server->answer_pending();
  EXPECT_EQ(change.get().body, "{\"done\":1}\n");
}

// What a loop of long answers is told, and somebody else meanwhile.
std::vector<int> greedy(bool budgets) {
  Owner owner;
  Limits limits;
  limits.budgets = budgets;
  Rig rig(limits, [&](ServerOptions& options, Router&) {
    options.wake = owner.wake();
    options.readers = 2;
  });
  std::vector<int> seen;
  for (int i = 0; i < 20 && (seen.empty() || seen.back() == 200); ++i)
    seen.push_back(HttpClient(rig.tcp()).get("/v1/long").status);
  if (seen.back() == 429) {
    RawClient raw = rig.raw();
    raw.send("GET /v1/ping HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    const auto told = raw.read_to_end();
    EXPECT_EQ(status_of(told), 429) << "whatever it asks";
    EXPECT_NE(told.find("Retry-After: "), std::string::npos) << told;
  }
  EXPECT_EQ(HttpClient(rig.socket()).get("/v1/ping").status, 200) << "another client is not refused";
  return seen;
}

TEST(AnswerPending, WhoAsksTooMuchIsToldToWaitAndOthersAreNot) {
  const auto seen = greedy(true);
  EXPECT_EQ(seen.back(), 429);
  EXPECT_GT(seen.size(), 2U) << "a few are always answered";
  EXPECT_EQ(greedy(false).back(), 200);
}

TEST(AnswerPending, WhatIsPreparedIsPreparedBesideTheOwnerAndARefusalNeverReachesIt) {
  Owner owner;
  const auto here = std::this_thread::get_id();
  Rig rig({}, [&](ServerOptions& options, Router& routes) {
    options.wake = owner.wake();
    options.readers = 1;
    routes.add(
        "GET", "/v1/prepared/{what}", Need::change,
        [](const Request& request) { return json_response(request.prepared); },
        [here](const Request& request) -> nlohmann::json {
          if (request.parameters.at("what") == "bad") throw Refusal(422, "no");
          return {{"beside", std::this_thread::get_id() != here}};
        });
  });
  EXPECT_EQ(HttpClient(rig.socket()).get("/v1/prepared/bad").status, 422) << "nobody calls answer_pending()";
  EXPECT_EQ(owner.woken(), 0);
  auto good = later(rig.socket(), "/v1/prepared/good");
  ASSERT_TRUE(owner.wait_for(1));
  rig.server->answer_pending();
  EXPECT_EQ(good.get().body, "{\"beside\":true}\n");
}

TEST(AnswerPending, TheOwnersThreadAnswers) {
  Owner owner;
  const auto here = std::this_thread::get_id();
  Rig rig({}, [&](ServerOptions& options, Router& routes) {
    options.wake = owner.wake();
    routes.add("GET", "/v1/thread", Need::nothing, [here](const Request&) {
      return json_response({{"owner", std::this_thread::get_id() == here}});
    });
  });
  auto first = later(rig.tcp(), "/v1/thread");
  auto second = later(rig.socket(), "/v1/thread");
  ASSERT_TRUE(owner.wait_for(2));
  rig.server->answer_pending();
  EXPECT_EQ(first.get().body, "{\"owner\":true}\n");
  EXPECT_EQ(second.get().body, "{\"owner\":true}\n");
  rig.server->answer_pending();  // nothing to do
}

TEST(AnswerPending, AQuestionTheOwnerNeverTakesUpIsNotDoneLater) {
  Owner owner;
  Limits limits;
  limits.handler_time = Seconds{0.1};
  Rig rig(limits, [&](ServerOptions& options, Router&) { options.wake = owner.wake(); });
  const auto answer = HttpClient(rig.socket()).ask("POST", "/v1/echo", "a");
  EXPECT_EQ(answer.status, 503);
  EXPECT_NE(error_text(answer).find("did nothing"), std::string::npos);
  rig.server->answer_pending();
  EXPECT_EQ(rig.changes, 0);
}

TEST(AnswerPending, AQuestionThatTakesTheOwnerTooLongIsAnsweredHonestly) {
  Owner owner;
  Limits limits;
  limits.handler_time = Seconds{1};  // time enough to take it up
  std::promise<void> answered;
  Rig rig(limits, [&](ServerOptions& options, Router& routes) {
    options.wake = owner.wake();
    routes.add("GET", "/v1/slow", Need::nothing, [&](const Request&) {
      answered.get_future().wait();
      return Response{};
    });
  });
  auto slow = std::async(std::launch::async, [&] {
    auto answer = HttpClient(rig.tcp()).get("/v1/slow");
    answered.set_value();
    return answer;
  });
  ASSERT_TRUE(owner.wait_for(1));
  rig.server->answer_pending();
  const auto answer = slow.get();
  EXPECT_EQ(answer.status, 503);
  EXPECT_NE(error_text(answer).find("still at it"), std::string::npos) << error_text(answer);
}

TEST(AnswerPending, StopAnswersWhatWaitsForTheOwner) {
  Owner owner;
  Rig rig({}, [&](ServerOptions& options, Router&) { options.wake = owner.wake(); });
  auto waiting = later(rig.tcp(), "/v1/ping");
  ASSERT_TRUE(owner.wait_for(1));
  rig.server->stop();
  EXPECT_EQ(waiting.get().status, 200);
}

TEST(AnswerPending, QuestionsAreAnsweredInTheirOrderAndSomeAtATime) {
  Owner owner;
  std::vector<std::string> order;  // of the owner's thread
  Rig rig({}, [&](ServerOptions& options, Router& routes) {
    options.wake = owner.wake();
    routes.add("GET", "/v1/order/{number}", Need::nothing, [&](const Request& request) {
      order.push_back(request.parameters.at("number"));
      return Response{};
    });
  });
  std::vector<RawClient> clients;
  std::vector<std::string> asked;
  for (int i = 0; i < 100; ++i) {
    clients.push_back(rig.raw());
    asked.push_back(std::to_string(i));
    clients.back().send("GET /v1/order/" + asked.back() + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ASSERT_TRUE(owner.wait_for(i + 1));
  }
  EXPECT_TRUE(order.empty()) << "only the owner runs handlers";
  rig.server->answer_pending();
  EXPECT_EQ(order.size(), 64u) << "then the owner has its own work to do";
  ASSERT_TRUE(owner.wait_for(101)) << "but is woken for the others";
  rig.server->answer_pending();
  EXPECT_EQ(order, asked);
  for (auto& client : clients) EXPECT_EQ(status_of(client.read_until("\r\n\r\n")), 200);
}

TEST(AnswerPending, AnOwnersLoopServesManyClients) {
  Owner owner;
  int handled = 0;  // no lock: handlers run one at a time
  Rig rig({}, [&](ServerOptions& options, Router& routes) {
    options.wake = owner.wake();
    routes.add("POST", "/v1/count", Need::change, [&](const Request& request) {
      ++handled;
      return Response{200, request.body, "text/plain"};
    });
  });
  std::atomic<int> good{0}, ended{0};
  std::vector<std::thread> askers;
  for (int who = 0; who < 4; ++who)
    askers.emplace_back([&, who, address = who % 2 ? rig.tcp() : rig.socket(), wake = owner.wake()] {
      HttpClient client(address);
      client.show_token(rig.token);
      for (int i = 0; i < 50; ++i) {
        const std::string body = std::to_string(who) + "-" + std::to_string(i);
        good += client.ask("POST", "/v1/count", body).body == body;
      }
      ++ended;
      wake();
    });
  for (int seen = 0; ended < 4 && owner.wait_for(seen + 1);) {
    seen = owner.woken();
    rig.server->answer_pending();
  }
  for (auto& asker : askers) asker.join();
  EXPECT_EQ(good, 200);
  EXPECT_EQ(handled, 200);
}

TEST(AnswerPending, WhoIsRefusedDoesNotDisturbTheOwner) {
  Owner owner;
  Rig rig({}, [&](ServerOptions& options, Router&) { options.wake = owner.wake(); });
  HttpClient client(rig.tcp());
  EXPECT_EQ(client.ask("POST", "/v1/echo", "no token").status, 401);
  EXPECT_EQ(client.get("/nothing").status, 404);
  EXPECT_EQ(client.get("/v1/jobs/$(reboot)").status, 400);
  RawClient garbage = rig.raw();
  garbage.send("garbage\r\n\r\n");
  EXPECT_EQ(status_of(garbage.read_to_end()), 400);
  EXPECT_EQ(owner.woken(), 0);
}

TEST(AnswerPending, WhoLeavesBeforeTheAnswerDoesNoHarm) {
  Owner owner;
  Rig rig({}, [&](ServerOptions& options, Router&) { options.wake = owner.wake(); });
  { rig.raw().send(rig.post("Content-Length: 2\r\n\r\nhi")); }
  ASSERT_TRUE(owner.wait_for(1));
  rig.server->answer_pending();
  EXPECT_EQ(rig.changes, 1) << "it had asked";
  EXPECT_TRUE(soon([&] { return rig.connected() == 0; }));
  auto next = later(rig.socket(), "/v1/ping");
  ASSERT_TRUE(owner.wait_for(2));
  rig.server->answer_pending();
  EXPECT_EQ(next.get().status, 200);
}

}  // namespace
}  // namespace tandem::server
