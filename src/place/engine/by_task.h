// Values by the id of their task, some of which are there: made when they are first asked for, until they are
// forgotten.
//
// As fast as a vector and nearly as compact where ids are near each other, as those of tasks that matter now
// are; the memory of a page of ids is given back once all of them were forgotten. A value stays where it is.
#pragma once

#include <array>
#include <bitset>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tandem::place {

template <class T>
class ByTask {
 public:
  bool contains(std::uint32_t task) const {
    const std::size_t page = task / kPage;
    return page < pages_.size() && pages_[page] && pages_[page]->there[task % kPage];
  }
  const T& operator[](std::uint32_t task) const {
    assert(contains(task));
    return pages_[task / kPage]->values[task % kPage];
  }
  T& operator[](std::uint32_t task) {
    assert(contains(task));
    return pages_[task / kPage]->values[task % kPage];
  }
  T& make(std::uint32_t task) {  // or finds
    const std::size_t page = task / kPage;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (!pages_[page]) pages_[page] = std::make_unique<Page>(), ++in_use_;
    pages_[page]->there.set(task % kPage);
    return pages_[page]->values[task % kPage];
  }
  void forget(std::uint32_t task) {
    if (!contains(task)) return;
    auto& page = pages_[task / kPage];
    page->values[task % kPage] = {};
    page->there.reset(task % kPage);
    if (page->there.none()) page.reset(), --in_use_;
  }
  void clear() { pages_.clear(), in_use_ = 0; }
  std::size_t room() const { return in_use_ * kPage; }  // for so many values memory is kept

 private:
  static constexpr std::size_t kPage = 128;
  struct Page {
    std::bitset<kPage> there{};
    std::array<T, kPage> values{};
  };
  std::vector<std::unique_ptr<Page>> pages_;
  std::size_t in_use_ = 0;
};

}  // namespace tandem::place
