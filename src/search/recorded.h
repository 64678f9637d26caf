// A searcher that remembers what it was asked and told, in order: the same told to a fresh one makes its equal.
// So any search can be kept and taken up again, whatever its algorithm knows. One owner; pure.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "search/searcher.h"

namespace tandem::search {

class Recorded final : public Searcher {
 public:
  explicit Recorded(std::unique_ptr<Searcher> searcher) : searcher_(std::move(searcher)) {}

  std::optional<Ask> ask() override;
  void asked(const Ask&) override;
  Verdict tell(TrialId, std::int64_t epoch, const Losses&) override;
  void told(TrialId, std::int64_t epoch, const Losses&, Verdict) override;
  void left(TrialId) override;
  void ended(TrialId) override;
  std::vector<TrialId> dropped() override;
  bool finished() const override { return searcher_->finished(); }
  std::int64_t expected_trials() const override { return searcher_->expected_trials(); }
  std::int64_t expected_epochs() const override { return searcher_->expected_epochs(); }

  nlohmann::json history() const;
  void restore(const nlohmann::json& history);  // of a fresh one. JSON's exceptions where it is none

 private:
  struct Word {
    enum class What { asked, told, left, ended, dropped } what = What::asked;
    Ask ask{};  // of the others its trial alone
    std::int64_t epoch = 0;
    Losses losses{};
    Verdict verdict = Verdict::go_on;
  };
  void note(Word::What what, TrialId trial) { history_.push_back({what, Ask{.trial = trial}}); }

  std::unique_ptr<Searcher> searcher_;
  std::vector<Word> history_;
};

nlohmann::json to_json(const Ask&);
Ask ask_from_json(const nlohmann::json&);

}  // namespace tandem::search
