// For the tables of fields: how a value goes into a member of the job, and the names of a catalogue's
// entries.
#pragma once

#include "spec/field.h"

namespace tandem::spec {

inline void assign(std::string& to, const Found& found) {
  to = std::get<std::string>(found);
}
inline void assign(std::vector<std::string>& to, const Found& found) {
  to = std::get<std::vector<std::string>>(found);
}
inline void assign(std::int64_t& to, const Found& found) {
  to = std::get<std::int64_t>(found);
}
inline void assign(int& to, const Found& found) {
  to = static_cast<int>(std::get<std::int64_t>(found));  // every int in the table has a range that fits
}
inline void assign(double& to, const Found& found) {
  to = std::get<double>(found);
}
template <class Unit>
void assign(Quantity<Unit>& to, const Found& found) {
  to.value = std::get<double>(found);
}
inline void assign(std::optional<std::int64_t>& to, const Found& found) {
  to = std::get<std::int64_t>(found);
}
inline void assign(std::optional<double>& to, const Found& found) {
  to = std::get<double>(found);
}
template <class Unit>
void assign(std::optional<Quantity<Unit>>& to, const Found& found) {
  to = Quantity<Unit>{std::get<double>(found)};
}

// Of values that come one by one.
inline void assign(std::vector<int>& to, const Found& found) {
  to.push_back(static_cast<int>(std::get<std::int64_t>(found)));
}
inline void assign(std::vector<std::int64_t>& to, const Found& found) {
  to.push_back(std::get<std::int64_t>(found));
}
inline void assign(std::vector<double>& to, const Found& found) {
  to.push_back(std::get<double>(found));
}

// Stores into the member that `member` picks.
template <class Member>
Store into(Member member) {
  return [member](TuneJob& job, const Found& found) { assign(member(job), found); };
}

template <class Entry>
std::vector<std::string> names(const std::vector<Entry>& entries) {
  std::vector<std::string> out;
  for (const auto& entry : entries) out.push_back(entry.name);
  return out;
}

}  // namespace tandem::spec
