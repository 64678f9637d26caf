#include "search/recorded.h"

#include <bit>
#include <nlohmann/json.hpp>

namespace tandem::search {

std::optional<Ask> Recorded::ask() {
  auto next = searcher_->ask();
  if (next) history_.push_back({Word::What::asked, *next});
  return next;
}

void Recorded::asked(const Ask& ask) {
  history_.push_back({Word::What::asked, ask});
  searcher_->asked(ask);
}

Verdict Recorded::tell(TrialId trial, std::int64_t epoch, const Losses& losses) {
  const Verdict verdict = searcher_->tell(trial, epoch, losses);
  history_.push_back({Word::What::told, Ask{.trial = trial}, epoch, losses, verdict});
  return verdict;
}

void Recorded::told(TrialId trial, std::int64_t epoch, const Losses& losses, Verdict verdict) {
  history_.push_back({Word::What::told, Ask{.trial = trial}, epoch, losses, verdict});
  searcher_->told(trial, epoch, losses, verdict);
}

void Recorded::left(TrialId trial) {
  note(Word::What::left, trial);
  searcher_->left(trial);
}

void Recorded::ended(TrialId trial) {
  note(Word::What::ended, trial);
  searcher_->ended(trial);
}

std::vector<TrialId> Recorded::dropped() {
  auto out = searcher_->dropped();
  if (!out.empty()) note(Word::What::dropped, out.front());  // each is named once
  return out;
}

nlohmann::json to_json(const Ask& ask) {
  nlohmann::json out{ask.trial, tandem::to_json(ask.point), ask.until, ask.bracket, ask.rung};
  if (ask.clone_from) out.push_back(*ask.clone_from);
  return out;
}

Ask ask_from_json(const nlohmann::json& from) {
  Ask ask{from.at(0), values_from_json(from.at(1)), from.at(2), from.at(3), from.at(4), {}};
  if (from.size() > 5) ask.clone_from = from.at(5).get<TrialId>();
  return ask;
}

// Losses by their bits: JSON has no infinity.
nlohmann::json Recorded::history() const {
  auto out = nlohmann::json::array();
  for (const auto& word : history_) {
    auto row = nlohmann::json::array({static_cast<int>(word.what)});
    row.push_back(word.what == Word::What::asked ? to_json(word.ask) : nlohmann::json(word.ask.trial));
    if (word.what == Word::What::told) {
      row.push_back(word.epoch);
      row.push_back(static_cast<int>(word.verdict));
      for (const double loss : word.losses) row.push_back(std::bit_cast<std::uint64_t>(loss));
    }
    out.push_back(std::move(row));
  }
  return out;
}

void Recorded::restore(const nlohmann::json& history) {
  for (const auto& row : history) switch (static_cast<Word::What>(row.at(0).get<int>())) {
      case Word::What::asked:
        asked(ask_from_json(row.at(1)));
        break;
      case Word::What::told: {
        Losses losses;
        for (std::size_t i = 4; i < row.size(); ++i)
          losses.push_back(std::bit_cast<double>(row.at(i).get<std::uint64_t>()));
        told(row.at(1), row.at(2), losses, static_cast<Verdict>(row.at(3).get<int>()));
        break;
      }
      case Word::What::left:
        left(row.at(1));
        break;
      case Word::What::ended:
        ended(row.at(1));
        break;
      case Word::What::dropped:
        dropped();
        break;
    }
}

}  // namespace tandem::search
