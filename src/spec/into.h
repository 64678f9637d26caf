// For the tables of fields: how a value goes into a member of the job or of a part of it, and the names of a
// catalogue's entries.
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
inline void assign(std::uint64_t& to, const Found& found) {
  to = static_cast<std::uint64_t>(std::get<std::int64_t>(found));  // every one in the table is at least 0
}
inline void assign(bool& to, const Found& found) {
  to = std::get<bool>(found);
}
inline void assign(double& to, const Found& found) {
  const auto* bytes = std::get_if<std::int64_t>(&found);
  to = bytes != nullptr ? static_cast<double>(*bytes) : std::get<double>(found);
}
template <class Unit>
void assign(Quantity<Unit>& to, const Found& found) {
  to.value = std::get<double>(found);
}
inline void assign(Precision& to, const Found& found) {
  to = precision_from(std::get<std::string>(found)).value_or(Precision::own);  // the table lists its choices
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

inline void assign(std::vector<Precision>& to, const Found& found) {
  assign(to.emplace_back(), found);
}

// What a function that picks a member takes: PartOf<T& (P&)> is P.
template <class Function>
struct PartOf : PartOf<decltype(&Function::operator())> {};
template <class Function, class Member, class Part>
struct PartOf<Member& (Function::*)(Part&) const> {
  using type = Part;
};

template <class Part>
Part& part(const Target& target) {
  return *std::any_cast<Part*>(target);
}

// Stores into the member that `member` picks.
template <class Member>
Store into(Member member) {
  using Part = typename PartOf<Member>::type;
  return [member](const Target& target, const Found& found) { assign(member(part<Part>(target)), found); };
}

// Rows inside store into the member that `member` picks.
template <class Member>
Enter inside(Member member) {
  using Part = typename PartOf<Member>::type;
  return [member](const Target& target, const std::string&, std::size_t) -> Target {
    return &member(part<Part>(target));
  };
}

// Rows inside store into one more item of the list that `list` picks.
template <class List>
Enter one_more(List list) {
  using Part = typename PartOf<List>::type;
  return [list](const Target& target, const std::string&, std::size_t) -> Target {
    return &list(part<Part>(target)).emplace_back();
  };
}

// The same for a named map; the item keeps its name in `name`.
template <class Item, class List>
Enter one_more_named(std::string Item::*name, List list) {
  using Part = typename PartOf<List>::type;
  return [name, list](const Target& target, const std::string& written, std::size_t) -> Target {
    Item& item = list(part<Part>(target)).emplace_back();
    item.*name = written;
    return &item;
  };
}

// What names of the user's own look like, everywhere.
inline constexpr const char* kName = "^[A-Za-z0-9_][A-Za-z0-9._-]*$";
inline constexpr const char* kNameShape = "letters, digits, . _ and -, beginning with a letter, a digit or _";
inline constexpr std::size_t kLongestName = 64;

template <class Entry>
std::vector<std::string> names(const std::vector<Entry>& entries) {
  std::vector<std::string> out;
  for (const auto& entry : entries) out.push_back(entry.name);
  return out;
}

}  // namespace tandem::spec
